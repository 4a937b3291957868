package memwall

import (
	"testing"

	"github.com/memwall/memwall/plan"
)

// TestSlotsOfEngine: no more sequences fit than the engine serves, whatever the memory: LLAMA_MAX_SEQ of the
// build.
func TestSlotsOfEngine(t *testing.T) {
	for _, c := range []struct {
		engine string
		want   int64
	}{{"llama.cpp", 256}, {"llama-server@b6000", 64}, {"llama.cpp@b6507", 256}} {
		answer, err := Ask(&Request{Ask: "fit", Model: "qwen2.5-0.5b", Hardware: "h200",
			Plan: plan.Plan{Engine: c.engine, Weights: "q4_k_m", Context: 256}})
		if err != nil {
			t.Fatal(err)
		}
		if n := answer.KV.MaxSequences; n == nil || *n != c.want {
			t.Errorf("%s: %v sequences, want %d", c.engine, n, c.want)
		}
	}
}
