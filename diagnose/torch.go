package diagnose

// PyTorch (c10/cuda/CUDACachingAllocator.cpp, c10/core/CPUAllocator.cpp, aten/src/ATen/mps/MPSAllocator.mm). Until 2.1
// the figures are in brackets, later in sentences.

var torchFigures = []figure{
	{requested, "Tried to allocate ", "", false},
	{capacity, "total capac…of ", "", false}, {capacity, "", " total capacity", false},
	{free, "of which ", "", false}, {free, "", " free;", false}, {free, "", " free)", false},
	{inUse, "this process has ", "", false},
	{allocated, "Of the allocated memory ", "", false}, {allocated, "", " already allocated", false},
	{unallocated, "", " is reserved by PyTorch but unallocated", false}, {reserved, "", " reserved in total by PyTorch", false},
	{unallocated, "", " cached)", false}, {unallocated, "", " cached;", false}, // until 1.3: what is cached less what is allocated
	{pools, "", " allocated in private pools", false},
}

// asyncPool is the wording of cudaMallocAsync's pool.
const asyncPool = "would exceed allowed memory"

var asyncFigures = []figure{
	{allocated, "Currently allocated…:", "", false}, {requested, "Requested…:", "", false}, {capacity, "Device limit…:", "", false},
	{free, "Free (according to CUDA):", "", false},
}

var torchRules = []rule{
	{words: "CUDA out of memory", kind: DeviceMemory, engine: "pytorch", backend: "cuda", figures: torchFigures},
	{words: "memory allocation failed with OOM on device", kind: DeviceMemory, engine: "pytorch", backend: "cuda", early: true,
		figures: []figure{{requested, "trying to allocate ", "", true}, {free, "(free: ", "", true}, {capacity, "total: ", "", true}}},
	{words: "HIP out of memory", kind: DeviceMemory, engine: "pytorch", backend: "hip", figures: torchFigures},
	{words: "XPU out of memory", kind: DeviceMemory, engine: "pytorch", backend: "xpu", figures: torchFigures},
	{words: "NPU out of memory", kind: DeviceMemory, engine: "pytorch", backend: "npu", figures: torchFigures},
	{words: "OutOfMemoryError: Allocation on device", kind: DeviceMemory, engine: "pytorch", backend: "cuda",
		unless: []string{asyncPool}},
	{words: "Exception Message:** Allocation on device", kind: DeviceMemory, engine: "comfyui", backend: "cuda"}, // ComfyUI's report
	{words: "Exception Message:** …out of memory", kind: DeviceMemory, engine: "comfyui", backend: "cuda", figures: torchFigures},
	{words: "CUDA failed with error out of memory", kind: DeviceMemory, engine: "ctranslate2", backend: "cuda"},
	{words: "HSA_STATUS_ERROR_OUT_OF_RESOURCES", kind: DeviceMemory, engine: "pytorch", backend: "hip",
		figures: []figure{{free, "Available Free mem : ", "", false}}},
	{words: "Some modules are dispatched on the CPU or the disk", kind: DeviceMemory, engine: "transformers", place: Loading},
	{words: "had weights offloaded to the disk", kind: DeviceMemory, engine: "transformers", place: Loading},
	{words: "trying to offload the whole model to the disk", kind: DeviceMemory, engine: "transformers", place: Loading}, // accelerate
	{words: "Out of memory error on GPU ", kind: DeviceMemory, engine: "paddle", backend: "cuda",
		figures: []figure{{requested, "Cannot allocate ", "", false}, {allocated, "", " memory has been allocated", false},
			{free, "available memory is only ", "", false}}},
	{words: "is smaller than requested bytes of ", kind: DeviceMemory, engine: "onnxruntime",
		figures: []figure{{free, "Available memory of ", "", true}, {requested, "requested bytes of ", "", true}}},
	{words: asyncPool, kind: DeviceMemory, engine: "pytorch", backend: "cuda", figures: asyncFigures},
	{words: "DefaultCPUAllocator: ", kind: HostMemory, engine: "pytorch", backend: "cpu", device: "host",
		figures: []figure{{requested, "tried to allocate ", "", true}}},
	{words: "CUDA driver error: out of memory", kind: DeviceMemory, engine: "pytorch", backend: "cuda"},
	{words: "Triton Error [CUDA]: out of memory", kind: DeviceMemory, engine: "pytorch", backend: "cuda"},
	{words: "HIP error: out of memory", kind: DeviceMemory, engine: "pytorch", backend: "hip"},
	{words: "CUDA error: out of memory", kind: DeviceMemory, engine: "pytorch", backend: "cuda"},
	{words: "cudaErrorMemoryAllocation", kind: DeviceMemory, engine: "pytorch", backend: "cuda", follows: true},
	{words: "CUBLAS_STATUS_ALLOC_FAILED", kind: DeviceMemory, engine: "pytorch", backend: "cuda", place: Library},
	{words: "CUBLAS_STATUS_NOT_INITIALIZED", kind: LibraryStart, engine: "pytorch", backend: "cuda"},
	{words: "CUDNN_STATUS_NOT_INITIALIZED", kind: LibraryStart, engine: "pytorch", backend: "cuda"},
	{words: "Unable to find a valid cuDNN algorithm", kind: LibraryStart, engine: "pytorch", backend: "cuda"},
	{words: "unable to find an engine to execute this computation", kind: LibraryStart, engine: "pytorch", backend: "cuda"},
	{words: "CUDA error: the resource allocation failed", kind: DeviceMemory, engine: "", backend: "cuda", place: Library}, // cuBLAS
	{words: "HIPBLAS_STATUS_ALLOC_FAILED", kind: DeviceMemory, engine: "pytorch", backend: "hip", place: Library},
	{words: "rocblas_status_memory_error", kind: DeviceMemory, engine: "pytorch", backend: "hip", place: Library},
	{words: "miopenStatusAllocFailed", kind: DeviceMemory, engine: "pytorch", backend: "hip", place: Library},
	{words: "CUSOLVER_STATUS_ALLOC_FAILED", kind: DeviceMemory, engine: "pytorch", backend: "cuda", place: Library},
	{words: "CUSPARSE_STATUS_ALLOC_FAILED", kind: DeviceMemory, engine: "pytorch", backend: "cuda", place: Library},
	{words: "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES", kind: DeviceMemory, engine: "pytorch", backend: "cuda", place: Library},
	{words: "CUFFT_ALLOC_FAILED", kind: DeviceMemory, engine: "pytorch", backend: "cuda", place: Library},
	{words: "hipErrorOutOfMemory", kind: DeviceMemory, engine: "pytorch", backend: "hip", follows: true},
	{words: "synStatus 26", kind: DeviceMemory, engine: "pytorch", backend: "hpu"},
	{words: "EL0004: …allocate memory", kind: DeviceMemory, engine: "", backend: "npu", follows: true}, // CANN
	{words: "PT_DEVMEM Allocation failed for size::", kind: DeviceMemory, engine: "pytorch", backend: "hpu",
		figures: []figure{{requested, "failed for size::", "", true}}},
	{words: "UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY", kind: DeviceMemory, engine: "", backend: "xpu"},
	{words: "UR_RESULT_ERROR_OUT_OF_RESOURCES", kind: DeviceMemory, engine: "", backend: "xpu"}, // of a device that is all but full
	{words: "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY for ", kind: AllocationLimit, engine: "", backend: "xpu",
		figures: []figure{{requested, "DEVICE_MEMORY for ", "", true}},
		fix: &Fix{Now: "where one buffer is beyond 4 GiB, UR_L0_ENABLE_RELAXED_ALLOCATION_LIMITS=1",
			Later: "a driver of this year, or a smaller model"}},
	{words: "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY", kind: DeviceMemory, engine: "", backend: "xpu"},
	{words: "PI_ERROR_OUT_OF_HOST_MEMORY", kind: HostMemory, engine: "", backend: "xpu", device: "host"}, // SYCL until 2024
	{words: "PI_ERROR_OUT_OF_DEVICE_MEMORY", kind: DeviceMemory, engine: "", backend: "xpu"},
	{words: "PI_ERROR_OUT_OF_RESOURCES", kind: DeviceMemory, engine: "", backend: "xpu"},
	{words: "UR_RESULT_ERROR_OUT_OF_HOST_MEMORY", kind: HostMemory, engine: "", backend: "xpu", device: "host"},
	{words: "CUDNN_STATUS_ALLOC_FAILED", kind: DeviceMemory, engine: "pytorch", backend: "cuda", place: Library},
	{words: "Failed to allocate memory for requested buffer of size ", kind: DeviceMemory, engine: "onnxruntime",
		figures: []figure{{requested, "buffer of size ", "", true}}},
	{words: "There is not enough GPU video memory available", kind: DeviceMemory, engine: "pytorch", backend: "directml",
		figures: []figure{{requested, "allocate tensor with ", "", true}}}, // torch-directml
	{words: "memory isn't enough and alloc failed", kind: DeviceMemory, engine: "mindspore", backend: "npu",
		figures: []figure{{requested, "alloc size: ", "", true}}},
	{words: "Tried to allocate …total capacity; …already allocated", kind: DeviceMemory, engine: "pytorch", backend: "cuda",
		follows: true, figures: torchFigures}, // the message without its first words
	{words: "pytorch allocator cache flushes since last step", kind: MemoryPressure, engine: "deepspeed", backend: "cuda"},
}
