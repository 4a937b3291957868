package transformers

import (
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/engine/pycall"
	"github.com/memwall/memwall/plan"
)

// IsCall reports whether a text is Python that loads a model.
func IsCall(text string) bool {
	return strings.Contains(text, ".from_pretrained(") || strings.Contains(text, "pipeline(")
}

// launch is a text on its way to a plan.
type launch struct {
	argv.Launch
	gpus              int64 // devices that max_memory names
	oneDevice, spread bool  // device_map names a device; tp_plan
}

// FromPython reads the call that loads a model, and the one that generates (transformers/modeling_utils.py,
// generation/configuration_utils.py). Keywords that it does not know are listed.
func FromPython(text string) (*argv.Launch, error) {
	calls, err := pycall.Calls(text)
	if err != nil {
		return nil, err
	}
	l := &launch{Launch: argv.Launch{Engine: "transformers"}}
	var inside []*pycall.Call // of assistant_model=
	for _, c := range calls {
		for i := range c.Args {
			if c.Args[i].Name == "assistant_model" && c.Args[i].Value.Call != nil {
				inside = append(inside, c.Args[i].Value.Call)
			}
		}
	}
	for _, c := range calls {
		switch {
		case slices.Contains(inside, c):
		case loads(c) && l.Model == "":
			err = l.load(c)
		case c.Func() == "generate", c.Func() == "GenerationConfig":
			err = l.keywords(c, generateKeys)
		case c.Func() == "enable_layerwise_casting": // of diffusers: stored in one format, computed in another
			err = l.keywords(c, castingKeys)
		}
		if err != nil {
			return nil, err
		}
	}
	if l.Model == "" {
		return nil, argv.Wrong("from_pretrained", "", "names no model", `AutoModelForCausalLM.from_pretrained("org/name", …)`)
	}
	l.finish(text)
	return &l.Launch, nil
}

// loads tells models from tokenizers, processors and configurations.
func loads(c *pycall.Call) bool {
	if c.Func() == "pipeline" {
		return true
	}
	class := strings.TrimSuffix(c.Name, ".from_pretrained")
	return class != c.Name && !strings.HasSuffix(class, "Tokenizer") && !strings.HasSuffix(class, "TokenizerFast") &&
		!strings.HasSuffix(class, "Processor") && !strings.HasSuffix(class, "Config") && !strings.HasSuffix(class, "FeatureExtractor")
}

// load reads the model's name and the keywords of its call. Of a pipeline the first word is the task.
func (l *launch) load(c *pycall.Call) error {
	ref := c.Positional(0)
	if c.Func() == "pipeline" {
		ref = c.Positional(1)
	}
	for i := range c.Args {
		if n := c.Args[i].Name; n == "model" || n == "pretrained_model_name_or_path" {
			ref = c.Args[i].Value
		}
	}
	if ref == nil || !ref.Quoted || ref.Text == "" {
		return argv.Wrong(c.Name, ref.String(), "names no model that the text says", "put the model's name in quotes in its place")
	}
	l.Model = ref.Text
	return l.keywords(c, loadKeys)
}

func (l *launch) keywords(c *pycall.Call, table map[string]func(*launch, *pycall.Value) error) error {
	for _, a := range c.Args {
		if a.Name == "" || beside[a.Name] {
			continue
		}
		if a.Name == "model_kwargs" {
			if err := l.keywords(&pycall.Call{Args: a.Value.Pairs}, table); err != nil {
				return err
			}
			continue
		}
		set, ok := table[a.Name]
		if !ok {
			l.unread(a.Name, a.Value)
			continue
		}
		if err := set(l, a.Value); err != nil {
			return argv.Named(err, a.Name, a.Value.String())
		}
	}
	return nil
}

func (l *launch) unread(name string, v *pycall.Value) {
	l.Unknown = append(l.Unknown, argv.ShownAs(name, v.String()))
}

// beside are keywords without bearing on memory.
var beside = map[string]bool{
	"model": true, "pretrained_model_name_or_path": true, "task": true, "tokenizer": true, "trust_remote_code": true, "revision": true,
	"token": true, "use_auth_token": true, "cache_dir": true, "local_files_only": true, "use_safetensors": true,
	"low_cpu_mem_usage": true, "subfolder": true, "variant": true, "force_download": true, "do_sample": true, "temperature": true,
	"top_k": true, "top_p": true, "min_p": true, "repetition_penalty": true, "pad_token_id": true, "eos_token_id": true,
	"streamer": true, "use_cache": true, "stopping_criteria": true, "min_new_tokens": true, "input_ids": true, "attention_mask": true,
	"return_dict_in_generate": true, "framework": true,
}

var loadKeys = map[string]func(*launch, *pycall.Value) error{
	"dtype": castKey, "torch_dtype": castKey, "quantization_config": quantKey, "attn_implementation": attentionKey, "device_map": mapKey,
	"device": mapKey, "max_memory": memoryKey, "tp_plan": tensorKey,
	"load_in_4bit": bitsKey("fp4"), "load_in_8bit": bitsKey("bnb-int8"),
}

var castingKeys = map[string]func(*launch, *pycall.Value) error{"storage_dtype": storageKey, "compute_dtype": castKey}

// storageKey: torch.float8_e4m3fn, which enable_layerwise_casting stores weights in.
func storageKey(l *launch, v *pycall.Value) error {
	if strings.HasPrefix(v.Text[strings.LastIndexByte(v.Text, '.')+1:], "float8_") {
		l.Plan.Weights = "fp8"
		return nil
	}
	return castKey(l, v)
}

var generateKeys = map[string]func(*launch, *pycall.Value) error{
	"max_length":           numberKey(func(p *plan.Plan) *plan.Int { return &p.Context }),
	"max_new_tokens":       numberKey(func(p *plan.Plan) *plan.Int { return &p.OutputTokens }),
	"cache_implementation": cacheKey, "cache_config": cacheConfigKey, "assistant_model": assistantKey,
	"num_assistant_tokens":     numberKey(func(p *plan.Plan) *plan.Int { return &p.DraftTokens }),
	"prompt_lookup_num_tokens": numberKey(func(p *plan.Plan) *plan.Int { return &p.DraftTokens }),
}

func numberKey(field func(*plan.Plan) *plan.Int) func(*launch, *pycall.Value) error {
	return func(l *launch, v *pycall.Value) error {
		n, err := argv.Count[plan.Int](v.Text)
		*field(&l.Plan) = n
		return err
	}
}

// castKey: "bfloat16", torch.bfloat16; auto is what the checkpoint says.
func castKey(l *launch, v *pycall.Value) error {
	switch v.Text[strings.LastIndexByte(v.Text, '.')+1:] {
	case "auto", "None":
	case "float16", "half":
		l.Cast = "f16"
	case "bfloat16":
		l.Cast = "bf16"
	case "float32", "float":
		l.Cast = "f32"
	default:
		l.unread("dtype", v)
	}
	return nil
}

// quantKey reads BitsAndBytesConfig(load_in_4bit=True, …) (transformers/utils/quantization_config.py).
func quantKey(l *launch, v *pycall.Value) error {
	if v.Call == nil || v.Call.Func() != "BitsAndBytesConfig" {
		l.unread("quantization_config", v)
		return nil
	}
	given := map[string]string{}
	for _, a := range v.Call.Args {
		given[a.Name] = a.Value.Text
		switch a.Name {
		case "load_in_4bit", "load_in_8bit", "bnb_4bit_quant_type", "bnb_4bit_use_double_quant", "bnb_4bit_compute_dtype",
			"llm_int8_threshold":
		default:
			l.unread(a.Name, a.Value)
		}
	}
	four := given["load_in_4bit"] == "True"
	switch {
	case four && given["bnb_4bit_quant_type"] == "nf4" && given["bnb_4bit_use_double_quant"] == "True":
		l.Plan.Weights = "nf4"
	case four && given["bnb_4bit_quant_type"] == "nf4":
		l.Plan.Weights = "nf4-single"
	case four:
		return bitsKey("fp4")(l, &pycall.Value{Text: "True"})
	case given["load_in_8bit"] == "True":
		l.Plan.Weights = "bnb-int8"
	default:
		l.unread("quantization_config", v)
	}
	return nil
}

// bitsKey: 4 bits without a type are FP4, which takes what NF4 with single scales takes.
func bitsKey(recipe string) func(*launch, *pycall.Value) error {
	return func(l *launch, v *pycall.Value) error {
		switch {
		case v.Text != "True":
		case recipe == "fp4":
			l.Plan.Weights = "nf4-single"
		default:
			l.Plan.Weights = recipe
		}
		return nil
	}
}

func attentionKey(l *launch, v *pycall.Value) error {
	switch v.Text {
	case "flash_attention_2", "flash_attention_3", "kernels-community/flash-attn":
		l.Plan.Attention = "flash"
	case "sdpa", "eager":
		l.Plan.Attention = v.Text
	default:
		l.unread("attn_implementation", v)
	}
	return nil
}

// mapKey: auto and its kin put layers on all devices; a device, or {"": 0}, holds all.
func mapKey(l *launch, v *pycall.Value) error {
	place := v.Text
	if len(v.Pairs) == 1 && v.Pairs[0].Name == "" {
		place = v.Pairs[0].Value.Text
	}
	switch {
	case place == "auto", place == "balanced", place == "sequential", place == "balanced_low_0", place == "None":
	case place == "cuda", strings.HasPrefix(place, "cuda:"), place != "" && strings.Trim(place, "0123456789") == "":
		l.oneDevice = true
	default:
		l.unread("device_map", v)
	}
	return nil
}

// memoryKey counts the devices that may hold layers; what the host or a disk may hold is listed.
func memoryKey(l *launch, v *pycall.Value) error {
	for _, p := range v.Pairs {
		if _, err := strconv.ParseUint(p.Name, 10, 16); err == nil {
			l.gpus++
		} else {
			l.unread("max_memory["+p.Name+"]", p.Value)
		}
	}
	if v.Pairs == nil {
		l.unread("max_memory", v)
	}
	return nil
}

func tensorKey(l *launch, v *pycall.Value) error {
	if l.spread = v.Text == "auto"; !l.spread {
		l.unread("tp_plan", v)
	}
	return nil
}

func cacheKey(l *launch, v *pycall.Value) error {
	switch v.Text {
	case "dynamic", "quantized":
	case "static":
		l.Plan.EngineArgs = append(l.Plan.EngineArgs, "cache_implementation=static")
	default:
		l.unread("cache_implementation", v)
	}
	return nil
}

// cacheConfigKey reads nbits of a quantised cache.
func cacheConfigKey(l *launch, v *pycall.Value) error {
	for _, p := range v.Pairs {
		if p.Name != "nbits" {
			continue
		}
		for f, bits := range quantBits {
			if strconv.FormatInt(bits, 10) == p.Value.Text {
				l.Plan.KV = f.Name
				return nil
			}
		}
	}
	l.unread("cache_config", v)
	return nil
}

func assistantKey(l *launch, v *pycall.Value) error {
	if v.Call == nil || !loads(v.Call) {
		l.unread("assistant_model", v)
		return nil
	}
	if ref := v.Call.Positional(0); ref != nil && ref.Quoted {
		l.Plan.DraftModel = ref.Text
	}
	return nil
}

// finish: devices follow from where layers go, and from what torchrun starts.
func (l *launch) finish(text string) {
	p := &l.Plan
	switch {
	case l.spread:
		p.TP = processes(text)
	case l.oneDevice:
		p.TP, p.PP, p.DP = 1, 1, 1
	case l.gpus > 0:
		p.TP, p.PP, p.DP = 1, l.gpus, 1
	}
	p.EngineArgs = append(p.EngineArgs, l.Unknown...)
}

// processes that a comment or command of the text starts: torchrun --nproc-per-node 4. One where it does not say.
func processes(text string) int64 {
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '=' || r == '\n' || r == '\t' })
	for i, w := range words {
		if (w == "--nproc-per-node" || w == "--nproc_per_node") && i+1 < len(words) {
			if n, err := strconv.ParseInt(words[i+1], 10, 16); err == nil && n > 0 {
				return n
			}
		}
	}
	return 1
}
