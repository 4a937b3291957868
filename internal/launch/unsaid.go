package launch

import (
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/plain"
	"github.com/memwall/memwall/engine/vllm"
)

var (
	Ggml    = []string{"llama.cpp", "llama-server", "ollama", "ik_llama.cpp"}
	pytorch = []string{"vllm", "sglang", "tensorrt-llm", "transformers"}
)

// unsaid is all that memwall knows of a plan and that the command running it does not say. Everything else
// comes back when the command is read.
var unsaid = []api.Unsaid{
	{Field: "prompt_tokens", Why: "requests bring their lengths; a server is told the longest sequence alone"},
	{Field: "output_tokens", Why: "requests bring their lengths; a server is told the longest sequence alone"},
	{Field: "sequences", Engines: pytorch, Why: "how many users come is not a setting: the pool decides how many are served at once"},
	{Field: "images", Why: "requests bring their images"},
	{Field: "acceptance", Why: "what share of drafts is accepted is measured, not set"},
	{Field: "reserved_bytes", Engines: []string{"llama.cpp", "llama-server", "ik_llama.cpp", "vllm", "sglang", "tensorrt-llm",
		"transformers"}, Why: "memory that others take is taken by them; no flag keeps it free"},
	{Field: "weights", Why: "the file or checkpoint that is named says how it is stored; only what is made on loading has a flag"},
	{Field: "attention", Engines: []string{"vllm", "sglang", "tensorrt-llm"}, Why: "the engine picks its kernels by the device"},
	{Field: "dp", Engines: []string{"tensorrt-llm", "transformers"}, Why: "each replica is a process of its own"},
	{Field: "context", Engines: []string{"transformers"},
		Why: "max_length of generate says it; a model that generates no text takes what comes"},
	{Field: "draft_model", Engines: []string{"transformers"},
		Why: "assistant_model of generate says it; a model that generates no text drafts none"},
	{Field: "draft_tokens", Engines: []string{"transformers"},
		Why: "num_assistant_tokens of generate says it; a model that generates no text drafts none"},
	{Field: "tp", Engines: []string{"transformers"}, Why: "tp_plan and torchrun say it; the class of a diffusion model takes none"},
	{Field: "pp", Engines: []string{"transformers"}, Why: "processes that share tensors each hold all layers"},
	{Field: "ep", Engines: []string{"transformers"}, Why: "the model's own plan says where its experts lie"},
	{Field: "attention", Engines: []string{"transformers"}, Why: "attn_implementation says it; the class of a diffusion model takes none"},
	{Field: "kv", Engines: []string{"sglang", "tensorrt-llm", "transformers"},
		Why: "auto is the model's own format; of the others only those that have a name can be asked for"},
	{Field: "kv_v", Engines: pytorch, Why: "keys and values are kept in one format"},
	{Field: "draft_model", Engines: []string{"ollama"}, Why: "a draft is part of the model that Ollama runs"},
	{Field: "draft_tokens", Engines: []string{"ollama"}, Why: "a draft is part of the model that Ollama runs"},
	{Field: "draft_kv", Engines: []string{"ollama"}, Why: "a draft is part of the model that Ollama runs"},
	{Field: "draft_kv_v", Engines: []string{"ollama"}, Why: "a draft is part of the model that Ollama runs"},
	{Field: "draft_gpu_layers", Engines: []string{"ollama"}, Why: "a draft is part of the model that Ollama runs"},
	{Field: "mtp", Engines: []string{"ollama"}, Why: "Ollama drafts by itself where the model's file has prediction layers"},
	{Field: "batch_tokens", Engines: []string{"ollama"}, Why: "num_batch says both batches"},
	{Field: "control_vector", Engines: []string{"ollama"}, Why: "Ollama has no such setting"},
	{Field: "op_offload", Engines: []string{"ollama"}, Why: "Ollama has no such setting"},
	{Field: "fit", Engines: []string{"llama.cpp", "llama-server", "ik_llama.cpp"},
		Why: "the command pins context and layers, which leaves --fit nothing to choose"},
	{Field: "fit_target", Engines: []string{"llama.cpp", "llama-server", "ik_llama.cpp"},
		Why: "the command pins context and layers, which leaves --fit nothing to choose"},
	{Field: "fit_ctx", Engines: []string{"llama.cpp", "llama-server", "ik_llama.cpp"},
		Why: "the command pins context and layers, which leaves --fit nothing to choose"},
	{Field: "backend", Engines: Ggml, Why: "the build says it, not the command"},
	{Field: "logit_rows", Engines: Ggml, Why: "the program reserves them by itself: its slots, or its batch"},
	{Field: "dry_run", Engines: Ggml, Why: "which figures memwall shows, not what is run"},
	{Field: "offload", Why: "said in the engine's own words: layers, experts and the cache kept on the host"},
	{Field: "adapters", Engines: []string{"llama.cpp", "llama-server", "ollama", "ik_llama.cpp", "tensorrt-llm", "transformers"},
		Why: "the adapters' files say their rank"},
	{Field: "moe_backend", Engines: []string{"vllm"}, Why: "--moe-backend came with 0.17", Until: vllm.NamesKernels},
	{Field: "sequences", Engines: plain.Names(), Why: "how many users come is not a setting"},
	{Field: "reserved_bytes", Engines: plain.Names(), Why: "memory that others take is taken by them; no flag keeps it free"},
	{Field: "adapters", Engines: plain.Names(), Why: "the adapters' files say their rank"},
	{Field: "attention", Engines: plain.Names(), Why: "the engine picks its kernels by the device"},
	{Field: "mtp", Engines: plain.Names(), Why: "no option of it is described"},
	{Field: "ep", Engines: plain.Names(), Why: "no option of it is described"},
	{Field: "context", Engines: []string{"mlx-lm"}, Why: "its cache grows with what comes"},
	{Field: "max_num_batched_tokens", Engines: []string{"mlx-lm"},
		Why: "mlx_lm.generate, which alone has caches of fewer bits, has no option for it"},
	{Field: "kv_v", Engines: plain.Names(), Why: "keys and values are kept in one format, or in a pair that one option names"},
	{Field: "kv", Engines: plain.Names(), Why: "16 bits are the model's own; of the others only those that have a name can be asked for"},
	{Field: "tp", Engines: []string{"mlx-lm", "exllamav2", "exllamav3"}, Why: "layers are spread over all devices that it is given"},
	{Field: "pp", Engines: []string{"mlx-lm", "exllamav2", "exllamav3", "ktransformers"},
		Why: "layers are spread over all devices that it is given"},
	{Field: "dp", Engines: []string{"mlx-lm", "exllamav2", "exllamav3", "mlc", "tgi", "ktransformers"},
		Why: "each replica is a process of its own"},
	{Field: "draft_model", Engines: []string{"mlc", "tgi", "lmdeploy", "ktransformers"}, Why: "no option of it is described"},
	{Field: "draft_tokens", Engines: []string{"mlc", "tgi", "lmdeploy", "ktransformers"}, Why: "no option of it is described"},
	{Field: "free_gpu_memory_fraction", Engines: []string{"tgi"}, Why: "it takes all but a part of the device"},
	{Field: "engine_args", Why: "what was pasted and has no field stands at the end of the command as it was"},
}

// handedOn are settings that Ollama hands to llama-server by variables, since it runs one.
var handedOn = []string{
	"split_mode", "tensor_split", "override_tensor", "cpu_moe", "kv_unified", "swa_full", "kv_offload", "mlock", "mmproj_offload",
	"cache_ram", "ctx_checkpoints", "fit", "fit_target", "fit_ctx",
}

// UnsaidBy lists what the command line of an engine, at a version if one is named, has no word for.
func UnsaidBy(name string) (out []api.Unsaid) {
	name, text, _ := strings.Cut(name, "@")
	v, err := engine.ParseVersion(text)
	all := unsaid
	for _, field := range handedOn {
		all = append(all[:len(all):len(all)], api.Unsaid{Field: field, Engines: []string{"ollama"},
			Why: "Ollama hands variables on from 0.30 on", Until: engine.V(0, 30, 0)})
	}
	for _, u := range all {
		past := u.Until != (engine.Version{}) && (err != nil || v.AtLeast(u.Until))
		if !past && (u.Engines == nil || slices.Contains(u.Engines, name)) {
			out = append(out, u)
		}
	}
	return out
}
