package diagnose

// Messages of drivers and runtimes that programs in any language print; after all other families, which are more
// specific.

var generalRules = []rule{
	{words: "Out of GPU memory trying to allocate ", kind: DeviceMemory, engine: "cuda.jl", backend: "cuda",
		figures: []figure{{requested, "allocate ", "", false}, {capacity, "usage: …% (…/", "", false}}}, // CUDA.jl, src/pool.jl
	{words: "OutOfMemoryError: Out of memory allocating ", kind: DeviceMemory, engine: "cupy", backend: "cuda",
		figures: []figure{{requested, "allocating ", "", true}, {allocated, "so far: ", "", true}}}, // cupy/cuda/memory.pyx
	{words: "NvMapMemAlloc…error 12", kind: DeviceMemory, engine: "jetson", backend: "cuda",
		fix: &Fix{Now: "other programs and the desktop closed, and the page cache dropped (echo 3 > /proc/sys/vm/drop_caches): GPU and " +
			"system share the memory; a program that tries again with less goes on", Later: "fewer bits or a shorter context"}},
	{words: "Not enough space to allocate …buffer across", kind: DeviceMemory, engine: "tt-metal", // bank_manager.cpp
		figures: []figure{{requested, "to allocate ", "", true}}},
	{words: "Failed to alloc DEVICE memory: ", kind: DeviceMemory, engine: "neuron", backend: "neuron",
		figures: []figure{{requested, "DEVICE memory: ", "", true}}},
	{words: "CUDA_ERROR_OUT_OF_MEMORY", kind: DeviceMemory, engine: "", backend: "cuda", follows: true},
	{words: "HIP_ERROR_OUT_OF_MEMORY", kind: DeviceMemory, engine: "", backend: "hip", follows: true},
	{words: "MEM_OBJECT_ALLOCATION_FAILURE", kind: DeviceMemory, engine: "", backend: "opencl"}, // CL_…, of the OpenCL standard
	{words: "CL_OUT_OF_RESOURCES", kind: DeviceMemory, engine: "", backend: "opencl"},
	{words: "process memory limit exceeded (usage ", kind: DeviceMemory, engine: "mlx", backend: "metal", device: "GPU", place: Working,
		figures: []figure{{allocated, "(usage ", "", false}, {limit, "static ceiling ", "", false}}}, // oMLX
	{words: "Failed to allocate memory for tensor(", kind: HostMemory, engine: "lmcache", backend: "cpu", device: "host",
		fix: &Fix{Now: "a larger pool for chunks of the cache: LMCACHE_MAX_LOCAL_CPU_SIZE, in GB",
			Later: "more host memory, or a tier on disk"}},
	{words: "Failed to allocate CUDA memory with byte size ", kind: WorkspaceSize, engine: "tritonserver", backend: "cuda",
		figures: []figure{{requested, "byte size ", "", true}},
		fix: &Fix{Now: "a larger pool: --cuda-memory-pool-byte-size 0:536870912",
			Later: "nothing: the server goes on with host memory"}},
	{words: "crashed after using all available RAM", kind: HostKilled, engine: "colab", device: "host", fix: sessionFix},
	{words: "tried to allocate more memory than is available", kind: HostKilled, engine: "kaggle", device: "host", fix: sessionFix},
	{words: "MemoryError", whole: true, kind: HostMemory, engine: "", backend: "cpu", device: "host"},
	{words: "MemoryError: std::bad_alloc", kind: HostMemory, engine: "", backend: "cpu", device: "host"},
	{words: "MemoryError: ", kind: HostMemory, engine: "", backend: "cpu", device: "host", follows: true, unless: []string{"OutOfMemory"}},
	{words: "out of memory", whole: true, kind: DeviceMemory, engine: "", follows: true}, // cudaGetErrorString
	{words: "rror…: out of memory", kind: DeviceMemory, engine: "", follows: true},
	{words: "ailed…: out of memory", kind: DeviceMemory, engine: "", follows: true},
	{words: "rror…(out of memory)", kind: DeviceMemory, engine: "", follows: true},
}

var sessionFix = &Fix{Now: "less in host memory: weights that are loaded shard by shard, data in parts, a smaller model",
	Later: "a session with more memory"}
