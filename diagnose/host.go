package diagnose

// Memory of the host: allocators of C++ and Python, page-locked memory, numpy.

var pinFix = &Fix{Now: "less that is page-locked: a higher ulimit -l, pin_memory off, a smaller offload",
	Later: "more host memory, or nothing offloaded to it"}

var pagingFix = &Fix{Now: "a larger paging file: System, Advanced, Performance, Virtual memory",
	Later: "more host memory, or weights that are loaded one shard after the other"}

// browserFix: WebAssembly has 4 GiB of address space, and a tab a limit of its own.
var browserFix = &Fix{Now: "a smaller model, or a file of fewer bits: a tab of a browser holds about 4 GiB",
	Later: "the same on the GPU (WebGPU), or outside of a browser"}

var hostRules = []rule{
	{words: "ArrayMemoryError: Unable to allocate ", kind: HostMemory, engine: "numpy", backend: "cpu", device: "host",
		figures: []figure{{requested, "Unable to allocate ", "", false}}},
	{words: "Unable to allocate …for an array with shape", kind: HostMemory, engine: "numpy", backend: "cpu", device: "host",
		figures: []figure{{requested, "Unable to allocate ", "", false}}},
	{words: "JavaScript heap out of memory", kind: FixedPool, engine: "node", device: "host",
		fix: &Fix{Now: "a larger heap: NODE_OPTIONS=--max-old-space-size=8192", Later: "the work in parts, or more host memory"}},
	{words: "java.lang.OutOfMemoryError", kind: FixedPool, engine: "java", device: "host",
		fix: &Fix{Now: "a larger heap: -Xmx; outside of it -XX:MaxDirectMemorySize", Later: "the work in parts, or more host memory"}},
	{words: "cannot allocate vector of size ", kind: HostMemory, engine: "r", backend: "cpu", device: "host",
		figures: []figure{{requested, "vector of size ", "", false}},
		fix:     &Fix{Now: "the data in parts, and rm() with gc() before", Later: "more host memory"}},
	{words: "paging file is too small", kind: HostMemory, engine: "windows", device: "host",
		fix: pagingFix},
	// on localized Windows the words differ but the number is the same
	{words: "rror 1455", kind: HostMemory, engine: "windows", device: "host", fix: pagingFix},
	{words: "fatal   : Memory allocation failure", kind: HostMemory, engine: "ptxas", backend: "cpu", device: "host",
		fix: &Fix{Now: "fewer compilers at once: MAX_JOBS, TORCHINDUCTOR_COMPILE_THREADS=1", Later: "more host memory"}},
	{words: "RuntimeError: bad allocation", kind: HostMemory, engine: "", backend: "cpu", device: "host"},
	{words: "std::bad_alloc", kind: HostMemory, engine: "", backend: "cpu", device: "host", follows: true},
	{words: "cannot allocate memory for thread-local data", kind: HostMemory, engine: "", backend: "cpu", device: "host"},
	{words: "[Errno 12] Cannot allocate memory", kind: HostMemory, engine: "", backend: "cpu", device: "host"},
	{words: "fork: Cannot allocate memory", kind: HostMemory, engine: "linux", backend: "cpu", device: "host"},
	{words: "mmap…Cannot allocate memory", kind: HostMemory, engine: "", backend: "cpu", device: "host"},
	{words: "cudaHostAlloc…out of memory", kind: PinnedMemory, engine: "", backend: "cuda", device: "host", fix: pinFix},
	{words: "cudaHostRegister…failed", kind: PinnedMemory, engine: "", backend: "cuda", device: "host", fix: pinFix},
	{words: "cudaMallocHost…out of memory", kind: PinnedMemory, engine: "", backend: "cuda", device: "host", fix: pinFix},
	{words: "to allocate …pinned memory", kind: PinnedMemory, engine: "", device: "host", unless: []string{"ggml_", "WARNING: failed"},
		figures: []figure{{requested, "allocate ", "", false}}, fix: pinFix},
	{words: "memory allocation of …bytes failed", kind: HostMemory, engine: "", backend: "cpu", device: "host",
		figures: []figure{{requested, "memory allocation of ", "", true}}},
	{words: "ErrorOutOfHostMemory", kind: HostMemory, engine: "llama.cpp", backend: "vulkan", device: "host"},
	{words: "alloc failed…: out of memory", kind: DeviceMemory, engine: ""},
	{words: "VK_ERROR_OUT_OF_DEVICE_MEMORY", kind: DeviceMemory, engine: "", backend: "vulkan"},
	{words: "VK_ERROR_OUT_OF_HOST_MEMORY", kind: HostMemory, engine: "", backend: "vulkan", device: "host"},
	{words: "radv/amdgpu: Failed to allocate a buffer", kind: DeviceMemory, engine: "", backend: "vulkan"},
	{words: "radv/amdgpu: …size …: ", kind: DeviceMemory, engine: "", backend: "vulkan", follows: true,
		figures: []figure{{requested, "size…: ", "", true}}},
	{words: "NV_ERR_NO_MEMORY", kind: DeviceMemory, engine: "", backend: "cuda"},          // the kernel's log of NVIDIA's driver
	{words: "vkAllocateMemory failed", kind: DeviceMemory, engine: "", backend: "vulkan"}, // ncnn, src/gpu.cpp
	{words: "Exceeded max size of memory …allocation: ", kind: AllocationLimit, engine: "", // OpenVINO, intel_gpu/runtime/engine.cpp
		figures: []figure{{requested, "requested ", "", true}, {limit, "supported by device is ", "", true}}},
	{words: "fatal error: out of memory allocating heap", kind: HostMemory, engine: "", backend: "cpu", device: "host"}, // Go's runtime
	{words: "$ Torch: not enough memory: you tried to allocate ", kind: HostMemory, engine: "pytorch", backend: "cpu", device: "host",
		figures: []figure{{requested, "tried to allocate ", "", false}}}, // TH/THGeneral.cpp, until 1.4
	{words: "0xc0000017", kind: HostMemory, engine: "windows", device: "host", fix: pagingFix}, // STATUS_NO_MEMORY
	{words: "RangeError: Array buffer allocation failed", kind: HostMemory, engine: "browser", device: "host", fix: browserFix},
	{words: "Cannot allocate Wasm memory", kind: HostMemory, engine: "browser", device: "host", fix: browserFix},
	{words: "fatal error: runtime: out of memory", kind: HostMemory, engine: "", backend: "cpu", device: "host"},
}
