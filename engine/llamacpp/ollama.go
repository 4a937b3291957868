package llamacpp

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/plan"
)

// How Ollama is told a plan: by variables of its server, of which it hands those of llama-server on
// (llm/llama_server.go), and by the parameters of a Modelfile (api/types.go, Runner).

// modelfilePath is where the command keeps the Modelfile: FROM finds files beside it.
const modelfilePath = "Modelfile"

// ollamaCommand starts the server and runs the model; one that no name leads to, or with settings of its own, is made
// first.
func (e Engine) ollamaCommand(j *engine.Job) string {
	serve := strings.Join(append(e.serverVariables(j), "ollama serve"), " ")
	if name := libraryName(j); name != "" && len(parameters(j)) == 0 && j.Plan.MMProj == "" {
		return serve + " &\nollama run " + argv.Quote(name)
	}
	return fmt.Sprintf("cat > %s <<'EOF'\n%sEOF\n%s &\nollama create %s -f %s", modelfilePath, modelfile(j), serve, ollamaName(j), modelfilePath)
}

// baseModel is what a Modelfile begins from: a model of the library, or a file.
func baseModel(j *engine.Job) string {
	if name := libraryName(j); name != "" {
		return name
	}
	return modelFile(j)
}

// libraryName is what "ollama run" fetches: a name of the library, or a repository of the hub with a format.
func libraryName(j *engine.Job) string {
	if hub := j.Checkpoint.HubFile; strings.Contains(hub, ":") {
		return "hf.co/" + hub
	}
	return j.Checkpoint.Library
}

// ollamaName is what the made model is called.
func ollamaName(j *engine.Job) string {
	name, _, _ := strings.Cut(baseModel(j), ":")
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	return strings.Map(nameRune, strings.ToLower(strings.TrimSuffix(name, ".gguf"))) + "-memwall"
}

// nameRune keeps what Ollama takes in a name (types/model/name.go).
func nameRune(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r) {
		return r
	}
	return '-'
}

// Modelfile is the plan as "ollama create" reads it, with the server's variables in its first line; "" for other
// programs.
func (e Engine) Modelfile(j *engine.Job) string {
	if e.Program != Ollama {
		return ""
	}
	return "# " + oneLine(strings.Join(append(e.serverVariables(j), "ollama serve"), " ")) + "\n" + modelfile(j)
}

func modelfile(j *engine.Job) string {
	lines := []string{"FROM " + oneLine(baseModel(j))}
	if m := j.Plan.MMProj; m != "" {
		lines = append(lines, "FROM "+oneLine(m))
	}
	for _, p := range append([]argv.Variable{{Name: "num_ctx", Value: fmt.Sprint(j.Plan.Context)}}, parameters(j)...) {
		lines = append(lines, "PARAMETER "+p.Name+" "+p.Value)
	}
	return strings.Join(lines, "\n") + "\n"
}

// oneLine keeps a name from beginning a line of its own, which would be another instruction.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}

// parameters are the settings of a model that no variable has.
func parameters(j *engine.Job) (out []argv.Variable) {
	p := j.Plan
	add := func(name string, value any) { out = append(out, argv.Variable{Name: name, Value: fmt.Sprint(value)}) }
	if p.UBatch != ollamaBatch {
		add("num_batch", p.UBatch)
	}
	if n := p.GPULayers; n != nil && *n >= 0 {
		add("num_gpu", *n)
	}
	if p.MainGPU != nil {
		add("main_gpu", *p.MainGPU)
	}
	if !on(p.Mmap) {
		add("use_mmap", false)
	}
	return out
}

// ollamaBatch is num_batch by default (api/types.go, DefaultOptions).
const ollamaBatch = 512

// checkOllama: Ollama gives llama-server one number for both batches, and bounds every slot by its share.
func (e Engine) checkOllama(j *engine.Job, _ *rules) error {
	p := j.Plan
	switch {
	case e.Program != Ollama || !e.server(j):
	case p.BatchTokens != p.UBatch:
		return impossible("ubatch", p.UBatch, "one of them alone, or --engine llama-server", "ubatch = %d and batch_tokens = %d: num_batch of Ollama is both", p.UBatch, p.BatchTokens)
	case p.ContextTotal > 0 && p.Sequences > 1 && isOn(p.KVUnified):
		return impossible("context_total", p.ContextTotal, "context, which num_ctx says", "context_total = %d in one cache for %d slots: Ollama lets no slot hold more than num_ctx", p.ContextTotal, p.Sequences)
	}
	return nil
}

// serverVariables say what the server takes for every model.
func (e Engine) serverVariables(j *engine.Job) []string {
	p := j.Plan
	args := []string{fmt.Sprintf("OLLAMA_CONTEXT_LENGTH=%d", p.Context), fmt.Sprintf("OLLAMA_NUM_PARALLEL=%d", p.Sequences)}
	switch p.Attention {
	case "flash":
		args = append(args, "OLLAMA_FLASH_ATTENTION=1")
	case "eager":
		args = append(args, "OLLAMA_FLASH_ATTENTION=0")
	}
	if p.Reserved > 0 {
		args = append(args, fmt.Sprintf("OLLAMA_GPU_OVERHEAD=%d", p.Reserved))
	}
	switch {
	case p.KV != p.KVV:
		args = append(args, "LLAMA_ARG_CACHE_TYPE_K="+p.KV, "LLAMA_ARG_CACHE_TYPE_V="+p.KVV)
	case p.KV != "f16":
		args = append(args, "OLLAMA_KV_CACHE_TYPE="+p.KV)
	}
	if !e.server(j) {
		return args
	}
	return append(args, inherited(j)...)
}

// inherited are variables of llama-server whose flags Ollama does not give itself.
func inherited(j *engine.Job) (args []string) {
	p := j.Plan
	for _, v := range []argv.Variable{
		{Name: "LLAMA_ARG_FIT", Value: only(p.Fit, "off")}, {Name: "LLAMA_ARG_FIT_TARGET", Value: p.FitTarget}, {Name: "LLAMA_ARG_FIT_CTX", Value: positive(p.FitContext)},
		{Name: "LLAMA_ARG_SPLIT_MODE", Value: only(p.SplitMode, "row", "none")}, {Name: "LLAMA_ARG_TENSOR_SPLIT", Value: p.TensorSplit}, {Name: "LLAMA_ARG_OVERRIDE_TENSOR", Value: p.OverrideTensor},
		{Name: "LLAMA_ARG_CPU_MOE", Value: switched(p.CPUMoE != nil && *p.CPUMoE < 0)}, {Name: "LLAMA_ARG_KV_UNIFIED", Value: switched(isOn(p.KVUnified))}, {Name: "LLAMA_ARG_SWA_FULL", Value: switched(isOn(p.SWAFull))},
		{Name: "LLAMA_ARG_NO_KV_OFFLOAD", Value: switched(!on(p.KVOffload))}, {Name: "LLAMA_ARG_MLOCK", Value: switched(isOn(p.MLock))}, {Name: "LLAMA_ARG_NO_MMPROJ_OFFLOAD", Value: switched(!on(p.MMProjOffload))},
	} {
		if v.Value != "" {
			args = append(args, v.Name+"="+argv.Quote(v.Value))
		}
	}
	for _, n := range []struct {
		name  string
		value *plan.Int
	}{{"LLAMA_ARG_N_CPU_MOE", layersKept(p.CPUMoE)}, {"LLAMA_ARG_CACHE_RAM", p.CacheRAM}, {"LLAMA_ARG_CTX_CHECKPOINTS", p.Checkpoints}} {
		if n.value != nil {
			args = append(args, fmt.Sprintf("%s=%d", n.name, *n.value))
		}
	}
	return args
}

// only gives a word if it is one of those listed.
func only(word string, list ...string) string {
	for _, w := range list {
		if w == word {
			return w
		}
	}
	return ""
}

func switched(on bool) string {
	if on {
		return "1"
	}
	return ""
}

func positive(n plan.Int) string {
	if n > 0 {
		return fmt.Sprint(n)
	}
	return ""
}

// layersKept is a number of layers; nil for none and for all.
func layersKept(n *plan.Int) *plan.Int {
	if n == nil || *n <= 0 {
		return nil
	}
	return n
}

// inheritable are the flags of llama-server that a variable of Ollama's server reaches.
func inheritable() (out []argv.Flag[launch]) {
	names := map[string]bool{
		"LLAMA_ARG_FIT": true, "LLAMA_ARG_FIT_TARGET": true, "LLAMA_ARG_FIT_CTX": true, "LLAMA_ARG_SPLIT_MODE": true, "LLAMA_ARG_TENSOR_SPLIT": true, "LLAMA_ARG_OVERRIDE_TENSOR": true, "LLAMA_ARG_CPU_MOE": true,
		"LLAMA_ARG_N_CPU_MOE": true, "LLAMA_ARG_KV_UNIFIED": true, "LLAMA_ARG_SWA_FULL": true, "LLAMA_ARG_NO_KV_OFFLOAD": true, "LLAMA_ARG_MLOCK": true, "LLAMA_ARG_NO_MMPROJ_OFFLOAD": true,
		"LLAMA_ARG_CACHE_RAM": true, "LLAMA_ARG_CTX_CHECKPOINTS": true, "LLAMA_ARG_CACHE_TYPE_K": true, "LLAMA_ARG_CACHE_TYPE_V": true, "LLAMA_ARG_N_GPU_LAYERS": true,
	}
	for _, f := range argFlags {
		if names[f.Env] {
			f.Names = "" // a variable alone
			out = append(out, f)
		}
	}
	return out
}
