package engine_test

import (
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/unit"
)

// TestDeepEP: the lower edge is the size hint of DeepEP's own code (csrc/config.hpp), worked out by hand; what is taken is whole
// granules of NVSHMEM's heap.
func TestDeepEP(t *testing.T) {
	for _, c := range []struct {
		name        string
		buffers     engine.DeepEP
		hint, taken unit.Bytes
	}{
		// 2 × (2 × 288 × 128 × (56 × 4 + 2 × 7168) + 288 × 4)
		{"128 tokens to 256 experts and 32 copies", engine.DeepEP{LowLatency: true, Ranks: 72, Slots: 288, Hidden: 7168, Tokens: 128},
			2146961664, 4 << 29},
		{"256 tokens", engine.DeepEP{LowLatency: true, Ranks: 72, Slots: 288, Hidden: 7168, Tokens: 256}, 4293921024, 8 << 29},
		// 10 × 8 × (288 × 16392 + (2 × 4 + 3) × 4), and 2 × 10 × 4 × 140 × 16408 + 1 MiB + 10 × 4 × 18 × 8
		{"normal, 4 nodes", engine.DeepEP{Normal: true, Ranks: 32, Slots: 288, Hidden: 7168}, 377675264 + 184823936, 377675264 + 1<<29},
		{"normal, one node", engine.DeepEP{Normal: true, Ranks: 8, Slots: 256, Hidden: 7168}, 335709824, 335709824},
	} {
		it := c.buffers.Item(nil)
		if it.Low != c.hint || it.Bytes != c.taken {
			t.Errorf("%s: hint %d, taken %d, want %d and %d", c.name, it.Low, it.Bytes, c.hint, c.taken)
		}
	}
}
