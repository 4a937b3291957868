package train

import (
	"math"
	"strings"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// figures fills in what the counters print, and what must fit. What torch reserves is what is allocated with what it keeps of
// freed blocks; nvidia-smi shows that with what the driver takes. A device holds no more than it has.
func (s *Sizer) figures(b *ledger.Book, r *Rank, h *share, top ledger.Total) {
	t, mid, name := fitted(), float64(top.Bytes), s.j.Framework.Name
	r.Drivers = s.drivers(h)
	outside, capacity := t.outside(&r.Drivers), math.Inf(1)
	if !r.Unlimited {
		capacity = r.Capacity.V
	}
	r.Allocated = t.spread("allocated", name).around(mid, math.Inf(1))
	reserved, room := t.spread("reserved", name), capacity-outside
	r.Reserved = reserved.around(max(mid, min(room, reserved.ratio*(mid+t.cached(&r.Drivers)))), room)
	r.SMI = t.spread("nvidia-smi", name).around(r.Reserved.Mid+outside, capacity)
	r.Needed = s.needed(b, r, mid)
}

// drivers of what the allocator keeps. Where its segments expand, freed blocks serve allocations of any size.
func (s *Sizer) drivers(h *share) (d Drivers) {
	d.Several = s.j.Plan.Ranks() > 1
	if s.j.Framework.Expands {
		return d
	}
	f := &filler{s: s, h: h}
	d.Logits, d.Block, d.Gathered = float64(f.logits().Bytes), float64(f.working().Bytes), f.gatheredShard()
	if c := s.criticOn(nil, h.pl.Stage); c != nil {
		d.Block = max(d.Block, float64(c.working().Bytes))
		d.Gathered += c.gatheredShard()
	}
	return d
}

// gatheredShard is a rank's share of parameters that FSDP1 gathers: their blocks wait for other streams
// (torch/distributed/fsdp, record_stream), which FSDP2 does without (_fully_shard).
func (f *filler) gatheredShard() float64 {
	j := f.s.j
	if j.Plan.Ranks() == 1 || j.Adapters() || j.Training.Sharding != "fsdp" && j.Training.Sharding != "hsdp" {
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
