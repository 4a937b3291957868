package diagnose

// SGLang: python/sglang/srt/managers/schedule_batch.py, model_executor/model_runner.py, mem_cache; flashinfer.

var sglangRules = []rule{
	{words: "Decode out of memory happened", kind: KVCacheFull, engine: "sglang", place: Decode},
	{words: "KV cache pool is full. Retract requests", kind: KVCacheFull, engine: "sglang", place: Decode},
	{words: "Not enough…memory. Please try …--mem-fraction-static", kind: KVCacheTooSmall, engine: "sglang", place: KVCache,
		fix: &Fix{Now: "more of the device for weights and cache: --mem-fraction-static 0.9",
			Later: "weights in fewer bits, or tensor parallelism over more devices"}},
	{words: "Not enough memory; …--mem-fraction-static", kind: KVCacheTooSmall, engine: "sglang", place: KVCache,
		fix: &Fix{Now: "more of the device for weights and cache: --mem-fraction-static 0.9",
			Later: "weights in fewer bits, or tensor parallelism over more devices"}},
	{words: "Loaded weights leave no GPU memory for the KV cache", kind: KVCacheTooSmall, engine: "sglang", place: KVCache,
		figures: []figure{{share, "Raise --mem-fraction-static above ", "", false}},
		fix: &Fix{Now: "a larger --mem-fraction-static, as long as nothing else holds the device: nvidia-smi lists who does",
			Later: "weights in fewer bits, or tensor parallelism over more devices"}},
	{words: "Prefill out of memory. Try to lower your batch size", kind: DeviceMemory, engine: "sglang", place: Prefill,
		figures: []figure{{needed, "Try to allocate ", "", false}, {available, "Available tokens: ", "", false}}},
	{words: "Decode out of memory. Try to lower your batch size", kind: KVCacheTooSmall, engine: "sglang", place: Decode,
		figures: []figure{{needed, "Try to allocate ", "", false}, {available, "Available tokens: ", "", false}},
		fix: &Fix{Now: "fewer sequences at once: --max-running-requests",
			Later: "a KV cache in FP8 (--kv-cache-dtype fp8_e4m3), or a larger --mem-fraction-static"}},
	{words: "Out of memory even after retracting", kind: KVCacheTooSmall, engine: "sglang", place: Decode},
	{words: "Capture cuda graph failed…ut of memory", kind: DeviceMemory, engine: "sglang", backend: "cuda", place: Graphs,
		figures: torchFigures,
		fix: &Fix{Now: "a smaller --mem-fraction-static, and graphs for fewer sequences: --cuda-graph-max-bs",
			Later: "weights or KV cache in fp8"}},
	{words: "PagedKVCache failed with error out of memory", kind: DeviceMemory, engine: "sglang", backend: "cuda", place: Attention},
	{words: "The memory capacity is unbalanced", kind: BudgetAboveFree, engine: "sglang", place: Loading,
		fix: &Fix{Now: "stop what else uses one of the devices", Later: "devices that no one else uses"}},
	{words: "Failed to allocate memory for batch_…AlignedAllocator", kind: WorkspaceSize, engine: "sglang", // flashinfer until 0.2
		figures: []figure{{requested, " with size ", "", true}}},
	{words: "Buffer overflow when allocating memory for ", kind: WorkspaceSize, engine: "sglang",
		figures: []figure{{requested, " with size ", "", true}, {limit, "but only ", "", true}}},
}
