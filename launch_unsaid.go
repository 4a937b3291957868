package memwall

import (
	"slices"
	"strings"
)

// Unsaid is a field of a plan that an engine's command line has no word for, and why.
type Unsaid struct {
	Field   string
	Engines []string // nil for all
	Why     string
}

var (
	ggml    = []string{"llama.cpp", "llama-server", "ollama"}
	pytorch = []string{"vllm", "sglang", "tensorrt-llm", "transformers"}
)

// unsaid is all that memwall knows of a plan and that the command running it does not say. Everything else
// comes back when the command is read.
var unsaid = []Unsaid{
	{"prompt_tokens", nil, "requests bring their lengths; a server is told the longest sequence alone"},
	{"output_tokens", nil, "requests bring their lengths; a server is told the longest sequence alone"},
	{"sequences", pytorch, "how many users come is not a setting: the pool decides how many are served at once"},
	{"images", nil, "requests bring their images"},
	{"acceptance", nil, "what share of drafts is accepted is measured, not set"},
	{"reserved_bytes", []string{"llama.cpp", "llama-server", "vllm", "sglang", "tensorrt-llm", "transformers"}, "memory that others take is taken by them; no flag keeps it free"},
	{"weights", nil, "the file or checkpoint that is named says how it is stored; only what is made on loading has a flag"},
	{"attention", []string{"vllm", "sglang", "tensorrt-llm"}, "the engine picks its kernels by the device"},
	{"dp", []string{"tensorrt-llm", "transformers"}, "each replica is a process of its own"},
	{"context", []string{"transformers"}, "max_length of generate says it; a model that generates no text takes what comes"},
	{"draft_model", []string{"transformers"}, "assistant_model of generate says it; a model that generates no text drafts none"},
	{"draft_tokens", []string{"transformers"}, "num_assistant_tokens of generate says it; a model that generates no text drafts none"},
	{"tp", []string{"transformers"}, "tp_plan and torchrun say it; the class of a diffusion model takes none"},
	{"pp", []string{"transformers"}, "processes that share tensors each hold all layers"},
	{"ep", []string{"transformers"}, "the model's own plan says where its experts lie"},
	{"attention", []string{"transformers"}, "attn_implementation says it; the class of a diffusion model takes none"},
	{"kv", []string{"sglang", "tensorrt-llm", "transformers"}, "auto is the model's own format; of the others only those that have a name can be asked for"},
	{"kv_v", pytorch, "keys and values are kept in one format"},
	{"draft_model", []string{"ollama"}, "a draft is part of the model that Ollama runs"},
	{"draft_tokens", []string{"ollama"}, "a draft is part of the model that Ollama runs"},
	{"draft_kv", []string{"ollama"}, "a draft is part of the model that Ollama runs"},
	{"draft_kv_v", []string{"ollama"}, "a draft is part of the model that Ollama runs"},
	{"draft_gpu_layers", []string{"ollama"}, "a draft is part of the model that Ollama runs"},
	{"mtp", []string{"ollama"}, "Ollama drafts by itself where the model's file has prediction layers"},
	{"batch_tokens", []string{"ollama"}, "num_batch says both batches"},
	{"control_vector", []string{"ollama"}, "Ollama has no such setting"},
	{"op_offload", []string{"ollama"}, "Ollama has no such setting"},
	{"fit", []string{"llama.cpp", "llama-server"}, "the command pins context and layers, which leaves --fit nothing to choose"},
	{"fit_target", []string{"llama.cpp", "llama-server"}, "the command pins context and layers, which leaves --fit nothing to choose"},
	{"fit_ctx", []string{"llama.cpp", "llama-server"}, "the command pins context and layers, which leaves --fit nothing to choose"},
	{"logit_rows", ggml, "the program reserves them by itself: its slots, or its batch"},
	{"dry_run", ggml, "which figures memwall shows, not what is run"},
	{"offload", nil, "said in the engine's own words: layers, experts and the cache kept on the host"},
	{"adapters", []string{"llama.cpp", "llama-server", "ollama", "tensorrt-llm", "transformers"}, "the adapters' files say their rank"},
	{"engine_args", nil, "what was pasted and has no field stands at the end of the command as it was"},
}

// UnsaidBy lists what the command line of an engine has no word for.
func UnsaidBy(engine string) (out []Unsaid) {
	name, _, _ := strings.Cut(engine, "@")
	for _, u := range unsaid {
		if u.Engines == nil || slices.Contains(u.Engines, name) {
			out = append(out, u)
		}
	}
	return out
}
