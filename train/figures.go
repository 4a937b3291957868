package train

import (
	"math"

	"github.com/memwall/memwall/ledger"
)

// beyond is what stands beside what torch counts as allocated, fitted to runs that print both counters
// (validation/fit/trainmemory): GiB at all, more with several ranks, and shares of what is freed before the peak or
// gathered beside it.
type beyond struct{ context, ranks, logits, block, gathered float64 }

var smiLaw = beyond{context: 1.74, ranks: 1.51, logits: 0.42, block: 0.25, gathered: 0.91}

// figures fills in what the counters print, and what must fit.
func (s *Sizer) figures(b *ledger.Book, r *Rank, h *share, top ledger.Total) {
	mid := float64(top.Bytes)
	low, high := s.band()
	r.Allocated = Estimate{mid, mid * low, mid * high}
	res := mid * s.j.Framework.Reserved
	r.Reserved = Estimate{res, res * low * 0.95, res * high * 1.1}
	smi := s.smi(r, h, mid)
	r.SMI = Estimate{smi, smi * 0.85, smi * 1.15}
	r.Needed = s.needed(b, r, mid)
}

// band of the allocated figure, as a share of it.
func (s *Sizer) band() (low, high float64) { return 0.92, 1.08 }

func (s *Sizer) smi(r *Rank, h *share, allocated float64) float64 {
	f := &filler{s: s, h: h}
	law := &smiLaw
	x := allocated + law.context*gib + law.logits*float64(f.logits().Bytes) + law.block*float64(f.working().Bytes)
	if s.j.Plan.Ranks() > 1 {
		x += law.ranks * gib
		if !s.j.Adapters() && sharded(s.j.Training.Sharding) {
			x += law.gathered * f.both("parameters", full, s.store.Gathered, ofWeights).V
		}
	}
	if !r.Unlimited {
		x = math.Min(x, math.Max(allocated, r.Capacity.V))
	}
	return x
}

// needed is the peak with what allocator, driver and communication take beside it.
func (s *Sizer) needed(b *ledger.Book, r *Rank, peak float64) []ledger.Item {
	p := &r.Phases[r.Peak]
	out := append(make([]ledger.Item, 0, len(p.Items)+3), p.Items...)
	stepping := p.Name == "optimizer step"
	share, context := 0.08, 1.0
	if stepping {
		share, context = 0.05, 0.6
	}
	n := b.Mul(b.In("allocated", peak, "sum of the peak"), b.Lit(share))
	out = append(out, ledger.Known("fragmentation", "fragments of the allocator", n, ledger.Measured, ledger.Ephemeral, ledger.Device, phasesPage).Band(0, 2*n.Bytes()))
	c := b.In("context", context*gib, "measured")
	out = append(out, ledger.Known("driver", "CUDA context and kernels", c, ledger.Measured, ledger.Persistent, ledger.Device, phasesPage).Band(c.Bytes()/2, 2*c.Bytes()))
	if s.j.Plan.Ranks() > 1 && !stepping {
		c := b.In("channels", 0.5*gib, "measured")
		out = append(out, ledger.Known("collectives", "buffers of NCCL", c, ledger.Measured, ledger.Persistent, ledger.Device, phasesPage).Band(c.Bytes()/2, 3*c.Bytes()))
	}
	return out
}
