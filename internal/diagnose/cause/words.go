package cause

import (
	"slices"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/diagnose"
	"github.com/memwall/memwall/unit"
)

// remedy is what a practitioner changes first if no plan says more, for a kind of failure in certain programs and places. The first
// matching row applies; now and later are in the order to try.
type remedy struct {
	kind    diagnose.Kind
	engines []string // any if empty
	place   diagnose.Place
	now     []string
	later   []string
}

// trainer stands for any program whose text shows training: PyTorch itself both trains and infers.
const trainer = "trainer"

// onMac stands for any program using PyTorch's Metal backend: one device, sharing its memory with the system.
const onMac = "mps"

// trainers are programs that only train.
var trainers = []string{trainer, "deepspeed", "megatron", "torchtune", "torchtitan", "axolotl", "unsloth", "llama-factory", "fsdp"}

const (
	accumulate  = "a smaller micro-batch with more accumulation: the result stays the same"
	checkpoint  = "gradient checkpointing: the forward pass is computed again and hardly saved"
	shardStates = "states that ranks share: FSDP, or ZeRO-1 to ZeRO-3"
	fewerBits   = "weights in fewer bits, or more devices"
)

// remedies are verbal fixes. Flags are the engines' own: vllm serve --help (0.24), sglang.launch_server (0.5), llama-server --help
// (b6500), Ollama's FAQ (0.12), TGI's launcher (3.3).
var remedies = slices.Concat(servingRemedies, localRemedies, pictureRemedies, trainingRemedies, hostRemedies, generalRemedies)

var servingRemedies = []remedy{
	{diagnose.DeviceMemory, []string{"vllm"}, diagnose.Graphs,
		[]string{"a smaller KV pool, so that graphs have room: --gpu-memory-utilization 0.85 where it was 0.90",
			"graphs of fewer sizes: --max-num-seqs, or none: --enforce-eager"},
		[]string{"weights or KV cache in FP8, or --tensor-parallel-size over more GPUs"}},
	{diagnose.DeviceMemory, []string{"vllm"}, diagnose.Sampler,
		[]string{"fewer sequences at once: --max-num-seqs 256 or less", "a smaller KV pool: --gpu-memory-utilization 0.85"},
		[]string{"--tensor-parallel-size over more GPUs"}},
	{diagnose.DeviceMemory, []string{"vllm"}, diagnose.Vision,
		[]string{"fewer or smaller images: --limit-mm-per-prompt, --mm-processor-kwargs",
			"shorter prefill steps: --max-num-batched-tokens 2048"}, []string{"a smaller KV pool: --gpu-memory-utilization 0.85"}},
	{diagnose.DeviceMemory, []string{"vllm"}, diagnose.Profiling,
		[]string{"shorter prefill steps: --max-num-batched-tokens 2048", "fewer sequences at once: --max-num-seqs"},
		[]string{"weights in FP8, AWQ or GPTQ, or --tensor-parallel-size over more GPUs"}},
	{diagnose.DeviceMemory, []string{"vllm"}, diagnose.Loading,
		[]string{"--tensor-parallel-size over more GPUs: each loads a part of the weights"}, []string{"weights in FP8, AWQ or GPTQ"}},
	{diagnose.DeviceMemory, []string{"vllm", "sglang"}, diagnose.Adapters,
		[]string{"fewer adapters at once: --max-loras (SGLang: --max-loras-per-batch), each at its own rank: --max-lora-rank",
			"a smaller KV pool"}, []string{"adapters merged into the weights"}},
	{diagnose.DeviceMemory, []string{"vllm"}, diagnose.Waking,
		[]string{"free what others hold before the engine wakes: of a trainer on the same GPU its parameters, states and cache " +
			"(torch.cuda.empty_cache())", "a smaller KV pool: --gpu-memory-utilization"}, []string{"a device of its own for the engine"}},
	{diagnose.DeviceMemory, []string{"vllm"}, "",
		[]string{"a smaller KV pool, so that activations have room: --gpu-memory-utilization 0.85 where it was 0.90",
			"shorter prefill steps: --max-num-batched-tokens 2048", "fewer sequences at once: --max-num-seqs"},
		[]string{"weights in FP8, AWQ or GPTQ, or --tensor-parallel-size over more GPUs"}},
	{diagnose.DeviceMemory, []string{"sglang"}, diagnose.Loading,
		[]string{"--tp over more GPUs: each loads a part of the weights"}, []string{"weights in FP8, AWQ or GPTQ"}},
	{diagnose.DeviceMemory, []string{"sglang"}, "",
		[]string{"a smaller static share, so that activations and graphs have room: --mem-fraction-static 0.05 to 0.1 lower",
			"shorter prefill steps: --chunked-prefill-size 2048", "graphs of fewer sizes: --cuda-graph-max-bs 32"},
		[]string{"weights or KV cache in FP8, or --tp over more GPUs"}},
	{diagnose.DeviceMemory, []string{"tensorrt-llm"}, "",
		[]string{"a smaller KV pool: free_gpu_memory_fraction (kv_cache_config)",
			"a smaller max_num_tokens, then a smaller max_batch_size"}, []string{"weights in FP8 or 4 bits, or more GPUs (tp_size)"}},
	{diagnose.DeviceMemory, []string{"tensorrt"}, diagnose.Loading,
		[]string{"an engine over more GPUs (tp_size), or of weights in FP8, INT8 or 4 bits", "a GPU that nothing else uses: nvidia-smi " +
			"lists who does"}, []string{"a smaller model"}},
	{diagnose.DeviceMemory, []string{"tensorrt"}, "",
		[]string{"a smaller batch, or smaller largest shapes of the optimization profile: --maxShapes (trtexec)",
			"while an engine is built a smaller workspace: --memPoolSize=workspace:2048 (trtexec), or set_memory_pool_limit",
			"a GPU that nothing else uses: nvidia-smi lists who does"}, []string{"FP16, INT8 or FP8 in place of FP32: --fp16"}},
	{diagnose.DeviceMemory, []string{"tgi"}, "",
		[]string{"a smaller --max-batch-prefill-tokens", "a smaller --max-total-tokens"},
		[]string{"weights in fewer bits (--quantize), or --num-shard over more GPUs"}},
	{diagnose.KVCacheFull, []string{"vllm"}, "",
		[]string{"fewer sequences at once, so that none is computed twice: --max-num-seqs", "a KV cache in FP8: --kv-cache-dtype fp8"},
		[]string{"more GPUs, or weights in fewer bits: both leave more room for the cache"}},
	{diagnose.KVCacheFull, []string{"sglang"}, "",
		[]string{"fewer sequences at once: --max-running-requests", "a KV cache in FP8: --kv-cache-dtype fp8_e4m3",
			"a larger static share, as long as activations have room: --mem-fraction-static"},
		[]string{"more GPUs, or weights in fewer bits: both leave more room for the cache"}},
	{diagnose.KVCacheFull, []string{"llama.cpp", "ollama"}, "",
		[]string{"a larger -c: its tokens are shared by the slots of -np", "fewer slots: -np"},
		[]string{"a cache of 8 bits: -ctk q8_0 -ctv q8_0"}},
}

var localRemedies = []remedy{
	{diagnose.DeviceMemory, []string{onMac}, "",
		[]string{"a smaller batch, shorter sequences or smaller images", "weights and activations in 16 bits",
			"other programs closed: they share the memory; PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 lifts the limit, and the system may swap"},
		[]string{"weights in fewer bits, or a smaller model"}},
	{diagnose.DeviceMemory, []string{"llama.cpp"}, diagnose.Loading,
		[]string{"fewer layers on the GPU: a smaller -ngl; of a mixture of experts --n-cpu-moe keeps only experts on the host",
			"a smaller -c, where -fit or the loader counts it in"}, []string{"a file of fewer bits, or a second GPU (--tensor-split)"}},
	{diagnose.DeviceMemory, []string{"llama.cpp"}, diagnose.KVCache,
		[]string{"a smaller -c", "a cache of 8 bits: -fa on -ctk q8_0 -ctv q8_0"}, []string{"fewer layers on the GPU: a smaller -ngl"}},
	{diagnose.DeviceMemory, []string{"llama.cpp"}, diagnose.Compute,
		[]string{"flash attention, which never makes all scores at once: -fa on", "a smaller -ub 256", "a smaller -c"},
		[]string{"fewer layers on the GPU: a smaller -ngl"}},
	{diagnose.DeviceMemory, []string{"llama.cpp"}, diagnose.Vision,
		[]string{"smaller pictures: --image-max-tokens", "the projector on the host: --no-mmproj-offload"},
		[]string{"fewer layers on the GPU: a smaller -ngl"}},
	{diagnose.DeviceMemory, []string{"llama.cpp"}, diagnose.Working,
		[]string{"a smaller -c and -ub, or fewer layers on the GPU: a smaller -ngl",
			"a higher limit for the GPU: sudo sysctl iogpu.wired_limit_mb=…, which leaves less for other programs"},
		[]string{"a file of fewer bits"}},
	{diagnose.DeviceMemory, []string{"llama.cpp"}, "",
		[]string{"a smaller -c", "fewer layers on the GPU: a smaller -ngl; of a mixture of experts --n-cpu-moe keeps only experts on " +
			"the host"}, []string{"a file of fewer bits, or a second GPU (--tensor-split)"}},
	{diagnose.AllocationLimit, []string{"llama.cpp"}, diagnose.Loading,
		[]string{"the tensor that is too large on the host: --override-tensor, as per_layer_token_embd=CPU; or fewer layers on the GPU: " +
			"a smaller -ngl", "the largest buffer that the driver takes: GGML_VK_FORCE_MAX_ALLOCATION_SIZE=2147483648"},
		[]string{"another back end of the same device, whose driver gives larger buffers"}},
	{diagnose.AllocationLimit, []string{"llama.cpp"}, "",
		[]string{"flash attention, which never makes all scores at once: -fa on", "a smaller -ub 256", "a smaller -c"},
		[]string{"another back end of the same device, whose driver gives larger buffers"}},
	{diagnose.AllocationLimit, []string{"mlx"}, "",
		[]string{"a shorter context: one array is larger than Metal gives", "prompts in smaller steps: --prefill-step-size"},
		[]string{"a KV cache of 8 bits: --kv-bits 8"}},
	{diagnose.DeviceMemory, []string{"ollama"}, diagnose.Loading,
		[]string{"fewer layers on the GPU than Ollama took: num_gpu", "a smaller num_ctx",
			"other models out of memory: ollama ps, ollama stop"},
		[]string{"a model of fewer bits"}},
	{diagnose.DeviceMemory, []string{"ollama"}, "",
		[]string{"a smaller num_ctx", "other models out of memory: ollama ps, ollama stop",
			"OLLAMA_FLASH_ATTENTION=1 with OLLAMA_KV_CACHE_TYPE=q8_0"},
		[]string{"fewer layers on the GPU (num_gpu), or a model of fewer bits"}},
	{diagnose.DeviceMemory, []string{"mlx"}, "",
		[]string{"a shorter context, or a KV cache of 8 bits: --kv-bits 8",
			"a higher limit for the GPU: sudo sysctl iogpu.wired_limit_mb=…, which leaves less for other programs"},
		[]string{"weights in fewer bits"}},
	{diagnose.DeviceMemory, []string{"exllama"}, "",
		[]string{"a shorter context: max_seq_len", "a cache of 8 or 4 bits: cache_mode Q8 or Q4"},
		[]string{"weights of fewer bits, or a second GPU: gpu_split"}},
	{diagnose.HostMemory, []string{"ollama", "lm-studio"}, "",
		[]string{"a shorter context", "other programs and models closed"}, []string{"a smaller model, or a file of fewer bits"}},
	{diagnose.HostMemory, []string{"llama.cpp"}, "",
		[]string{"a smaller -c and -ub", "the file mapped and not copied: no --no-mmap, no --mlock",
			"more layers on the GPU: a larger -ngl"}, []string{"a file of fewer bits, or more host memory"}},
}

// pictureRemedies are for image generators: ComfyUI's options (comfy/cli_args.py), and diffusers' memory guide
// (docs/source/en/optimization/memory.md).
var pictureRemedies = []remedy{
	{diagnose.DeviceMemory, []string{"comfyui"}, diagnose.Pictures,
		[]string{"the picture in tiles: the node VAE Decode (Tiled)", "fewer frames, or a smaller picture, at once"},
		[]string{"the autoencoder on the host: --cpu-vae"}},
	{diagnose.DeviceMemory, []string{"comfyui"}, "",
		[]string{"a model of fewer bits: fp8, or GGUF of 8 to 4",

			"parts that leave the card while others compute: --lowvram; room for the rest: --reserve-vram 1",
			"smaller pictures, or fewer at once"}, []string{"a card with more memory"}},
	{diagnose.DeviceMemory, []string{"diffusers", "diffusion"}, diagnose.Pictures,
		[]string{"the picture in tiles: pipe.vae.enable_tiling(), and enable_slicing() for several",
			"fewer frames, or a smaller picture, at once"},
		[]string{"the autoencoder in 16 bits"}},
	{diagnose.DeviceMemory, []string{"diffusers", "diffusion"}, "",
		[]string{"parts on the host until they compute: pipe.enable_model_cpu_offload()",
			"transformer and text encoder in 8 or 4 bits: fp8, or bitsandbytes' nf4", "smaller pictures, or fewer at once"},
		[]string{"a card with more memory"}},
	{diagnose.DeviceMemory, []string{"ctranslate2"}, "",
		[]string{"weights in 8 bits: compute_type=\"int8_float16\"", "a smaller batch_size, and beam_size=1"}, []string{"a smaller model"}},
}

var trainingRemedies = []remedy{
	{diagnose.DeviceMemory, nil, diagnose.Library,
		[]string{"a smaller batch, or a smaller share for the engine: the library's workspace lies outside of PyTorch's pool"},
		[]string{fewerBits}},
	{diagnose.DeviceMemory, []string{trainer, "deepspeed", "pytorch"}, diagnose.Input,
		[]string{"less that is page-locked: pin_memory off in the offload or the loader, a higher ulimit -l"},
		[]string{"more host memory, or nothing offloaded to it"}},
	{diagnose.DeviceMemory, nil, diagnose.Optimizer,
		[]string{shardStates, "an optimizer that keeps less: 8-bit Adam, Adafactor, or paged on the host"},
		[]string{"adapters alone: LoRA"}},
	{diagnose.DeviceMemory, nil, diagnose.Loss, []string{"a loss that never makes all logits: a fused or chunked cross-entropy " +
		"(Liger Kernel)", accumulate}, []string{"shorter sequences"}},
	{diagnose.DeviceMemory, nil, diagnose.Backward, []string{checkpoint, accumulate},
		[]string{shardStates, "adapters alone: LoRA, or QLoRA"}},
	{diagnose.DeviceMemory, nil, diagnose.Saving, []string{"sharded checkpoints: no rank gathers the whole model"},
		[]string{"checkpoints that are gathered on the host"}},
	{diagnose.DeviceMemory, []string{"transformers"}, diagnose.Loading,
		[]string{"weights in 4 bits that fit (load_in_4bit), or the rest on the host in 8 bits: llm_int8_enable_fp32_cpu_offload=True " +
			"with a device_map"}, []string{"a smaller model, or more devices"}},
	{diagnose.DeviceMemory, nil, diagnose.Loading, []string{"weights over more devices, or partly on the host: device_map=\"auto\""},
		[]string{"weights in fewer bits"}},
	{diagnose.DeviceMemory, trainers, "", []string{accumulate, checkpoint, shardStates},
		[]string{"adapters alone: LoRA, or QLoRA", "an optimizer that keeps less: 8-bit Adam, Adafactor"}},
	{diagnose.DeviceMemory, []string{"pytorch", "transformers"}, diagnose.Attention,
		[]string{"flash attention or SDPA, which never make all scores: attn_implementation=\"sdpa\"",
			"a smaller batch, or shorter sequences"}, []string{"in training " + checkpoint}},
	{diagnose.DeviceMemory, []string{"tensorflow"}, "",
		[]string{"a smaller batch, or shorter sequences", "mixed precision: tf.keras.mixed_precision.set_global_policy(\"mixed_float16\")",
			"in training tf.recompute_grad: the forward pass is computed again and hardly saved"},
		[]string{"more devices: tf.distribute shares the batch among them"}},
	{diagnose.DeviceMemory, []string{"pytorch", "transformers", "paddle"}, "",
		[]string{"a smaller batch; in training more accumulation keeps the result", "in training " + checkpoint,
			"in inference no graph: torch.inference_mode()"}, []string{"weights in 16 or fewer bits, or more devices with FSDP or ZeRO"}},
	{diagnose.DeviceMemory, []string{"jax"}, "", []string{"a smaller batch; in training jax.checkpoint computes the forward pass again"},
		[]string{"arrays sharded over more devices"}},
	{diagnose.LibraryStart, nil, "", []string{"a smaller batch, or a smaller share for the engine: the library's workspace lies outside " +
		"of PyTorch's pool", "when that changes nothing, the driver and CUDA versions"}, []string{fewerBits}},
	{diagnose.MemoryPressure, []string{"llama.cpp"}, "",
		[]string{"a smaller -c", "a higher limit for the GPU: sudo sysctl iogpu.wired_limit_mb=…, which leaves less for other programs"},
		[]string{"a file of fewer bits"}},
	{diagnose.MemoryPressure, []string{"mlx"}, "",
		[]string{"a higher limit for the GPU: sudo sysctl iogpu.wired_limit_mb=…, which leaves less for other programs",
			"a shorter context, or a KV cache of 8 bits: --kv-bits 8"}, []string{"weights in fewer bits"}},
	{diagnose.MemoryPressure, nil, "", []string{accumulate}, []string{checkpoint, shardStates}},
}

var hostRemedies = []remedy{
	{diagnose.HostMemory, []string{"numpy"}, "", []string{"the array in parts: np.memmap, or chunks",
		"a smaller type: float32 is half of float64"}, []string{"more host memory"}},
	{diagnose.HostMemory, append([]string{"pytorch", "transformers"}, trainers...), "",
		[]string{"weights that are loaded shard by shard (safetensors, low_cpu_mem_usage=True), and fewer processes that load at once",
			"fewer DataLoader workers"}, []string{"more host memory, or nothing offloaded to it"}},
	{diagnose.HostMemory, nil, "", []string{"fewer processes at once, files that are mapped, less offload to the host"},
		[]string{"more host memory, or a smaller model"}},
	{diagnose.Killed, nil, "", []string{"dmesg or kubectl describe pod: they say who killed it"},
		[]string{"a higher limit, or less in host memory"}},
	{diagnose.PinnedMemory, nil, "", []string{"nothing, where it is only a warning; else ulimit -l unlimited"},
		[]string{"less that is offloaded to the host"}},
}

// generalRemedies apply to any program.
var generalRemedies = []remedy{
	{diagnose.DeviceMemory, nil, "", []string{"a smaller batch, a shorter context, or fewer sequences at once"}, []string{fewerBits}},
	{diagnose.AllocationLimit, nil, "", []string{"smaller single buffers: a smaller batch, flash attention"},
		[]string{"another back end of the same device"}},
	{diagnose.KVCacheTooSmall, nil, "", []string{"a shorter context"},
		[]string{"a KV cache in FP8, weights in fewer bits, or more devices"}},
	{diagnose.BudgetAboveFree, nil, "", nil, []string{"a device of its own for each server"}},
	{diagnose.KVCacheFull, nil, "", []string{"fewer sequences at once, so that none is computed twice"},
		[]string{"a KV cache in FP8, or more room for it"}},
	{diagnose.Collectives, nil, "", []string{"1 GiB more left free: a smaller share for the engine, or NCCL_BUFFSIZE=1048576"},
		[]string{"fewer communicators"}},
	{diagnose.Growth, nil, "", []string{"keep numbers, not tensors: loss.item(), .detach(), and no list of outputs"},
		[]string{"a bound: a window or a length for caches, a restart between jobs"}},
}

// inWords returns the fixes of the matching row, for what the message and the plan leave open.
func (p *failed) inWords(matches []api.Match) (out []api.Fix) {
	if larger := largerThanAll(p.first, matches); larger.text != "" && len(matches) == 0 && maybeScores(p.first) {
		out = append(out, api.Fix{When: now, Text: "flash attention or SDPA, which never make all scores at once: " +
			"attn_implementation=\"sdpa\"; else smaller images or shorter sequences"})
	}
	r := findRemedy(p.first, p.trains())
	if r == nil {
		return nil
	}
	first, then := r.now, r.later
	switch {
	case farShort(p.first, 1, 2):
		first, then = then, nil
	case farShort(p.first, 4, 5):
		first, then = then, first
	}
	for _, text := range first {
		out = append(out, api.Fix{When: now, Text: text})
	}
	for _, text := range then {
		out = append(out, api.Fix{When: later, Text: text})
	}
	return out
}

// farShort reports whether a host lacks so much of a model's memory that no context compensates: above a fifth, try another model
// first; above half, there is no other way.
func farShort(f *diagnose.Finding, part, of unit.Bytes) bool {
	return f.Kind == diagnose.HostMemory && f.Free.Known && f.Requested.Known && f.Free.Bytes*of < f.Requested.Bytes*part
}

// maybeScores reports whether an unnamed allocation may be a full attention score matrix: nothing else in a model makes one larger
// than a device.
func maybeScores(f *diagnose.Finding) bool {
	elsewhere := []diagnose.Place{diagnose.Optimizer, diagnose.Loss, diagnose.Loading, diagnose.KVCache, diagnose.Saving, diagnose.Adapters,
		diagnose.Input, diagnose.Sampler}
	return f.Kind == diagnose.DeviceMemory && f.Backend != "tpu" && !slices.Contains(elsewhere, f.Place)
}

// findRemedy returns the row of a failure; nil if none matches.
func findRemedy(f *diagnose.Finding, trains bool) *remedy {
	program := f.Engine
	switch {
	case f.Backend == onMac:
		program = onMac
	case trains:
		program = trainer
	}
	for i := range remedies {
		r := &remedies[i]
		if r.kind == f.Kind && (r.place == "" || r.place == f.Place) && (r.engines == nil || slices.Contains(r.engines, program)) {
			return r
		}
	}
	return nil
}
