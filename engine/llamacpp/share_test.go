package llamacpp

import (
	"math"
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/plan"
)

// TestSharesSumToTheWhole: whatever is moved or split, everything is computed once, and experts move alone.
func TestSharesSumToTheWhole(t *testing.T) {
	n := func(x int64) *plan.Int { v := plan.Int(x); return &v }
	for _, c := range []struct {
		name   string
		change func(p *plan.Plan)
		// host is what the processor computes of matrices and experts; -1 for whatever.
		dense, experts float64
	}{
		{"all on devices", func(*plan.Plan) {}, 0, 0},
		{"nothing on devices", func(p *plan.Plan) { p.GPULayers = n(0) }, 1, 1},
		{"half", func(p *plan.Plan) { p.GPULayers = n(24) }, -1, -1},
		{"experts on the host", func(p *plan.Plan) { p.CPUMoE = n(-1) }, 0, 1},
		{"some tensors", func(p *plan.Plan) { p.OverrideTensor = `blk\.1\..*=CPU` }, -1, -1},
		{"cache on the host", func(p *plan.Plan) { off := false; p.KVOffload = &off }, 0, 0},
	} {
		p := plan.Plan{Sequences: 1, Context: 4096}
		c.change(&p)
		e := Engine{Server}
		j := jobOf(t, "qwen3-30b-a3b", "q4_k_m", machineOf(t, "2xrtx-4090"), Latest, p)
		e.Defaults(j)
		s := sizerOf(t, e, j)
		var sum engine.Share
		var onHost engine.Share
		for _, x := range s.Shares() {
			sum.Dense, sum.Experts, sum.Head, sum.Cache = sum.Dense+x.Dense, sum.Experts+x.Experts, sum.Head+x.Head, sum.Cache+x.Cache
			if x.Device == engine.Host {
				onHost = x
			}
		}
		for _, x := range []float64{sum.Dense, sum.Experts, sum.Head, sum.Cache} {
			if math.Abs(x-1) > 1e-9 {
				t.Errorf("%s: shares sum to %+v", c.name, sum)
			}
		}
		if c.dense >= 0 && (math.Abs(onHost.Dense-c.dense) > 1e-9 || math.Abs(onHost.Experts-c.experts) > 1e-9) || c.dense < 0 && !(onHost.Dense > 0 && onHost.Dense < 1) {
			t.Errorf("%s: the host computes %+v", c.name, onHost)
		}
	}
}
