package transformers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model"
)

// How transformers is told a plan: the keywords of from_pretrained and of generate.

var loadNames = map[string]string{
	"nf4": `BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True)`,
	"fp4": "BitsAndBytesConfig(load_in_4bit=True)", "bnb-int8": "BitsAndBytesConfig(load_in_8bit=True)",
	"nf4-single": `BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4")`,
}

var attentionNames = map[string]string{"flash": "flash_attention_2", "sdpa": "sdpa", "eager": "eager"}

// call is a plan as the keywords of its two calls.
type call struct {
	class          string
	load, generate []string
	ranks          int64 // processes that torchrun starts, where there are several
}

// Command loads the model and generates, as Python in one line.
func (Engine) Command(j *engine.Job) string {
	if j.Model.Part(model.PartDenoiser) != nil {
		return diffusersCall(j)
	}
	c := callOf(j)
	text := fmt.Sprintf("%s.from_pretrained(%s)", c.class, strings.Join(c.load, ", "))
	if c.generate == nil {
		text += "(**inputs)"
	} else {
		text += fmt.Sprintf(".generate(**inputs, %s)", strings.Join(c.generate, ", "))
	}
	if c.ranks > 1 {
		text += fmt.Sprintf("  # torchrun --nproc-per-node %d", c.ranks)
	}
	return text
}

func callOf(j *engine.Job) *call {
	p := j.Plan
	c := &call{class: autoClass(j.Model), load: []string{fmt.Sprintf("%q", j.CheckpointName()), fmt.Sprintf("dtype=%q", castTo(j))},
		ranks: p.TP}
	c.load = append(c.load, placement(j))
	if p.Attention != defaultAttention(j.Version) {
		c.load = append(c.load, fmt.Sprintf("attn_implementation=%q", attentionNames[p.Attention]))
	}
	if r := dtype.FindRecipe(p.Weights); r != nil && loadNames[r.Name] != "" {
		c.load = append(c.load, "quantization_config="+loadNames[r.Name])
	}
	if c.class != "AutoModel" {
		c.generate = generation(j)
	}
	return c
}

// castTo is what weights that are not quantised are loaded in; a checkpoint that is stored quantised says it itself.
func castTo(j *engine.Job) string {
	r := dtype.FindRecipe(j.Plan.Weights)
	switch f := dtype.FindFormat(j.Plan.Weights); {
	case f == dtype.F16 || f == dtype.F32 || f == dtype.BF16:
		return torchName(f)
	case r != nil && loadNames[r.Name] == "":
		return "auto"
	}
	return torchName(engine.ActivationFormat(j.Model))
}

// placement: layers over all devices, over the first few, on one, or each layer over the processes of torchrun. A
// limit for each device holds as much as memwall counts on it.
func placement(j *engine.Job) string {
	p, n := j.Plan, j.Devices()
	switch {
	case p.TP > 1:
		return `tp_plan="auto"`
	case n == 1 || p.PP == n:
		return `device_map="auto"`
	case p.PP <= 1:
		return `device_map="cuda:0"`
	}
	limits := make([]string, p.PP)
	for i := range limits {
		gib := int64(1)
		if d := j.Device(int64(i)); d != nil {
			gib = max(1, int64(d.Usable.Value.GiB()))
		}
		limits[i] = fmt.Sprintf(`%d: "%dGiB"`, i, gib)
	}
	return `device_map="auto", max_memory={` + strings.Join(limits, ", ") + "}"
}

// generation are the keywords of generate.
func generation(j *engine.Job) []string {
	p := j.Plan
	out := []string{fmt.Sprintf("max_length=%d", p.Context)}
	switch bits := quantBits[dtype.FindFormat(p.KV)]; {
	case bits > 0:
		out = append(out, `cache_implementation="quantized"`, fmt.Sprintf(`cache_config={"backend": "hqq", "nbits": %d}`, bits))
	case static(p):
		out = append(out, `cache_implementation="static"`)
	}
	switch {
	case j.Draft != nil:
		out = append(out, fmt.Sprintf(`assistant_model=AutoModelForCausalLM.from_pretrained(%q, device_map="cuda:0")`,
			j.Draft.CheckpointName()))
		if p.DraftTokens > 0 {
			out = append(out, fmt.Sprintf("num_assistant_tokens=%d", p.DraftTokens))
		}
	case p.DraftTokens > 0:
		out = append(out, fmt.Sprintf("prompt_lookup_num_tokens=%d", p.DraftTokens))
	}
	return out
}

// Script is the plan as a program that runs; "" for what is not a text model.
func (Engine) Script(j *engine.Job) string {
	if j.Model.Part(model.PartDenoiser) != nil || j.Model.Part("encoder") != nil || j.Model.Traits.Multimodal || !j.Model.Remembers() {
		return ""
	}
	c := callOf(j)
	names := []string{c.class, "AutoTokenizer"}
	if slices.ContainsFunc(c.load, func(a string) bool { return strings.HasPrefix(a, "quantization_config=") }) {
		names = append(names, "BitsAndBytesConfig")
	}
	slices.Sort(names)
	start := "python run.py"
	if c.ranks > 1 {
		start = fmt.Sprintf("torchrun --nproc-per-node %d run.py", c.ranks)
	}
	lines := []string{"# " + start, "from transformers import " + strings.Join(names, ", "), "",
		"tokenizer = AutoTokenizer.from_pretrained(" + c.load[0] + ")", "model = " + c.class + ".from_pretrained("}
	lines = append(lines, indented(c.load)...)
	lines = append(lines, ")", `inputs = tokenizer("Memory is", return_tensors="pt").to(model.device)`, "output = model.generate(",
		"    **inputs,")
	lines = append(lines, indented(c.generate)...)
	return strings.Join(append(lines, ")", "print(tokenizer.decode(output[0], skip_special_tokens=True))"), "\n") + "\n"
}

func indented(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = "    " + a + ","
	}
	return out
}

// diffusersCall loads the transformer of a diffusion model by its own class, from the folder that its pipeline keeps it in
// (diffusers, ModelMixin.from_pretrained).
func diffusersCall(j *engine.Job) string {
	m, kind := j.Model, "torch."+castTo(j)
	if kind == "torch.auto" {
		kind = `"auto"`
	}
	load := []string{fmt.Sprintf("%q", m.ID), `subfolder="transformer"`, "torch_dtype=" + kind}
	if j.Plan.Weights == "fp8" { // diffusers, ModelMixin.enable_layerwise_casting: stored in 8 bits, computed in 16
		load[2] = "torch_dtype=torch.bfloat16"
		return fmt.Sprintf("transformer = diffusers.%s.from_pretrained(%s); transformer.enable_layerwise_casting("+
			"storage_dtype=torch.float8_e4m3fn, compute_dtype=torch.bfloat16); transformer.to(\"cuda\")", m.Arch, strings.Join(load, ", "))
	}
	if r := dtype.FindRecipe(j.Plan.Weights); r != nil && loadNames[r.Name] != "" {
		load = append(load, "quantization_config="+loadNames[r.Name])
	}
	return fmt.Sprintf(`diffusers.%s.from_pretrained(%s).to("cuda")`, m.Arch, strings.Join(load, ", "))
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
