package vllm

import (
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/enginetest"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// TestExpanded: before 0.7.1 every head's keys and values are cached, 2 × 16 × 256 × 2 B for each of 27 layers of
// DeepSeek-V2-Lite, on each of two ranks half of them; from then on a latent of 576, on each rank all of it.
func TestExpanded(t *testing.T) {
	for _, c := range []struct {
		version engine.Version
		on      string
		tp      int64
		want    unit.Bytes
	}{
		{engine.V(0, 6, 4), "h100", 1, 27 * 2 * 16 * 256 * 2}, {engine.V(0, 6, 4), "2xh100", 2, 27 * 2 * 8 * 256 * 2},
		{engine.V(0, 7, 1), "h100", 1, 27 * 576 * 2}, {engine.V(0, 7, 1), "2xh100", 2, 27 * 576 * 2},
	} {
		r := enginetest.Case{Model: "deepseek-v2-lite", Hardware: c.on, Version: c.version, Plan: plan.Plan{TP: c.tp, Context: 8192}}.Ranks(t, Engine{})[0]
		if got := r.KV.PerToken; got != c.want {
			t.Errorf("%v on %s: %d B a token, want %d", c.version, c.on, got, c.want)
		}
	}
}
