package serving_test

import (
	"math"
	"testing"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/speed/serving"
)

// TestBehindPrefix: attention of few tokens behind a cached prefix takes what its keys take, whatever the rows of its tile.
// Microseconds of vLLM 0.19 with 32 heads and 8 of keys (LLMServingSim@5daddb2,
// profiler/perf/RTX4090/meta-llama/Llama-3.1-8B/bf16/tp1/attention.csv).
func TestBehindPrefix(t *testing.T) {
	d, _, err := hardware.Find("rtx-4090")
	if err != nil {
		t.Fatal(err)
	}
	table, err := serving.Fitted()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tokens, cached int64
		us             float64
	}{{16, 1024, 41}, {16, 4096, 137}, {64, 4096, 137}, {256, 4096, 143}, {1024, 1024, 247}, {1024, 16384, 2001}, {2048, 16384, 4225}} {
		h := serving.Heads{Sequences: 1, Tokens: c.tokens, Cached: c.cached, Heads: 32, KVHeads: 8, Width: 128, KV: 2, Wide: 2}
		k := serving.PrefillKernel(d, "vllm", h)
		values := make([]float64, len(k.Uses))
		table.Each(k.Uses, func(i int, v coef.Coef) { values[i] = v.Value })
		if us := 1e6 * k.Seconds(values); math.Abs(us/c.us-1) > 0.25 {
			t.Errorf("%d tokens behind %d: %.4g us, measured %g", c.tokens, c.cached, us, c.us)
		}
	}
}
