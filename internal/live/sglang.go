package live

import (
	"strconv"

	"github.com/memwall/memwall/engine/sglang"
	"github.com/memwall/memwall/engine/startup"
)

// The arguments of SGLang that change memory. /server_info (before 0.5.6 /get_server_info) has all of them, keys for its own
// interface among them: nothing else is taken.
var sglangArguments = []string{"model_path", "served_model_name", "tokenizer_path", "quantization", "tp_size", "pp_size", "dp_size",
	"ep_size", "enable_dp_attention", "context_length", "page_size",
	"max_running_requests", "mem_fraction_static", "chunked_prefill_size", "disable_cuda_graph", "disable_radix_cache", "kv_cache_dtype",
	"dtype", "max_total_tokens", "cpu_offload_gb", "speculative_algorithm", "hybrid_kvcache_ratio"}

// What SGLang publishes (python/sglang/srt/entrypoints/http_server.py, managers/scheduler.py get_internal_state). Its GB are GiB.
func readSGLang(p Pages) *startup.Log {
	o := p.json("/server_info")
	if o == nil {
		o = p.json("/get_server_info")
	}
	l := sglang.FromSettings(o.settings(sglangArguments...))
	l.Version = o.text("version")
	if first := p.models(l); first != nil && l.Plan.Context == 0 {
		l.Plan.Context = sglang.FromSettings(startup.Settings{
			"context_length": first.settings("max_model_len")["max_model_len"]}).Plan.Context
	}
	if n, ok := o.integer("max_total_num_tokens", 1e15); ok {
		add(l, "kv_tokens", "max_total_num_tokens", "", "tokens", float64(n), 0)
	}
	states := o.objects("internal_states")
	for i, s := range states {
		memoryUsage(l, s.object("memory_usage"), device(i, len(states)))
	}
	if o == nil {
		l.Note("not_published", "/server_info is not there: only what the metrics say is compared")
	}
	latencies(l, p["/metrics"])
	return l
}

// device names a data parallel rank where there are several.
func device(i, of int) string {
	if of < 2 {
		return ""
	}
	return "DP" + strconv.Itoa(i)
}

func memoryUsage(l *startup.Log, m object, device string) {
	for _, f := range []struct{ field, id, name string }{{"weight", "weights", "memory_usage weight"},
		{"kvcache", "kv_pool", "memory_usage kvcache"}, {"graph", "graphs", "memory_usage graph"}} {
		if x, ok := m.number(f.field); ok && x > 0 {
			add(l, f.id, f.name, device, "GB", x, max(2, digitsOf(x)))
		}
	}
}
