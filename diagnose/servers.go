package diagnose

// TensorRT and TensorRT-LLM, text-generation-inference, Ollama.

var blocksFix = &Fix{Now: "fewer sequences at once: a smaller max_batch_size",
	Later: "a larger free_gpu_memory_fraction, or a KV cache in fp8"}

// oneOfBoth is Jan's message for any out-of-memory failure of llama.cpp.
const oneOfBoth = "requires more RAM or VRAM than available"

var serverRules = []rule{
	{words: "Requested amount of GPU memory (", kind: DeviceMemory, engine: "tensorrt", backend: "cuda", follows: true,
		figures: []figure{{requested, "GPU memory (", "", true}}},
	{words: "CUDA runtime error in …out of memory", kind: DeviceMemory, engine: "tensorrt-llm", backend: "cuda"},
	{words: "Cuda Runtime (out of memory)", kind: DeviceMemory, engine: "tensorrt", backend: "cuda", follows: true},
	{words: "deserialize…Error Code 2: OutOfMemory", kind: DeviceMemory, engine: "tensorrt", backend: "cuda", place: Loading, follows: true,
		figures: []figure{{requested, "Requested size was ", "", true}}}, // an engine's weights as it is read
	{words: "Error Code 2: OutOfMemory", kind: DeviceMemory, engine: "tensorrt", backend: "cuda", follows: true,
		figures: []figure{{requested, "Requested size was ", "", true}}},
	{words: "Error while allocating …bytes", kind: DeviceMemory, engine: "tensorrt-llm", backend: "cuda",
		figures: []figure{{requested, "Error while allocating ", "", true}}},
	{words: "OutOfMemory: no further information", kind: DeviceMemory, engine: "tensorrt", backend: "cuda", follows: true},
	{words: "Executor creation failed due to insufficient GPU memory", kind: DeviceMemory, engine: "tensorrt-llm", backend: "cuda"},
	{words: "component could not be created: KV cache", kind: DeviceMemory, engine: "tensorrt-llm", backend: "cuda", place: KVCache,
		follows: true},
	{words: "Impossible to fit …kvCache", kind: KVCacheTooSmall, engine: "tensorrt-llm", place: KVCache,
		fix: &Fix{Now: "a shorter max_seq_len", Later: "a larger free_gpu_memory_fraction, or a KV cache in fp8"}},
	{words: "No free block found", kind: KVCacheFull, engine: "tensorrt-llm", place: Decode, fix: blocksFix},
	{words: "t allocate new blocks…No free blocks left", kind: KVCacheFull, engine: "tensorrt-llm", place: Decode, fix: blocksFix},
	{words: "for node due to insufficient workspace", kind: WorkspaceSize, engine: "tensorrt",
		fix: &Fix{Now: "a larger workspace while the engine is built: --memPoolSize=workspace:4096 (trtexec), or set_memory_pool_limit",
			Later: "a GPU that nothing else uses while it is built"}},
	{words: "Impossible to fit any sequence in", kind: KVCacheTooSmall, engine: "tensorrt-llm", place: KVCache},
	{words: "[TM][ERROR] …out of memory", kind: DeviceMemory, engine: "lmdeploy", backend: "cuda",
		fix: &Fix{Now: "a smaller --cache-max-entry-count, the share of free memory for the KV cache",
			Later: "weights in four bits (--model-format awq), or --tp over more devices"}},
	{words: "No enough blocks", kind: KVCacheTooSmall, engine: "lmdeploy", place: KVCache, // turbomind's BlockManager
		fix: &Fix{Now: "shorter sequences (--session-len), or a larger --cache-max-entry-count",
			Later: "a KV cache of 8 or 4 bits: --quant-policy 8"}},
	{words: "Insufficient VRAM…for model and cache", kind: DeviceMemory, engine: "exllama", backend: "cuda", place: KVCache,
		fix: &Fix{Now: "a smaller cache: a shorter max_seq_len, or a cache in Q6 or Q4",
			Later: "a file of fewer bits, or a second GPU (gpu_split)"}},
	{words: "Insufficient GPU memory error: The available", kind: DeviceMemory, engine: "mlc-llm", place: Loading, // serve/config.cc
		figures: []figure{{capacity, "GPU memory is ", "", false}, {allocated, "model weight size (", "", false}},
		fix: &Fix{Now: "weights in fewer bits (q4f16_1), or --tensor-parallel-shards over more GPUs",
			Later: "a larger gpu_memory_utilization"}},
	{words: "Device was lost…insufficient memory", kind: DeviceMemory, engine: "web-llm", backend: "webgpu",
		fix: &Fix{Now: "a smaller model, or a shorter context (context_window_size)", Later: "the same outside of a browser"}},
	{words: "Not enough memory to handle …prefill tokens", kind: DeviceMemory, engine: "tgi", backend: "cuda", place: Profiling,
		figures: []figure{{needed, "Not enough memory to handle ", "", false}},
		fix:     &Fix{Now: "a smaller --max-batch-prefill-tokens", Later: "weights in fewer bits: --quantize"}},
	{words: "You need to decrease `--max-batch", kind: DeviceMemory, engine: "tgi", backend: "cuda", place: Profiling},
	{words: "Not enough memory to run with", kind: DeviceMemory, engine: "tgi", backend: "cuda", place: Profiling},
	{words: "model requires more system memory", kind: HostMemory, engine: "ollama", backend: "cpu", device: "host", place: Loading,
		figures: []figure{
			{requested, "system memory (", "", false}, {free, "than is available (", "", false}}},
	{words: "model request too large for system", kind: HostMemory, engine: "ollama", backend: "cpu", device: "host", place: Loading,
		figures: []figure{
			{requested, "requested=\"", "", false}, {free, "available=\"", "", false}, {free, "available=", "", true}}},
	{words: "llama runner process has terminated: cudaMalloc failed", kind: DeviceMemory, engine: "ollama", backend: "cuda", follows: true},
	{words: "llama runner process has terminated: …out of memory", kind: DeviceMemory, engine: "ollama", backend: "cuda", follows: true},
	{words: oneOfBoth, kind: DeviceMemory, engine: "llama.cpp", place: Loading, follows: true},
	{words: "memory layout cannot be allocated", kind: DeviceMemory, engine: "ollama", place: Loading},
	{words: "due to insufficient system resources", kind: HostMemory, engine: "lm-studio", place: Loading,
		figures: []figure{{requested, "require approximately ", "", false}}},
	{words: "Not enough resources to load the model with the current settings", kind: HostMemory, engine: "lm-studio", place: Loading},
	{words: "llama runner process has terminated: signal: killed", kind: Killed, engine: "ollama", device: "host"},
	{words: "llama runner process no longer running: -1…CUDA error: out of memory", kind: DeviceMemory, engine: "ollama", backend: "cuda"},
}
