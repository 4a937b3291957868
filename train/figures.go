package train

import (
	"math"
	"strings"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// figures fills in what the counters print, and what must fit. What torch reserves is what is allocated with what it keeps of
// freed blocks, up to what a device has beside the least that a driver takes of it; nvidia-smi shows that with what the driver
// usually takes. A device holds no more than it has.
func (s *Sizer) figures(b *ledger.Book, r *Rank, h *share, top ledger.Total) {
	t, mid, name := fitted(), float64(top.Bytes), s.j.Framework.Name
	r.Drivers = s.drivers(h)
	r.Drivers.Pools = s.pools(h, r, mid)
	outside, capacity := t.outside(&r.Drivers), math.Inf(1)
	if !r.Unlimited {
		capacity = r.Capacity.V
	}
	r.Allocated = s.wider(t.spread("allocated", name)).around(mid, math.Inf(1))
	reserved, room := s.wider(t.spread("reserved", name)), capacity-r.Drivers.LeastOutside()
	r.Reserved = reserved.around(max(mid, min(room, reserved.ratio*(mid+t.cached(&r.Drivers)))), room)
	r.SMI = s.wider(t.spread("nvidia-smi", name)).around(r.Reserved.Mid+max(r.Drivers.LeastOutside(), min(outside, capacity-r.Reserved.Mid)), capacity)
	r.Needed = s.needed(b, r, mid)
}

// wider is the band of methods that were compared with LoRA alone.
func (s *Sizer) wider(x spread) spread {
	if tuners[s.j.Training.Method].peft {
		x.low, x.high = x.low*beyondLoRA.low, x.high*beyondLoRA.high
	}
	return x
}

// drivers of what the allocator keeps. Where its segments expand, freed blocks serve allocations of any size.
func (s *Sizer) drivers(h *share) (d Drivers) {
	d.Several = s.j.Plan.Ranks() > 1
	if expands(s.j) {
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

// pools are what FSDP2's streams keep beside a rank's peak. Shards of gradients are allocated on the stream that reduces them, and
// buffers for what is gathered on the stream that copies it there, each from a pool that no other stream takes from, so that what
// torch reserves is the most of each, whenever they have it (torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py;
// c10/cuda/CUDACachingAllocator.cpp).
func (s *Sizer) pools(h *share, r *Rank, peak float64) float64 {
	j := s.j
	if j.Training.Sharding != "fsdp2" || j.Adapters() {
		return 0
	}
	f := &filler{s: s, h: h}
	root, one := f.unitBytes()
	if j.gathersStage() {
		return f.trainedBytes(grad, ofStates).V + 2*one
	}
	var own, grads float64
	for i, phase := range []string{"forward", "begins", "ends"} {
		u, most := unitsAlive(j, phase), gradientBytes(&r.Phases[i])
		own = max(own, float64(r.Phases[i].Total().Bytes)-most-u.rootBuffers*root-u.blockBuffers*one)
		grads = max(grads, most)
	}
	if j.Framework.Keep.EndsApart {
		root /= 2
	}
	return max(0, own+grads+one+max(root, one)-peak)
}

// gradientBytes are those of a phase, of all that trains.
func gradientBytes(p *Phase) (sum float64) {
	for i := range p.Items {
		if p.Items[i].ID == "gradients" && p.Items[i].Name != headGradientsName {
			sum += float64(p.Items[i].Bytes)
		}
	}
	return sum
}

// expands reports whether segments of the allocator grow: as the plan says, or as the framework asks for.
func expands(j *Job) bool {
	if j.Training.Expandable != nil {
		return *j.Training.Expandable
	}
	return j.Framework.Expands
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

// margin is what lies beside the peak, in bytes: what counts, the least and the most that were measured, and what is usual.
type margin struct {
	id, name                   string
	life                       ledger.Life
	counts, least, usual, most float64
}

// margins: a driver's context and NCCL's buffers count with the least that they take. The allocator's fragments count with what is
// usual, no more than torch is said to reserve, and a job may need none of them: PyTorch frees the blocks that it keeps before it gives up
// (c10/cuda/CUDACachingAllocator.cpp, release_cached_blocks). They leave room for a peak that is larger than is said: the most is
// twice what is usual, or how far peaks were off.
func (s *Sizer) margins(r *Rank, peak float64, stepping bool) []margin {
	share, context, least := 0.08, 1.0*gib, float64(leastContext)
	if stepping {
		share, context, least = 0.05, 0.6*gib, 0.3*gib
	}
	room := share * peak
	n := min(room, r.Reserved.Mid-peak)
	out := append(make([]margin, 0, 3),
		margin{"fragmentation", "allocator fragmentation", ledger.Ephemeral, n, 0, n, max(2*room, r.Allocated.High-r.Allocated.Mid)},
		margin{"driver", "CUDA context and kernels", ledger.Persistent, least, least, context, 2 * context})
	if s.j.Plan.Ranks() > 1 && !stepping {
		out = append(out, margin{"collectives", "NCCL buffers", ledger.Persistent, leastChannels, leastChannels, gib / 2, 1.5 * gib})
	}
	return out
}

// LeastOutside is what a driver takes of a device at least, in bytes: its context, and between ranks NCCL's channels. Runs filled
// cards up to it.
func (d *Drivers) LeastOutside() float64 {
	if d.Several {
		return leastContext + leastChannels
	}
	return leastContext
}

// What CUDA's context and NCCL's channels take at least, in bytes.
const leastContext, leastChannels = gib / 2, gib / 4

// stretch is how far beyond the most of each margin upper edges must lie, so that their sum in quadrature has its edge where usual
// amounts, which are no errors, add up, and only what is beyond them adds in quadrature.
func stretch(all []margin) float64 {
	var usual, beyond, arms float64
	for i := range all {
		m := &all[i]
		usual += m.usual - m.counts
		beyond += (m.most - m.usual) * (m.most - m.usual)
		arms += (m.most - m.counts) * (m.most - m.counts)
	}
	return (usual + math.Sqrt(beyond)) / math.Sqrt(arms)
}

// flattens: a unit of FSDP may hold its parameters as one, of a type that the optimizer's foreach implementation passes over, so that
// it steps on one after another and takes no copies (torch/optim/optimizer.py: _default_to_fused_or_foreach;
// use_orig_params=False of FullyShardedDataParallel). Plans do not say which.
func (j *Job) flattens() bool {
	return (j.Training.Sharding == "fsdp" || j.Training.Sharding == "hsdp") && !j.Adapters()
}

// aboveNext is by how much the largest phase is above the next.
func (r *Rank) aboveNext() unit.Bytes {
	next := unit.Bytes(0)
	for i := range r.Phases {
		if i != r.Peak {
			next = max(next, r.Phases[i].Total().Bytes)
		}
	}
	return r.Phases[r.Peak].Total().Bytes - next
}

// needed is the peak with what allocator, driver and communication take beside it; its lower edge is what the job cannot do
// without.
func (s *Sizer) needed(b *ledger.Book, r *Rank, peak float64) []ledger.Item {
	p := &r.Phases[r.Peak]
	stepping := strings.HasSuffix(p.Name, "optimizer step")
	all := s.margins(r, peak, stepping)
	out := append(make([]ledger.Item, 0, len(p.Items)+len(all)), p.Items...)
	if last := len(p.Items) - 1; stepping && s.j.flattens() && out[last].ID == "workspace" {
		out[last] = out[last].Band(out[last].Bytes-min(out[last].Bytes, r.aboveNext()), out[last].High)
	}
	k := stretch(all)
	for i := range all {
		m := &all[i]
		it := ledger.Known(m.id, m.name, b.In("measured", m.counts, "public runs"), ledger.Measured, m.life, ledger.Device, phasesPage)
		out = append(out, it.Band(unit.Bytes(m.least), unit.Bytes(m.counts+k*(m.most-m.counts))))
	}
	return out
}
