package diagnose

// What looks like a lack of memory and is none: limits of one processor, of a request, of a file system.

var notMemoryRules = []rule{
	{words: "out of resource: shared memory", kind: KernelResources, engine: "triton", figures: []figure{{requested, "Required: ", "", true}, {limit, "Hardware limit: ", "", true}},
		fix: &Fix{Now: "smaller blocks or fewer num_stages of the kernel; another attention backend", Later: "a version whose kernels know this device"}},
	{words: "out of resource: ", kind: KernelResources, engine: "triton", figures: []figure{{requested, "Required: ", "", true}, {limit, "Hardware limit: ", "", true}},
		fix: &Fix{Now: "smaller blocks or fewer warps of the kernel; another attention backend", Later: "a version whose kernels know this device"}},
	{words: "uses too much shared data", kind: KernelResources, engine: "cuda", figures: []figure{{requested, "shared data (", "", true}, {limit, ", ", "", true}}},
	{words: "Ran out of memory in memory space vmem", kind: KernelResources, engine: "jax", backend: "tpu", figures: []figure{{requested, "allocation with size ", "", false}, {limit, "and limit ", "", false}},
		fix: &Fix{Now: "smaller blocks of the kernel", Later: "a version whose kernels know this device"}},
	{words: "Ran out of memory in memory space smem", kind: KernelResources, engine: "jax", backend: "tpu"},
	{words: "too many resources requested for launch", kind: KernelResources, engine: "cuda", backend: "cuda"},
	{words: "not enough space in the context's memory pool", kind: FixedPool, engine: "llama.cpp", figures: []figure{{requested, "(needed ", "", true}, {free, "available ", "", true}},
		fix: &Fix{Now: "a build of llama.cpp of this year: the pool was sized by an old estimate", Later: "none is needed then"}},
	{words: "not enough space in the buffer", kind: FixedPool, engine: "llama.cpp", figures: []figure{{requested, "needed ", "", true}, {free, "available ", "", true}}},
	{words: "failed to mlock ", kind: LockLimit, engine: "llama.cpp", device: "host", figures: []figure{{requested, "mlock ", "", false}},
		fix: &Fix{Now: "ulimit -l unlimited, or no --mlock", Later: "a limit of locked memory in the service or the container"}},
	{words: "illegal memory access was encountered", kind: BadAccess, engine: "", backend: "cuda",
		fix: &Fix{Now: "CUDA_LAUNCH_BLOCKING=1 names the kernel; more memory does not help", Later: "a version without the fault"}},
	{words: "maximum context length is ", kind: ContextLength, engine: "vllm", figures: []figure{{available, "context length is ", "", false}, {needed, "you requested ", "", false}, {needed, "has ", "", false}},
		fix: &Fix{Now: "a shorter prompt or fewer new tokens", Later: "a longer --max-model-len, which memwall fit sizes"}},
	{words: "is longer than the maximum model length of ", kind: ContextLength, engine: "vllm", figures: []figure{{available, "model length of ", "", false}}},
	{words: "is greater than the derived max_model_len", kind: ContextLength, engine: "vllm", figures: []figure{{needed, "max_model_len (", "", false}}},
	{words: "exceeds the available context size", kind: ContextLength, engine: "llama.cpp", figures: []figure{{needed, "request (", "", false}, {available, "context size (", "", false}},
		fix: &Fix{Now: "a shorter prompt", Later: "a larger -c, which memwall fit sizes"}},
	{words: "`inputs` tokens + `max_new_tokens` must be <= ", kind: ContextLength, engine: "tgi", figures: []figure{{available, "must be <= ", "", false}}},
	{words: "Input length …exceeds the maximum allowed length", kind: ContextLength, engine: "sglang"},
	{words: "is longer than the model's context length", kind: ContextLength, engine: "sglang", figures: []figure{{needed, "input (", "", false}, {available, "context length (", "", false}}},
	{words: "No space left on device", kind: DiskFull, engine: "", unless: []string{"/dev/shm", "shared memory", "</torch_"},
		fix: &Fix{Now: "room on the disk, or another cache folder: HF_HOME", Later: "fewer checkpoints kept: save_total_limit"}},
	{words: "Disk quota exceeded", kind: DiskFull, engine: "", fix: &Fix{Now: "room in the quota, or another cache folder: HF_HOME"}},
}
