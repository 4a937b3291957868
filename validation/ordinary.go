package validation

import (
	"fmt"
	"strings"
)

// Start-up logs of servers that ran, made of the figures of the rows in the words of the engines. Words that a failure
// has too stand in them as they do in the engines' own: settings of the allocator, advice for failures that may come.

// ordinary logs, one for each row of a log whose plan ran.
func ordinary(sets []Set) (out []string) {
	for i := range sets {
		write := map[string]func(*Row) string{"vllm": vllmLog, "sglang": sglangLog, "llama-logs": llamaLog}[sets[i].Name]
		for j := range sets[i].Rows {
			r := &sets[i].Rows[j]
			failed := strings.HasPrefix(r.got("kv_available", ""), "-") // no room for the cache was left
			if write != nil && len(r.Got) > 0 && !failed {
				out = append(out, write(r))
			}
		}
	}
	return out
}

// got is a figure as the row has it, or a stand-in.
func (r *Row) got(name, otherwise string) string {
	if v, ok := r.Got[name]; ok {
		return v.Text
	}
	return otherwise
}

func vllmLog(r *Row) string {
	var b strings.Builder
	add := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	add("INFO 11-02 09:00:01 [api_server.py:1896] vLLM API server version 0.12.0")
	add("INFO 11-02 09:00:01 [__init__.py:216] non-default args: {'model': '%s', 'max_model_len': %d, 'gpu_memory_utilization': 0.9}",
		r.Ask.Model, r.Ask.Context)
	add("WARNING 11-02 09:00:02 [interface.py:171] Using 'pin_memory=False' as WSL is detected. This may slow down the performance.")
	add("(EngineCore_DP0 pid=77) INFO 11-02 09:00:08 [core.py:77] Initializing a V1 LLM engine with config: model='%s', kv_cache_dtype=auto, PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", r.Ask.Model)
	add("(EngineCore_DP0 pid=77) INFO 11-02 09:00:31 [gpu_model_runner.py:2653] Model loading took %s and 21.137 seconds",
		r.got("weights", "14.99 GiB"))
	add("(EngineCore_DP0 pid=77) INFO 11-02 09:00:58 [gpu_worker.py:298] Available KV cache memory: %s", r.got("kv_available", "5.11 GiB"))
	add("(EngineCore_DP0 pid=77) INFO 11-02 09:00:58 [kv_cache_utils.py:1087] GPU KV cache size: %s tokens", r.got("tokens", "41,840"))
	add("(EngineCore_DP0 pid=77) INFO 11-02 09:00:58 [kv_cache_utils.py:1091] Maximum concurrency for %d tokens per request: %sx",
		max(1, r.Ask.Context), r.got("concurrency", "5.11"))
	add("INFO 11-02 09:00:59 [cuda_graph_runner.py:61] CUDA graphs can take additional memory. If you are running out of memory, consider decreasing `gpu_memory_utilization` or enforcing eager mode. If out-of-memory error occurs during cudagraph capture, consider decreasing `gpu_memory_utilization` or switching to eager mode.")
	add("(EngineCore_DP0 pid=77) INFO 11-02 09:01:09 [gpu_model_runner.py:3480] Graph capturing finished in 9 secs, took %s",
		r.got("graphs", "0.55 GiB"))
	add("INFO 11-02 09:01:09 [gpu_worker.py:391] Free memory on device (78.60/79.11 GiB) on startup. Desired GPU memory utilization is (0.9, 71.20 GiB). Actual usage is %s for weight.", r.got("weights", "14.99 GiB"))
	add("INFO 11-02 09:02:00 [loggers.py:127] Engine 000: Avg prompt throughput: 137.0 tokens/s, Avg generation throughput: 200.9 tokens/s, Running: 9 reqs, Waiting: 0 reqs, GPU KV cache usage: 13.7%%, Prefix cache hit rate: 41.0%%")
	return b.String()
}

func sglangLog(r *Row) string {
	var b strings.Builder
	add := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	add("[2025-11-02 09:00:01] server_args=ServerArgs(model_path='%s', context_length=None, mem_fraction_static=0.88, chunked_prefill_size=8192, disable_cuda_graph=False)", r.Ask.Model)
	add("[2025-11-02 09:00:09 TP0] Load weight begin. avail mem=%s GB", r.got("avail_before", "78.58"))
	add("[2025-11-02 09:00:41 TP0] Load weight end. type=LlamaForCausalLM, dtype=torch.bfloat16, avail mem=%s GB, mem usage=%s.",
		r.got("avail_after", "63.41"), r.got("weights", "15.08 GB"))
	add("[2025-11-02 09:00:42 TP0] KV Cache is allocated. #tokens: %s, K size: 26.59 GB, V size: 26.59 GB", r.got("tokens", "435685"))
	add("[2025-11-02 09:00:42 TP0] Memory pool end. avail mem=9.35 GB")
	add("[2025-11-02 09:00:43 TP0] Capture cuda graph begin. This can take up to several minutes. avail mem=8.79 GB")
	add("[2025-11-02 09:00:51 TP0] Capture cuda graph end. Time elapsed: 8.44 s. mem usage=0.61 GB. avail mem=8.18 GB.")
	add("[2025-11-02 09:00:52 TP0] max_total_num_tokens=%s, chunked_prefill_size=8192, max_prefill_tokens=16384, max_running_requests=4096, context_len=131072", r.got("tokens", "435685"))
	add("[2025-11-02 09:01:10 TP0] Decode batch. #running-req: 137, #token: 13700, token usage: 0.03, gen throughput (token/s): 9137.01, #queue-req: 0")
	return b.String()
}

func llamaLog(r *Row) string {
	var b strings.Builder
	add := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	add("ggml_cuda_init: found 1 CUDA devices:\n  Device 0: NVIDIA GeForce RTX 4090, compute capability 8.9, VMM: yes")
	add("llama_params_fit_impl: projected to use 21540 MiB of device memory vs. 23028 MiB of free device memory")
	add("llama_model_loader: loaded meta data with 33 key-value pairs and 291 tensors from %s.gguf (version GGUF V3 (latest))", r.Ask.Model)
	add("load_tensors: offloaded 33/33 layers to GPU\nload_tensors:        CUDA0 model buffer size = %s\nload_tensors:   CPU_Mapped model buffer size =   281.81 MiB", r.got("weights", "4403.49 MiB"))
	add("llama_kv_cache:      CUDA0 KV buffer size = %s", r.got("all.kv_cache", "1024.00 MiB"))
	add("llama_context:      CUDA0 compute buffer size = %s\nllama_context:  CUDA_Host compute buffer size =    24.01 MiB",
		r.got("compute", "560.00 MiB"))
	add("common_init_from_params: warming up the model with an empty run - please wait ... (--no-warmup to disable)")
	add("srv  params_from_: Chat format: Content-only\nslot launch_slot_: id  0 | task 0 | processing task\nslot print_timing: id  0 | task 137 | prompt eval time = 137.01 ms / 137 tokens\nslot      release: id  0 | task 137 | stop processing: n_past = 1370, truncated = 0")
	return b.String()
}
