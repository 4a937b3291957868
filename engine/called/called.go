// Package called knows programs by the names their users use: which engine's rules size them, which settings they have
// of their own, and what no rule sizes.
package called

import (
	"slices"
	"strings"
	"sync"

	"github.com/memwall/memwall/plan"
)

// Program is one that runs models with an engine's rules.
type Program struct {
	// Names in lower case without marks; the first is how it is written.
	Names []string
	Title string
	// Engine whose rules size it.
	Engine string
	// Context, Batch and FlashOff are what the program sets where nobody says; 0 and false leave that to the engine.
	Context, Batch int64
	FlashOff       bool
	// Recipes are prefixes of formats that are this program's own; nil for those of its engine.
	Recipes []string
	// Unsized says what of the program no rule sizes; "" where it is the engine under another name.
	Unsized string
	// Source of the defaults.
	Source string
}

const (
	ggml  = "llama-server"
	floor = "generic"
	// unsizedByFloor is what lies between the floor and a running program.
	unsizedByFloor = "weights, caches and logits are sized; its activations, buffers and allocator are not"
)

// programs that are llama.cpp with settings of their own, and engines that have no rules here.
var programs = []Program{
	{Names: []string{"lmstudio", "lms"}, Title: "LM Studio", Engine: ggml, Context: 4096, Batch: 512,
		Source: "LM Studio's load settings, from memory"},
	{Names: []string{"jan", "janai", "cortex"}, Title: "Jan", Engine: ggml, Context: 8192, Source: "Jan's llama.cpp settings, from memory"},
	{Names: []string{"koboldcpp", "kobold", "koboldai"}, Title: "KoboldCpp", Engine: ggml, Context: 8192, Batch: 512, FlashOff: true,
		Source: "koboldcpp.py: --contextsize 8192, --batchsize 512, --flashattention off"},
	{Names: []string{"llamafile"}, Title: "llamafile", Engine: ggml, Context: 8192, Source: "llamafile's server, from memory"},
	{Names: []string{"textgenerationwebui", "oobabooga", "textgenwebui", "ooba", "tgw"}, Title: "text-generation-webui", Engine: ggml,
		Context: 8192, Source: "modules/shared.py: --ctx-size 8192"},
	{Names: []string{"gpt4all"}, Title: "GPT4All", Engine: ggml, Context: 2048, Source: "GPT4All's settings, from memory"},
	{Names: []string{"localai"}, Title: "LocalAI", Engine: ggml, Source: "its default back end"},
	{Names: []string{"llamacpppython", "llamacpp-python"}, Title: "llama-cpp-python", Engine: ggml, Context: 512, Batch: 512,
		Source: "llama_cpp/llama.py: n_ctx 512, n_batch 512"},
	{Names: []string{"llamaswap", "lemonade", "ramalama", "dockermodelrunner"}, Title: "a launcher of llama-server", Engine: ggml},
	{Names: []string{"openwebui", "msty"}, Title: "a front end of Ollama", Engine: "ollama"},
	{Names: []string{"ik_llama.cpp", "ikllama", "ik"}, Title: "ik_llama.cpp", Engine: "ik_llama.cpp"},
	{Names: []string{"mlx-lm", "mlx", "mlxvlm"}, Title: "MLX", Engine: "mlx-lm", Recipes: []string{"mlx-"}},
	{Names: []string{"exllamav2", "exllama2", "exl2", "exllama"}, Title: "ExLlamaV2", Engine: "exllamav2", Recipes: []string{"exl2-"}},
	{Names: []string{"exllamav3", "exllama3", "exl3", "tabbyapi"}, Title: "ExLlamaV3", Engine: "exllamav3", Recipes: []string{"exl3-"}},
	{Names: []string{"tgi", "textgenerationinference", "hftgi"}, Title: "TGI", Engine: "tgi"},
	{Names: []string{"lmdeploy", "turbomind"}, Title: "LMDeploy", Engine: "lmdeploy"},
	{Names: []string{"ktransformers", "kt"}, Title: "KTransformers", Engine: "ktransformers"},
	{Names: []string{"mlc", "mlcllm", "webllm"}, Title: "MLC LLM", Engine: "mlc"},
	{Names: []string{"aphrodite", "aphroditeengine"}, Title: "Aphrodite", Engine: "vllm", Unsized: "sized as vLLM, of which it is a fork"},
	{Names: []string{"max", "modularmax", "candle", "mistralrs", "ctranslate2", "onnxruntime", "openvino", "ovms", "fastllm"},
		Title: "this engine", Engine: floor, Unsized: unsizedByFloor},
}

// Find gives the program with a name as people write it; nil for none.
func Find(name string) *Program { return byName()[fold(name)] }

var byName = sync.OnceValue(func() map[string]*Program {
	all := map[string]*Program{}
	for i := range slices.Backward(programs) { // the first of a name counts
		for _, n := range programs[i].Names {
			all[fold(n)] = &programs[i]
		}
	}
	return all
})

// Owner is the program that a recipe belongs to; nil for recipes of all.
func Owner(recipe string) *Program {
	for i := range programs {
		for _, r := range programs[i].Recipes {
			if strings.HasPrefix(recipe, r) {
				return &programs[i]
			}
		}
	}
	return nil
}

// Names of all programs, one each.
func Names() (out []string) {
	for i := range programs {
		out = append(out, programs[i].Names[0])
	}
	return out
}

// Apply fills in what the program sets where the plan says nothing, and tells what that is.
func (p *Program) Apply(to *plan.Plan) (set []string) {
	if p.Context > 0 && to.Context == 0 && to.ContextTotal == 0 {
		to.Context = plan.Int(p.Context)
		set = append(set, "context")
	}
	if p.Batch > 0 && to.BatchTokens == 0 {
		to.BatchTokens = plan.Int(p.Batch)
		set = append(set, "batch_tokens")
	}
	if p.FlashOff && to.Attention == "" {
		to.Attention = "eager"
		set = append(set, "attention")
	}
	return set
}

// Kept is the version that somebody asked of the program, where that is its engine under another name and counts as it does;
// "" else.
func (p *Program) Kept(version string) string {
	if fold(p.Names[0]) == fold(p.Engine) {
		return version
	}
	return ""
}

func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(s))
}
