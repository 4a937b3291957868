package observe

// names are what one engine calls its metrics, newest first: the first that a page has is read. "name{label=value}" is
// the sample with that label, "name*" the sum of a histogram. Empty: the engine does not say it.
type names struct {
	engine string
	prefix string // of all its metrics

	running, waiting, kv, preemptions, promptTokens, outputTokens, finished []string
	outputRate, capacity, hits, queries                                     []string
	ttft, tpot, itl, e2e, queue                                             []string
}

// engines by the prefix of their metrics. Sources, as of 2026-11: vLLM docs/usage/metrics.md and docs/design/metrics.md
// (kv_cache_usage_perc since V1, gpu_cache_usage_perc before; time_per_output_token_seconds is inter_token_latency_seconds
// since 0.11); SGLang docs/references/production_metrics.md; TensorRT-LLM's trtllm-serve and Triton's backend
// docs/llm_metrics.md; llama.cpp tools/server/README.md; text-generation-inference docs/source/reference/metrics.md.
var engines = []names{
	{
		engine: "vllm", prefix: "vllm:",
		running: []string{"vllm:num_requests_running"}, waiting: []string{"vllm:num_requests_waiting"},
		kv:           []string{"vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"},
		preemptions:  []string{"vllm:num_preemptions_total", "vllm:num_preemptions"},
		promptTokens: []string{"vllm:prompt_tokens_total"}, outputTokens: []string{"vllm:generation_tokens_total"},
		finished: []string{"vllm:request_success_total"},
		hits:     []string{"vllm:prefix_cache_hits_total", "vllm:prefix_cache_hits", "vllm:gpu_prefix_cache_hits_total"},
		queries:  []string{"vllm:prefix_cache_queries_total", "vllm:prefix_cache_queries", "vllm:gpu_prefix_cache_queries_total"},
		ttft:     []string{"vllm:time_to_first_token_seconds"},
		tpot:     []string{"vllm:request_time_per_output_token_seconds", "vllm:time_per_output_token_seconds"},
		itl:      []string{"vllm:inter_token_latency_seconds"},
		e2e:      []string{"vllm:e2e_request_latency_seconds"}, queue: []string{"vllm:request_queue_time_seconds"},
	},
	{
		engine: "sglang", prefix: "sglang:",
		running: []string{"sglang:num_running_reqs", "sglang:num_requests_running"},
		waiting: []string{"sglang:num_queue_reqs", "sglang:num_requests_waiting", "sglang:queue_req"},
		kv:      []string{"sglang:token_usage"}, preemptions: []string{"sglang:num_retracted_requests_total"},
		promptTokens: []string{"sglang:prompt_tokens_total"}, outputTokens: []string{"sglang:generation_tokens_total"},
		finished:   []string{"sglang:num_requests_total"},
		outputRate: []string{"sglang:gen_throughput"}, capacity: []string{"sglang:max_total_num_tokens"},
		ttft: []string{"sglang:time_to_first_token_seconds"}, tpot: []string{"sglang:time_per_output_token_seconds"},
		itl:   []string{"sglang:inter_token_latency_seconds"},
		e2e:   []string{"sglang:e2e_request_latency_seconds"},
		queue: []string{"sglang:queue_time_seconds", "sglang:waiting_request_latency_seconds"},
	},
	{
		engine: "tensorrt-llm", prefix: "trtllm_",
		running: []string{"trtllm_num_requests_running"}, waiting: []string{"trtllm_num_requests_waiting"},
		kv:       []string{"trtllm_kv_cache_utilization"},
		finished: []string{"trtllm_request_success_total"},
		ttft:     []string{"trtllm_time_to_first_token_seconds"}, tpot: []string{"trtllm_time_per_output_token_seconds"},
		e2e: []string{"trtllm_e2e_request_latency_seconds"}, queue: []string{"trtllm_request_queue_time_seconds"},
	},
	{
		engine: "tensorrt-llm", prefix: "nv_trt_llm_", // by Triton
		running: []string{"nv_trt_llm_request_metrics{request_type=scheduled}"},
		waiting: []string{"nv_trt_llm_request_metrics{request_type=waiting}"},
		kv:      []string{"nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type=fraction}"},
	},
	{
		engine: "llama.cpp", prefix: "llamacpp:",
		running: []string{"llamacpp:requests_processing"}, waiting: []string{"llamacpp:requests_deferred"},
		kv:           []string{"llamacpp:kv_cache_usage_ratio"},
		promptTokens: []string{"llamacpp:prompt_tokens_total"}, outputTokens: []string{"llamacpp:tokens_predicted_total"},
		outputRate: []string{"llamacpp:predicted_tokens_seconds"},
	},
	{
		engine: "tgi", prefix: "tgi_",
		running: []string{"tgi_batch_current_size"}, waiting: []string{"tgi_queue_size"},
		promptTokens: []string{"tgi_request_input_length*"}, outputTokens: []string{"tgi_request_generated_tokens*"},
		finished: []string{"tgi_request_success"},
		tpot:     []string{"tgi_request_mean_time_per_token_duration"}, e2e: []string{"tgi_request_duration"},
		queue: []string{"tgi_request_queue_duration"},
	},
}
