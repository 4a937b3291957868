package diagnose

// llama.cpp and ggml: ggml/src/ggml-backend.cpp, ggml-alloc.c, ggml-cuda, ggml-vulkan, ggml-sycl;
// src/llama-context.cpp, llama-kv-cache.cpp, llama-model.cpp. The backend reports a failure first, then the allocator
// with the exact size, then the caller.

var bufferOf = []figure{{requested, "buffer of size ", "", true}}

var llamacppRules = []rule{
	{words: "failed to allocate …pinned memory", kind: PinnedMemory, engine: "llama.cpp", device: "host",
		figures: []figure{{requested, "failed to allocate ", "", false}}},
	{words: "Failed to allocate pinned memory", kind: PinnedMemory, engine: "llama.cpp", device: "host"},
	{words: "cudaMalloc failed: out of memory", kind: DeviceMemory, engine: "llama.cpp", backend: "cuda",
		figures: append([]figure{{requested, "allocating ", "", false}}, bufferOf...)},
	{words: "hipMalloc failed: out of memory", kind: DeviceMemory, engine: "llama.cpp", backend: "hip",
		figures: []figure{{requested, "allocating ", "", false}}},
	{words: "exceeds device memory allocation limit", kind: AllocationLimit, engine: "llama.cpp", backend: "vulkan", figures: bufferOf},
	{words: "exceeds device buffer size limit", kind: AllocationLimit, engine: "llama.cpp", backend: "vulkan", figures: bufferOf},
	{words: "Device memory allocation of size ", kind: DeviceMemory, engine: "llama.cpp", backend: "vulkan",
		figures: []figure{{requested, "allocation of size ", "", true}}},
	{words: "ErrorOutOfDeviceMemory", kind: DeviceMemory, engine: "llama.cpp", backend: "vulkan", follows: true, figures: bufferOf},
	{words: "can't malloc ", kind: DeviceMemory, engine: "llama.cpp", backend: "sycl",
		figures: append(bufferOf[:1:1], figure{requested, "can't malloc ", "", true})},
	{words: "insufficient memory (attempted to allocate", kind: HostMemory, engine: "llama.cpp", backend: "cpu", device: "host",
		figures: append([]figure{{requested, "attempted to allocate ", "", false}}, bufferOf...)},
	{words: "failed to allocate CPU buffer of size ", kind: HostMemory, engine: "llama.cpp", backend: "cpu", device: "host", follows: true,
		figures: bufferOf},
	{words: "failed to allocate Metal buffer of size ", kind: DeviceMemory, engine: "llama.cpp", backend: "metal", follows: true,
		device: "Metal", figures: bufferOf},
	{words: "failed to allocate Vulkan", kind: DeviceMemory, engine: "llama.cpp", backend: "vulkan", follows: true, figures: bufferOf},
	{words: "failed to allocate ROCm", kind: DeviceMemory, engine: "llama.cpp", backend: "hip", follows: true, figures: bufferOf},
	{words: "failed to allocate SYCL", kind: DeviceMemory, engine: "llama.cpp", backend: "sycl", follows: true, figures: bufferOf},
	{words: "failed to allocate CUDA", kind: DeviceMemory, engine: "llama.cpp", backend: "cuda", follows: true, figures: bufferOf},
	{words: "failed to allocate … buffer of size ", kind: DeviceMemory, engine: "llama.cpp", follows: true, figures: bufferOf},
	{words: "ggml_metal_add_buffer: …failed to allocate ", kind: DeviceMemory, engine: "llama.cpp", backend: "metal", device: "Metal",
		figures: []figure{{requested, "size =", "", false}}}, // until 2023
	{words: "failed to allocate buffer, size =", kind: DeviceMemory, engine: "llama.cpp", backend: "metal", device: "Metal",
		figures: append([]figure{{requested, "size =", "", false}}, bufferOf...)},
	{words: "failed to allocate buffer for kv cache", kind: DeviceMemory, engine: "llama.cpp", follows: true, place: KVCache},
	{words: "alloc_compute_meta: failed", kind: DeviceMemory, engine: "llama.cpp", follows: true, place: Vision}, // tools/mtmd/clip.cpp
	{words: "failed to allocate compute", kind: DeviceMemory, engine: "llama.cpp", follows: true, place: Compute},
	{words: "unable to allocate CPU buffer", kind: HostMemory, engine: "llama.cpp", backend: "cpu", device: "host", follows: true,
		place: Loading},
	{words: "unable to allocate …buffer", kind: DeviceMemory, engine: "llama.cpp", follows: true, place: Loading},
	{words: "failed to fit params to free device memory", kind: DeviceMemory, engine: "llama.cpp", place: Loading},
	{words: "ggml-cuda…: out of memory", kind: DeviceMemory, engine: "llama.cpp", backend: "cuda"},
	{words: "find a memory slot for batch", kind: KVCacheFull, engine: "llama.cpp", place: Decode},
	{words: "failed to find free space in the KV cache", kind: KVCacheFull, engine: "llama.cpp", place: Decode},
	{words: "llama_model_load: …bad_alloc", kind: HostMemory, engine: "llama.cpp", backend: "cpu", device: "host", place: Loading},
}
