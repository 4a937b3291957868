package speed_test

import (
	"testing"

	"github.com/memwall/memwall/shard"
	"github.com/memwall/memwall/speed"
)

// TestTensorsLentWithinALayer: Gemma 3n reads the tensors of a mixer again later in the same layer.
func TestTensorsLentWithinALayer(t *testing.T) {
	m, w, ranks := places(t, "gemma-3n-e4b", "bf16", shard.Parallel{})
	r := speed.Walk(m, &ranks[0], exec, nil)
	if r.Weights < w.Parts[0].Bytes() {
		t.Errorf("kernels hold %s of %s", r.Weights, w.Parts[0].Bytes())
	}
}
