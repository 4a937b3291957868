package diagnose

import (
	"cmp"
	"strings"

	"github.com/memwall/memwall/engine/startup"
)

// places tracks tracebacks, progress bars and program names before a failure.
type places struct {
	last   Place
	lastAt int
	engine string
	// engineAt is the line that named the engine: a name in a traceback outweighs one in a header.
	engineAt int
	step     int64
	fixed    bool // allocator segments
}

// near is the number of lines before a message that may belong to its traceback.
const near = 200

// frames maps words in traceback lines to places. The last before a message wins.
var frames = []struct {
	words string
	place Place
}{
	{"create_lora_weights", Adapters}, {"lora/layers", Adapters}, {"add_lora", Adapters},
	{"determine_num_available_blocks", Profiling}, {"determine_available_memory", Profiling}, {"profile_run", Profiling},
	{"_dummy_run", Profiling}, {"profile_num_available", Profiling},
	{"capture_model", Graphs}, {"Capturing CUDA graph", Graphs}, {"Capturing batches", Graphs}, {"capturing graphs", Graphs},
	{"cuda_graph_runner", Graphs}, {"graph_capture", Graphs}, {"CUDAGraph", Graphs},
	{"_dummy_sampler_run", Sampler}, {"sampler.py", Sampler}, {"logits_processor", Sampler}, {"compute_logits", Sampler},
	{"_allocate_kv_cache", KVCache}, {"initialize_kv_cache", KVCache}, {"init_memory_pool", KVCache}, {"cache_engine", KVCache},
	{"memory_pool.py", KVCache}, {"cache_utils.py", KVCache},
	{"make_layers", Loading}, {"self.mlp = ", Loading}, {"self.self_attn = ", Loading}, // modules that are made
	{"load_model", Loading}, {"load_weights", Loading}, {"from_pretrained", Loading}, {"load_state_dict", Loading},
	{"load_checkpoint", Loading}, {"modeling_utils.py", Loading}, {"create_weights", Loading}, {"weight_utils.py", Loading},
	{"dispatch_model", Loading}, {"init_hook", Loading}, {"load_quantized", Loading}, {"_move_model_to_device", Loading},
	{"process_weights_after_loading", Loading}, {"safetensors/torch.py", Loading},
	{"VAEDecode", Pictures}, {"VAEEncode", Pictures}, {"autoencoder", Pictures}, {"AutoencoderKL", Pictures}, {"vae.decode", Pictures},
	{"first_stage_model", Pictures}, {"load_t5", Loading}, {"UNETLoader", Loading}, {"CheckpointLoader", Loading},
	{"visual", Vision}, {"vision_tower", Vision}, {"image_encoder", Vision}, {"get_image_features", Vision}, {"multimodal", Vision},
	{"scaled_dot_product", Attention}, {"eager_attention", Attention}, {"softmax", Attention}, {"self_attn", Attention},
	{"torch.matmul(query", Attention}, {"attention_scores", Attention}, {"attn_weights", Attention}, {"multi_head_attention", Attention},
	{"gate_up_proj", MLP}, {"self.mlp", MLP}, {"down_proj", MLP}, {"SiluAndMul", MLP}, {"fused_moe", MLP}, {"fused_experts", MLP},
	{"cross_entropy", Loss}, {"ForCausalLMLoss", Loss}, {"loss_function", Loss}, {"loss_utils.py", Loss},
	{"logits.float()", Loss}, {"lm_head(", Loss},
	{"per_token_logps", Loss}, {"logits_to_keep", Loss}, {"log_softmax", Loss}, {"selective_log_softmax", Loss}, {"compute_loss", Loss},
	{"logsumexp", Loss},
	{"preds_host", Evaluation}, {"nested_concat", Evaluation}, // transformers/trainer.py: logits of all samples
	{"gptq/quantizer.py", Calibration}, {"fasterquant", Calibration}, {"awq/quantize/quantizer.py", Calibration},
	{"llmcompressor/", Calibration}, {"auto_round/", Calibration},
	{"loss.backward", Backward}, {"run_backward", Backward}, {".backward(", Backward}, {"Backward0", Backward},
	{"fp32_partition", Optimizer}, {"optimizer.step", Optimizer}, {"exp_avg", Optimizer}, {"_init_group", Optimizer},
	{"adamw.py", Optimizer}, {"adam.py", Optimizer}, {"optimizer/optimizer.py", Optimizer}, {"distrib_optimizer", Optimizer},
	{"initialize_optimizer_states", Optimizer}, {"single_partition_of_fp32", Optimizer},
	{"save_checkpoint", Saving}, {"save_pretrained", Saving}, {"_save_checkpoint", Saving}, {"gather_full_state", Saving},
	{"_state_dict_utils", Saving}, {"save_parameter_state", Saving}, {"get_parameter_state", Saving},
	{"summon_full_params", Saving}, {"full_state_dict", Saving},
	{"returning from state_dict()", Saving}, // FSDP's warning of a tensor that it could not clone
	{"pin_memory", Input}, {"forward_extend", Prefill}, {"forward_decode", Decode},
	{".forward(", Forward}, {"training_step", Forward},
}

// loadingBar begins a progress bar, whose unfinished line a message may overtake.
const loadingBar = "Loading safetensors checkpoint shards"

// stages maps programs' progress messages outside tracebacks to places.
var stages = []struct {
	words string
	place Place
}{
	{"Starting profile run for multi-modal", Vision}, {"multi-modal embeddings in the worst case", Vision},
	{"Capturing the model for CUDA graphs", Graphs}, {"Capturing cudagraphs for decoding", Graphs}, {"Graph capturing finished", Nowhere},
	{"uda graph begin", Graphs}, {"CUDA graph begin", Graphs}, {"uda graph end", Nowhere}, // SGLang
	{"clip_model_load", Vision}, {"warmup with image size", Vision},
	{loadingBar, Loading}, {"Starting to load model", Loading}, {"Load weight begin", Loading},
	{"Model loading took", Nowhere}, {"Loading model weights took", Nowhere}, {"Load weight end", Nowhere},
	{"KV Cache is allocated", Nowhere}, {"[GraphReduction]", Building},
	{"- **Node Type:** VAE", Pictures}, {"Warning: Ran out of memory when regular VAE", Pictures},
}

// makers are words that only one program prints, most reliable first.
var makers = []struct{ words, engine string }{
	{"sglang", "sglang"}, {"TpModelWorker", "sglang"}, {"text_generation_server", "tgi"}, {"text-generation-launcher", "tgi"},
	{"text_generation_launcher", "tgi"}, {"text_generation_router", "tgi"},
	{"text_generation_client", "tgi"}, {"[TRT-LLM]", "tensorrt-llm"},
	{"[TensorRT-LLM]", "tensorrt-llm"}, {"tensorrt_llm", "tensorrt-llm"}, {"trtllm-", "tensorrt-llm"},
	{"vllm/", "vllm"}, {"vllm.", "vllm"}, {"vllm_ascend", "vllm"}, {"VllmWorker", "vllm"},
	{" model_runner.py:", "vllm"}, {" worker_base.py:", "vllm"}, {" executor_base.py:", "vllm"},
	{"EngineCore", "vllm"}, {"multiproc_executor.py", "vllm"}, {"multiproc_worker_utils.py", "vllm"}, {"[core.py:", "vllm"},
	{"[gpu_model_runner.py:", "vllm"}, {"[gpu_worker.py:", "vllm"}, {"(Worker_TP", "vllm"}, {"vllm serve", "vllm"},
	{"vLLM API server", "vllm"},
	{"exllamav2", "exllama"}, {"exllamav3", "exllama"}, {"ollama", "ollama"}, {"llama runner", "ollama"},
	{"llama_model_loader:", "llama.cpp"},
	{"ggml_cuda_init", "llama.cpp"}, {"llama-server", "llama.cpp"}, {"llama_context:", "llama.cpp"}, {"ggml-cuda", "llama.cpp"},
	{"ggml-sycl", "llama.cpp"},
	{"ggml_", "llama.cpp"},
	{"deepspeed", "deepspeed"}, {"DeepSpeed", "deepspeed"}, {"megatron/", "megatron"}, {"pretrain_gpt.py", "megatron"},
	{"torchtune", "torchtune"}, {"torchtitan", "torchtitan"}, {"axolotl", "axolotl"}, {"unsloth", "unsloth"},
	{"llamafactory", "llama-factory"}, {"distributed/fsdp", "fsdp"},
	{"transformers/trainer.py", "transformers"}, {"trl/trainer", "transformers"}, {"transformers/models", "transformers"},
	{"ComfyUI", "comfyui"}, {"comfyui", "comfyui"}, {"/comfy/", "comfyui"}, {"Got an OOM, unloading", "comfyui"},
	{"Prompt executed in", "comfyui"}, {"diffusers", "diffusers"}, {"load_t5", "diffusion"}, {"load_flow_model", "diffusion"},
	{"stable-diffusion", "diffusion"}, {"ctranslate2", "ctranslate2"}, {"faster_whisper", "ctranslate2"},
	{"jaxlib", "jax"}, {"jax/_src", "jax"}, {"jax.errors", "jax"}, {"tensorflow/", "tensorflow"},
}

// broader are libraries that others build on, so that a more specific name takes precedence.
var broader = map[string]bool{"transformers": true, "fsdp": true, "": true}

// see processes any line.
func (p *places) see(text string, in *hits, at int) {
	trace := traced(text)
	if trace {
		if f := frameOf(text, in); f != Nowhere {
			p.last, p.lastAt = f, at
		}
	}
	for i, id := range words().stages {
		if in.has(id) && strings.Contains(text, stages[i].words) {
			p.last, p.lastAt = stages[i].place, at
		}
	}
	p.fixed = p.fixed || windowsPath(text) || strings.Contains(text, "expandable_segments not supported")
	if at <= headLines || trace {
		p.name(text, in, at)
	}
	p.progress(text)
}

// traced reports whether a line belongs to a traceback, possibly after a rank or logger prefix: "[rank1]:
// loss.backward()", "ERROR 04-09 05:39:54 [core.py:390] self.mlp = …".
func traced(text string) bool {
	return strings.Contains(text, "File \"") || strings.HasPrefix(text, "    ") || strings.HasPrefix(text, "Capturing ") ||
		strings.Contains(text, "]     ") || strings.Contains(text, "]:     ")
}

// windowsPath reports whether a text contains a drive letter, a colon and a backslash.
func windowsPath(text string) bool {
	i := strings.Index(text, `:\`)
	return i > 0 && letter(text[i-1]) && (i == 1 || !letter(text[i-2]))
}

func (p *places) name(text string, in *hits, at int) {
	for i, id := range words().makers {
		m := &makers[i]
		if !in.has(id) || !strings.Contains(text, m.words) {
			continue
		}
		if broader[p.engine] || within[m.engine] == p.engine || !broader[m.engine] && at-p.engineAt > near {
			p.engine = m.engine
		}
		if p.engine == m.engine {
			p.engineAt = at
		}
		return
	}
}

// frameOf returns the place whose words end last in a line, preferring the longest: log_softmax is not softmax.
func frameOf(text string, in *hits) (last Place) {
	at, long := -1, 0
	for n, id := range words().frames {
		if !in.has(id) {
			continue
		}
		i, size := strings.LastIndex(text, frames[n].words), len(frames[n].words)
		if end := i + size; i >= 0 && (end > at || end == at && size > long) {
			last, at, long = frames[n].place, end, size
		}
	}
	return last
}

// progress parses the step in a progress bar: " 312/10000 [".
func (p *places) progress(text string) {
	bar := strings.IndexByte(text, '[')
	slash := strings.LastIndexByte(text[:max(0, bar)], '/')
	if slash < 1 || !strings.Contains(text, "%|") {
		return
	}
	from := slash
	for from > 0 && text[from-1] >= '0' && text[from-1] <= '9' {
		from--
	}
	if n, ok := startup.Integer(text[from:slash]); ok && slash-from < 12 {
		p.step = n
	}
}

// placed determines what the program was doing, and which program it was if the message does not say.
func (s *scanner) placed(f *Finding, text string, in *hits) {
	if f.Place == Nowhere {
		f.Place = frameOf(text, in)
	}
	if f.Place == Nowhere && s.at-s.lastAt <= near {
		f.Place = s.last
	}
	s.last = Nowhere
	if s.places.engine != "" && (f.Engine == "pytorch" || f.Engine == "") {
		f.Engine = s.places.engine
	}
	s.made(f, text, in)
}

// within maps programs to those they run and whose messages they pass on.
var within = map[string]string{"ollama": "llama.cpp", "tensorrt-llm": "tensorrt"}

// libraries are loaded by programs of other names.
var libraries = map[string]bool{"pytorch": true, "tensorrt": true, "": true}

// made determines the program from the message itself, if its words are those of a library.
func (s *scanner) made(f *Finding, text string, in *hits) {
	if f.rule != nil && libraries[f.rule.engine] {
		f.Engine = cmp.Or(makerOf(text, in), f.Engine)
	}
	if f.Engine == within[s.places.engine] {
		f.Engine = s.places.engine
	}
}

func makerOf(text string, in *hits) string {
	for i, id := range words().makers {
		if in.has(id) && strings.Contains(text, makers[i].words) {
			return makers[i].engine
		}
	}
	return ""
}
