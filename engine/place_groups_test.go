package engine_test

import (
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/enginetest"
	"github.com/memwall/memwall/plan"
)

// TestUnlikeDevicesAreClassesOfTheirOwn: ranks are counted on the device that they run on, and none is lost.
func TestUnlikeDevicesAreClassesOfTheirOwn(t *testing.T) {
	for _, c := range []struct {
		on         string
		tp, pp, dp int64
		want       map[string]int64
	}{
		{"rtx-4090+rtx-3060", 2, 1, 1, map[string]int64{"GeForce RTX 4090": 1, "GeForce RTX 3060 12GB": 1}},
		{"2xrtx-4090+rtx-3060", 1, 1, 3, map[string]int64{"GeForce RTX 4090": 2, "GeForce RTX 3060 12GB": 1}},
		{"2xrtx-4090+2xrtx-3090", 2, 1, 2, map[string]int64{"GeForce RTX 4090": 2, "GeForce RTX 3090": 2}},
		{"rtx-4090+3xrtx-3090", 2, 2, 1, map[string]int64{"GeForce RTX 4090": 1, "GeForce RTX 3090": 3}},
		{"4xrtx-4090", 2, 1, 2, map[string]int64{"GeForce RTX 4090": 4}},
	} {
		j := enginetest.Case{Model: "llama-3.1-8b", Hardware: c.on, Plan: plan.Plan{TP: c.tp, PP: c.pp, DP: c.dp}}.Job(t)
		placed, err := j.PlaceDecoder(engine.Parallel(j.Plan))
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int64{}
		for i := range placed {
			got[j.Device(placed[i].Index).Name] += placed[i].Count
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: %v", c.on, got)
		}
		for name, n := range c.want {
			if got[name] != n {
				t.Errorf("%s, tp %d pp %d dp %d: %d ranks on %s, want %d", c.on, c.tp, c.pp, c.dp, got[name], name, n)
			}
		}
	}
}
