package live

import (
	"strconv"

	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/engine/vllm"
	"github.com/memwall/memwall/internal/observe"
)

// What vLLM publishes, 0.4 to 0.24: the cache's configuration in the labels of vllm:cache_config_info (vllm/v1/metrics/
// loggers.py), the model and its length in /v1/models (entrypoints/openai), its version in /version. How many devices it
// runs on it does not say.
func readVLLM(p Pages) *startup.Log {
	caches := cacheConfigs(p["/metrics"])
	s := startup.Settings{}
	if len(caches) > 0 {
		for to, from := range map[string]string{"gpu_memory_utilization": "gpu_memory_utilization", "block_size": "block_size",
			"kv_cache_dtype": "cache_dtype", "kv_cache_memory_bytes": "kv_cache_memory_bytes",
			"cpu_offload_gb": "cpu_offload_gb", "num_gpu_blocks_override": "num_gpu_blocks_override"} {
			s[to] = printableLine(caches[0][from])
		}
	}
	list := p.json("/v1/models").objects("data")
	if len(list) > 0 {
		for to, v := range list[0].settings("max_model_len") {
			s[to] = v
		}
	}
	l := vllm.FromSettings(s)
	p.models(l)
	named(l, p["/metrics"])
	l.Version = p.json("/version").text("version")
	if on, err := strconv.ParseBool(first(caches)["enable_prefix_caching"]); err == nil {
		l.Plan.PrefixCache = &on
	}
	for _, c := range caches {
		cacheFigures(l, c, len(caches) > 1)
	}
	latencies(l, p["/metrics"])
	l.Note("not_published", "vLLM does not publish on how many devices it runs, nor how weights are stored: --tp and --weights say it "+
		"where the defaults are wrong")
	return l
}

func first(list []map[string]string) map[string]string {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// cacheConfigs are the labels of the cache of every data parallel rank.
func cacheConfigs(metrics []byte) (out []map[string]string) {
	page, err := observe.Parse(metrics)
	if err != nil {
		return nil
	}
	for _, s := range page.Samples {
		if s.Name == "vllm:cache_config_info" && len(out) < mostElements {
			out = append(out, s.Labels)
		}
	}
	return out
}

func cacheFigures(l *startup.Log, labels map[string]string, several bool) {
	device := ""
	if several {
		device = "DP" + printableLine(labels["engine"])
	}
	for _, f := range []struct{ label, id, unit string }{{"num_gpu_blocks", "kv_blocks", ""},
		{"kv_cache_size_tokens", "kv_tokens", "tokens"}, {"kv_cache_max_concurrency", "concurrency", "x"}} {
		if x, err := strconv.ParseFloat(labels[f.label], 64); err == nil && x > 0 && x < 1e15 {
			digits := 0
			if f.id == "concurrency" {
				digits = digitsOf(x)
			}
			add(l, f.id, f.label, device, f.unit, x, digits)
		}
	}
}
