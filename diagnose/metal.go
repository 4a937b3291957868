package diagnose

// Apple: MLX (mlx/backend/metal/allocator.cpp, eval.cpp), torch's MPS, ggml's Metal command buffers.

var metalRules = []rule{
	{words: "MPS backend out of memory", kind: DeviceMemory, engine: "pytorch", backend: "mps", device: "GPU", figures: []figure{
		{allocated, "MPS allocated: ", "", false}, {beside, "other allocations: ", "", false},
		{limit, "max allowed: ", "", false}, {requested, "Tried to allocate ", "", false}}},
	{words: "[metal::malloc] Attempting to allocate ", kind: AllocationLimit, engine: "mlx", backend: "metal", device: "GPU",
		figures: []figure{
			{requested, "Attempting to allocate ", "", true}, {limit, "maximum allowed buffer size of ", "", true}}},
	{words: "Prefill would require …but metal_cap ceiling", kind: DeviceMemory, engine: "mlx", backend: "metal", device: "GPU",
		place: Prefill, figures: []figure{{requested, "require ~", "", false}, {limit, "ceiling is ", "", false}}}, // oMLX
	{words: "newBufferWith…must not exceed ", kind: AllocationLimit, engine: "llama.cpp", backend: "metal", device: "Metal",
		figures: []figure{{limit, "must not exceed ", "", false}}}, // Metal's API validation
	{words: "[metal::malloc] Resource limit", kind: AllocationLimit, engine: "mlx", backend: "metal", device: "GPU"},
	{words: "[malloc_or_wait] Unable to allocate ", kind: DeviceMemory, engine: "mlx", backend: "metal", device: "GPU",
		figures: []figure{{requested, "Unable to allocate ", "", true}}},
	{words: "[METAL] Command buffer execution failed: Insufficient Memory", kind: DeviceMemory, engine: "mlx", backend: "metal",
		device: "GPU", place: Working},
	{words: "ggml_metal…kIOGPUCommandBufferCallbackErrorOutOfMemory", kind: DeviceMemory, engine: "llama.cpp", backend: "metal",
		device: "Metal", place: Working},
	{words: "error: Insufficient Memory (", kind: DeviceMemory, engine: "llama.cpp", backend: "metal", device: "Metal", place: Working},
	{words: "kIOGPUCommandBufferCallbackErrorOutOfMemory", kind: DeviceMemory, engine: "mlx", backend: "metal", device: "GPU",
		place: Working, follows: true},
	{words: "which is close to the maximum recommended size", kind: MemoryPressure, engine: "mlx", backend: "metal", device: "GPU",
		figures: []figure{{allocated, "model that requires ", "", false}, {limit, "recommended size of ", "", false}}},
	{words: "current allocated size is greater than the recommended max working set size", kind: MemoryPressure, engine: "llama.cpp",
		backend: "metal", device: "Metal"},
}
