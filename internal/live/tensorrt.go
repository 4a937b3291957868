package live

import (
	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/internal/observe"
)

// What TensorRT-LLM publishes: trtllm-serve gives the statistics of its iterations as JSON in /metrics where
// enable_iter_perf_stats is on (tensorrt_llm/serve/openai_server.py), and Triton's backend the blocks of the cache
// (src/model_instance_state.cc).
func readTensorRT(p Pages) *startup.Log {
	l := &startup.Log{Engine: "tensorrt-llm", Version: p.json("/version").text("version")}
	p.models(l)
	iterations := p.list("/metrics")
	if len(iterations) > 0 {
		last := iterations[len(iterations)-1]
		cache := last.object("kvCacheStats")
		blocks, ok := cache.integer("maxNumBlocks", 1e12)
		size, sized := cache.integer("tokensPerBlock", 1<<20)
		blockFigures(l, blocks, size, ok, sized)
		if b, ok := last.integer("gpuMemUsage", 1e15); ok {
			add(l, "device_used", "gpuMemUsage", "", "bytes", float64(b), 0)
		}
	}
	tritonBlocks(l, p["/metrics"])
	page := p["/prometheus/metrics"]
	if page == nil {
		page = p["/metrics"]
	}
	latencies(l, page)
	if len(l.Figures) == 0 {
		l.Note("not_published", "the server publishes no statistics: enable_iter_perf_stats turns them on, and a request must have run "+
			"since they were last read")
	}
	return l
}

func blockFigures(l *startup.Log, blocks, size int64, known, sized bool) {
	if known {
		add(l, "kv_blocks", "maxNumBlocks", "", "", float64(blocks), 0)
	}
	if sized {
		add(l, "block_tokens", "tokensPerBlock", "", "tokens", float64(size), 0)
	}
	if known && sized && blocks < 1e12/size {
		add(l, "kv_tokens", "maxNumBlocks × tokensPerBlock", "", "tokens", float64(blocks*size), 0)
	}
}

// tritonBlocks reads nv_trt_llm_kv_cache_block_metrics of Triton.
func tritonBlocks(l *startup.Log, metrics []byte) {
	page, err := observe.Parse(metrics)
	if err != nil {
		return
	}
	found := map[string]float64{}
	for _, s := range page.Samples {
		if s.Name == "nv_trt_llm_kv_cache_block_metrics" {
			found[s.Labels["kv_cache_block_type"]] = s.Value
		}
	}
	blocks, size := found["max"], found["tokens_per"]
	within := func(x, most float64) bool { return x >= 1 && x <= most }
	blockFigures(l, int64(min(blocks, 1e12)), int64(min(size, 1<<20)), within(blocks, 1e12), within(size, 1<<20))
}
