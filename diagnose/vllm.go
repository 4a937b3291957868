package diagnose

// vLLM: vllm/v1/core/kv_cache_utils.py, v1/worker/gpu_worker.py, worker/worker.py, core/scheduler.py,
// v1/worker/gpu_model_runner.py.

// noPoolFix applies if weights and activations leave no memory for the cache.
var noPoolFix = &Fix{Now: "more of the device: --gpu-memory-utilization 0.95, and a smaller --max-num-batched-tokens",
	Later: "weights in fewer bits, or tensor parallelism over more devices"}

var vllmRules = []rule{
	{words: "To serve at least one request with the model", kind: KVCacheTooSmall, engine: "vllm", place: KVCache, figures: []figure{
		{needed, "max seq len (", "", false}, {requested, "), (", "", false}, {requested, "), ", "", false},
		{requested, "", " KV cache is needed", false}, {free, "available KV cache memory (", "", false},
		{longest, "maximum model length is ", "", false}},
		fix: &Fix{Now: "a shorter --max-model-len", Later: "a KV cache in fp8, or more of the device: --gpu-memory-utilization"}},
	{words: "is larger than the maximum number of tokens that can be stored in KV cache (", kind: KVCacheTooSmall, engine: "vllm",
		place: KVCache, figures: []figure{
			{needed, "max seq len (", "", false}, {available, "stored in KV cache (", "", false},
			{longest, "stored in KV cache (", "", false}},
		fix: &Fix{Now: "a shorter --max-model-len", Later: "a KV cache in fp8, or more of the device: --gpu-memory-utilization"}},
	{words: "memory reserved for KV Cache is -", kind: KVCacheTooSmall, engine: "vllm", place: KVCache, // worker/worker.py until 0.9
		figures: []figure{{requested, "reserved for KV Cache is -", "", false}, {others, "non_torch_memory takes ", "", false}},
		fix: &Fix{Now: "more of the device: --gpu-memory-utilization, and a smaller --max-num-batched-tokens",
			Later: "weights in fewer bits, or tensor parallelism over more devices"}},
	{words: "Available KV cache memory: -", kind: KVCacheTooSmall, engine: "vllm", place: KVCache, early: true, fix: noPoolFix},
	{words: "No available memory for the cache blocks", kind: KVCacheTooSmall, engine: "vllm", place: KVCache, fix: noPoolFix},
	{words: "Free memory on device …less than desired GPU memory utilization (", kind: BudgetAboveFree, engine: "vllm", place: Loading,
		figures: []figure{
			{free, "Free memory on device…(", "", false}, {capacity, "Free memory on device…/", "", false},
			{share, "utilization (", "", false},
			{requested, "utilization (…, ", "", false}},
		fix: &Fix{Now: "stop what else uses the device, or take a smaller share: --gpu-memory-utilization",
			Later: "a device of its own for each server"}},
	{words: "occurred when warming up sampler with", kind: DeviceMemory, engine: "vllm", backend: "cuda", place: Sampler,
		figures: torchFigures,
		fix: &Fix{Now: "fewer sequences at once: --max-num-seqs 256, or 64",
			Later: "a smaller share of the device: --gpu-memory-utilization"}},
	{words: "exceeds available Mamba cache blocks (", kind: KVCacheTooSmall, engine: "vllm", place: Graphs,
		figures: []figure{{needed, "max_num_seqs (", "", false}, {available, "Mamba cache blocks (", "", false}},
		fix: &Fix{Now: "fewer sequences at once: --max-num-seqs, of which each takes a block of states",
			Later: "more of the device: --gpu-memory-utilization"}},
	{words: "Too large swap space", kind: HostMemory, engine: "vllm", device: "host",
		figures: []figure{{requested, "Too large swap space. ", "", false}, {free, "out of the ", "", false}},
		fix:     &Fix{Now: "a smaller --swap-space: it is taken for each GPU", Later: "more host memory"}},
	{words: "CUDA Error: out of memory at …cumem_allocator", kind: DeviceMemory, engine: "vllm", backend: "cuda", place: Waking},
	{words: "wake_up …CUDA Error: out of memory", kind: DeviceMemory, engine: "vllm", backend: "cuda", place: Waking},
	{words: "Error in memory profiling", kind: Disturbed, engine: "vllm", place: Profiling,
		figures: []figure{{free, "current free memory ", "", false}},
		fix: &Fix{Now: "start it again while nothing else starts or ends on the device: one server after the other",
			Later: "a device of its own, or a KV cache of given size: --kv-cache-memory"}},
	{words: "is preempted by PreemptionMode", kind: KVCacheFull, engine: "vllm", place: Decode},
	{words: "is preempted because there is not enough KV cache space", kind: KVCacheFull, engine: "vllm", place: Decode},
}
