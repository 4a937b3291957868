package engine_test

import (
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/unit"
)

// TestMoveLayers: layers in order, each parameter whole, until the budget is reached.
func TestMoveLayers(t *testing.T) {
	layer := []engine.HostedParam{{Counted: 30, Bytes: 30, Pinned: 32}, {Counted: 70, Bytes: 70, Pinned: 128, Expert: true}}
	for _, c := range []struct {
		budget                 unit.Bytes
		bytes, experts, pinned unit.Bytes
		layers, rest, ofSecond int
		window                 unit.Bytes
	}{
		{1, 30, 0, 32, 0, 1, 0, 30}, {30, 30, 0, 32, 0, 1, 0, 30}, {31, 100, 70, 160, 0, 2, 0, 100}, {101, 130, 70, 192, 1, 1, 1, 100}, {300, 300, 210, 480, 2, 2, 2, 100}, {301, 300, 210, 480, 3, 0, 2, 100},
	} {
		h := engine.MoveLayers(c.budget, 3, func(int) []engine.HostedParam { return layer })
		if h.Bytes != c.bytes || h.Experts != c.experts || h.Pinned != c.pinned || h.Layers != c.layers || h.Rest != c.rest || h.Of(1, 2) != c.ofSecond || h.Window != c.window || h.Movable != 300 {
			t.Errorf("budget %d: %+v, %d of the second layer", c.budget, h, h.Of(1, 2))
		}
	}
}

// TestPinnedBlock: the next power of two (Qwen2.5 14B's gate and up: 270 MiB in 512).
func TestPinnedBlock(t *testing.T) {
	for _, c := range []struct{ bytes, want unit.Bytes }{{0, 0}, {1, 1}, {3, 4}, {4096, 4096}, {4097, 8192}, {270 * unit.MiB, 512 * unit.MiB}, {4608 * unit.MiB, 8 * unit.GiB}} {
		if got := engine.PinnedBlock(c.bytes); got != c.want {
			t.Errorf("%d bytes lie in %d, want %d", c.bytes, got, c.want)
		}
	}
}
