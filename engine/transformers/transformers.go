// Package transformers knows what Hugging Face transformers holds while it generates: the weights, a cache
// that grows with every token, and the activations of a prompt that goes through the model in one piece.
// Nothing is allocated ahead, and no share of the device is set aside.
//
// rules.go has what changed between versions, cache.go the caches, prompt.go the activations, sizer.go what a
// device holds.
package transformers

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
)

// Engine is Hugging Face transformers.
type Engine struct{}

// Name of the engine.
func (Engine) Name() string { return "transformers" }

// Latest version whose rules are known.
func (Engine) Latest() engine.Version { return Latest }

// Defaults of generate(): a dynamic cache in the model's format, and device_map="auto", which puts whole
// layers on each device.
func (Engine) Defaults(j *engine.Job) {
	p := j.Plan
	if p.KV == "" {
		p.KV = engine.ActivationFormat(j.Model).Name
		j.Default("kv", p.KV)
	}
	engine.OneFormat(p)
	if p.Attention == "" || p.Attention == "auto" {
		p.Attention = defaultAttention(j.Version)
		j.Default("attention", p.Attention)
	}
	layersOverDevices(j)
	engine.EagerNote(j, true)
}

// layersOverDevices: devices hold whole layers, one after another; what the plan says is kept.
func layersOverDevices(j *engine.Job) {
	p := j.Plan
	if n := j.Devices(); p.TP == 0 && p.PP == 0 && p.DP == 0 && n > 1 {
		p.PP = min(n, int64(len(j.Model.Decoder().Layers)))
		j.Default("pp", p.PP)
		j.Note("naive_pipeline", "info", "pp", "device_map = auto puts whole layers on %d devices, which work one after another", p.PP)
	}
	for _, x := range []*int64{&p.TP, &p.PP, &p.DP, &p.CP} {
		*x = max(1, *x)
	}
}

// Check refuses what transformers refuses.
func (Engine) Check(j *engine.Job) error {
	if err := engine.CheckParallel(j); err != nil {
		return err
	}
	p := j.Plan
	switch {
	case p.TP > 1 && j.Version.Before(tensorParallel):
		return &plan.Problem{Field: "tp", Value: fmt.Sprint(p.TP), Impossible: true, Message: fmt.Sprintf("transformers %s has no tensor parallelism", j.Version), Fix: fmt.Sprintf("transformers@%s or newer, or pp", tensorParallel)}
	case p.Attention == "sdpa" && j.Version.Before(attentionDefault.From):
		return &plan.Problem{Field: "attention", Value: p.Attention, Impossible: true, Message: fmt.Sprintf("transformers %s has no sdpa attention", j.Version), Fix: "eager or flash"}
	}
	if err := checkFlash(j); err != nil {
		return err
	}
	if r := dtype.FindRecipe(p.Weights); r != nil && r.Store == dtype.GGUF {
		return &plan.Problem{Field: "weights", Value: p.Weights, Impossible: true, Message: fmt.Sprintf("transformers unpacks GGUF files as it loads them, so that %s does not stay as it is", r.Title), Fix: "bf16, nf4 or bnb-int8; llama.cpp for the file"}
	}
	return checkCache(j)
}

// checkFlash: FlashAttention 2 takes 16-bit models on devices from Ampere on.
func checkFlash(j *engine.Job) error {
	if j.Plan.Attention != "flash" {
		return nil
	}
	problem := func(message string) error {
		return &plan.Problem{Field: "attention", Value: "flash", Impossible: true, Message: message, Fix: "sdpa"}
	}
	if f := engine.ActivationFormat(j.Model); f.BlockBytes != 2 {
		return problem(fmt.Sprintf("FlashAttention takes fp16 and bf16, and the model is in %s", f.Name))
	}
	if d := j.Device(0); d != nil && d.Vendor == "NVIDIA" && strings.HasPrefix(d.Capability, "7.") {
		return problem(fmt.Sprintf("FlashAttention needs compute capability 8.0, and a %s has %s", d.Name, d.Capability))
	}
	return nil
}

func checkCache(j *engine.Job) error {
	p := j.Plan
	f := dtype.FindFormat(p.KV)
	bits, quantised := quantBits[f]
	switch {
	case quantised && j.Version.Before(quantizedCache):
		return &plan.Problem{Field: "kv", Value: p.KV, Message: fmt.Sprintf("transformers %s has no quantised cache", j.Version), Fix: "transformers@" + quantizedCache.String() + " or newer"}
	case quantised && bits > 0:
	case f == dtype.BF16 || f == dtype.F16 || f == dtype.F32:
	default:
		return &plan.Problem{Field: "kv", Value: p.KV, Message: fmt.Sprintf("transformers keeps no cache in %s", p.KV), Fix: "bf16, int8, int4 or i2"}
	}
	if dtype.FindFormat(p.KVV) != f {
		return &plan.Problem{Field: "kv_v", Value: p.KVV, Message: "transformers keeps keys and values in one format", Fix: "leave kv_v out"}
	}
	return nil
}

// static reports whether the plan asks for a cache of full length from the start.
func static(p *plan.Plan) bool {
	for _, a := range p.EngineArgs {
		if strings.Contains(a, "cache_implementation") && strings.Contains(a, "static") {
			return true
		}
	}
	return false
}

var loadNames = map[string]string{
	"nf4": `quantization_config=BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True)`,
	"fp4": "quantization_config=BitsAndBytesConfig(load_in_4bit=True)", "bnb-int8": "quantization_config=BitsAndBytesConfig(load_in_8bit=True)",
	"nf4-single": `quantization_config=BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4")`,
}

var attentionNames = map[string]string{"flash": "flash_attention_2", "sdpa": "sdpa", "eager": "eager"}

// Command loads the model and generates, as Python.
func (Engine) Command(j *engine.Job) string {
	p := j.Plan
	if j.Model.Part("denoiser") != nil {
		return diffusersCall(j.Model)
	}
	args := []string{fmt.Sprintf("%q", j.Model.ID), fmt.Sprintf("dtype=%q", torchName(engine.ActivationFormat(j.Model)))}
	if p.TP > 1 {
		args = append(args, `tp_plan="auto"`)
	} else {
		args = append(args, `device_map="auto"`)
	}
	if p.Attention != defaultAttention(j.Version) {
		args = append(args, fmt.Sprintf("attn_implementation=%q", attentionNames[p.Attention]))
	}
	if r := dtype.FindRecipe(p.Weights); r != nil && loadNames[r.Name] != "" {
		args = append(args, loadNames[r.Name])
	}
	generate := fmt.Sprintf("max_length=%d", p.Context)
	switch bits := quantBits[dtype.FindFormat(p.KV)]; {
	case bits > 0:
		generate += fmt.Sprintf(`, cache_implementation="quantized", cache_config={"backend": "hqq", "nbits": %d}`, bits)
	case static(p):
		generate += `, cache_implementation="static"`
	}
	class := autoClass(j.Model)
	if class == "AutoModel" {
		return fmt.Sprintf("AutoModel.from_pretrained(%s)(**inputs)", strings.Join(args, ", "))
	}
	return fmt.Sprintf("%s.from_pretrained(%s).generate(**inputs, %s)", class, strings.Join(args, ", "), generate)
}

// diffusersCall loads the transformer of a diffusion model by its own class, from the folder that its pipeline keeps it in
// (diffusers, ModelMixin.from_pretrained).
func diffusersCall(m *model.Model) string {
	return fmt.Sprintf(`diffusers.%s.from_pretrained(%q, subfolder="transformer", torch_dtype=torch.%s).to("cuda")`, m.Arch, m.ID, torchName(engine.ActivationFormat(m)))
}

// autoClass is the class that loads a model for what it does.
func autoClass(m *model.Model) string {
	switch {
	case !m.Remembers():
		return "AutoModel"
	case m.Part("encoder") == nil && m.Traits.Multimodal:
		return "AutoModelForImageTextToText"
	case m.Family == "whisper":
		return "AutoModelForSpeechSeq2Seq"
	case m.Part("encoder") != nil:
		return "AutoModelForSeq2SeqLM"
	}
	return "AutoModelForCausalLM"
}

func torchName(f *dtype.Format) string {
	switch f {
	case dtype.F16:
		return "float16"
	case dtype.F32:
		return "float32"
	}
	return "bfloat16"
}
