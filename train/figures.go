package train

import (
	"math"
	"strings"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// figures fills in what the counters print, and what must fit.
func (s *Sizer) figures(b *ledger.Book, r *Rank, h *share, top ledger.Total) {
	f := &filler{s: s, h: h}
	r.Drivers = Drivers{Logits: float64(f.logits().Bytes), Block: float64(f.working().Bytes), Gathered: f.gatheredShard(), Several: s.j.Plan.Ranks() > 1}
	if c := s.criticOn(nil, r.Stage); c != nil {
		r.Drivers.Block = max(r.Drivers.Block, float64(c.working().Bytes))
		r.Drivers.Gathered += c.gatheredShard()
	}
	t, mid := fitted(), float64(top.Bytes)
	name := s.j.Framework.Name
	r.Allocated = t.spread("allocated", name).around(mid)
	reserved := t.spread("reserved", name)
	r.Reserved = reserved.around(mid * reserved.ratio)
	r.SMI = t.spread("nvidia-smi", name).around(t.smi(mid, &r.Drivers))
	if !r.Unlimited {
		most := math.Max(mid, r.Capacity.V)
		r.SMI.Mid, r.SMI.High = math.Min(r.SMI.Mid, most), math.Min(r.SMI.High, most)
		r.SMI.Low = math.Min(r.SMI.Low, r.SMI.Mid)
	}
	r.Needed = s.needed(b, r, mid)
}

// gatheredShard is a rank's share of parameters that are gathered to be used.
func (f *filler) gatheredShard() float64 {
	j := f.s.j
	if j.Plan.Ranks() == 1 || j.Adapters() || !sharded(j.Training.Sharding) {
		return 0
	}
	return f.both("parameters", full, f.s.store.Gathered, ofWeights).V
}

// needed is the peak with what allocator, driver and communication take beside it.
func (s *Sizer) needed(b *ledger.Book, r *Rank, peak float64) []ledger.Item {
	p := &r.Phases[r.Peak]
	out := append(make([]ledger.Item, 0, len(p.Items)+3), p.Items...)
	stepping := strings.HasSuffix(p.Name, "optimizer step")
	share, context := 0.08, 1.0
	if stepping {
		share, context = 0.05, 0.6
	}
	n := b.Mul(b.In("allocated", peak, "sum of the peak"), b.Lit(share))
	out = append(out, ledger.Known("fragmentation", "fragments of the allocator", n, ledger.Measured, ledger.Ephemeral, ledger.Device, phasesPage).Band(0, n.Bytes()+max(n.Bytes(), unit.Bytes(r.Allocated.High-r.Allocated.Mid))))
	c := b.In("context", context*gib, "measured")
	out = append(out, ledger.Known("driver", "CUDA context and kernels", c, ledger.Measured, ledger.Persistent, ledger.Device, phasesPage).Band(c.Bytes()/2, 2*c.Bytes()))
	if s.j.Plan.Ranks() > 1 && !stepping {
		c := b.In("channels", 0.5*gib, "measured")
		out = append(out, ledger.Known("collectives", "buffers of NCCL", c, ledger.Measured, ledger.Persistent, ledger.Device, phasesPage).Band(c.Bytes()/2, 3*c.Bytes()))
	}
	return out
}
