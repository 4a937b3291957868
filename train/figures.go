package train

import (
	"math"
	"strings"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// figures fills in what the counters show, and what must fit. What torch reserves is the allocated memory plus cached
// free blocks, limited to the device less the driver's minimum; nvidia-smi shows that plus the driver's usual share. No
// figure exceeds the device.
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

// wider returns the band for methods that were only compared with LoRA.
func (s *Sizer) wider(x spread) spread {
	if tuners[s.j.Training.Method].peft {
		x.low, x.high = x.low*beyondLoRA.low, x.high*beyondLoRA.high
	}
	return x
}

// drivers returns what determines the allocator's cache. With expandable segments, freed blocks serve allocations of
// any size.
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

// pools returns what FSDP2's streams cache beyond a rank's peak. Gradient shards are allocated on the reducing stream
// and gather buffers on the copying stream, each from a pool that no other stream uses, so torch reserves the maximum
// of each, whenever it occurs (torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py;
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

// gradientBytes returns the gradients of a phase, of everything trained.
func gradientBytes(p *Phase) (sum float64) {
	for i := range p.Items {
		if p.Items[i].ID == "gradients" && p.Items[i].Name != headGradientsName {
			sum += float64(p.Items[i].Bytes)
		}
	}
	return sum
}

// expands reports whether the allocator uses expandable segments, as set by the plan or the framework.
func expands(j *Job) bool {
	if j.Training.Expandable != nil {
		return *j.Training.Expandable
	}
	return j.Framework.Expands
}

// gatheredShard returns a rank's share of the parameters that FSDP1 gathers: their blocks wait for other streams
// (torch/distributed/fsdp, record_stream), which FSDP2 avoids (_fully_shard).
func (f *filler) gatheredShard() float64 {
	j := f.s.j
	if j.Plan.Ranks() == 1 || j.Adapters() || j.Training.Sharding != "fsdp" && j.Training.Sharding != "hsdp" {
		return 0
	}
	return f.both("parameters", full, f.s.store.Gathered, ofWeights).V
}

// margin is memory beyond the peak, in bytes: what counts toward fitting, the measured minimum and maximum, and the
// usual value.
type margin struct {
	id, name                   string
	life                       ledger.Life
	counts, least, usual, most float64
}

// margins returns the memory beyond the peak. A driver's context and NCCL buffers count at their minimum. Allocator
// fragmentation counts at its usual value, limited to what torch reserves, with a minimum of zero: PyTorch frees cached
// blocks before it fails (c10/cuda/CUDACachingAllocator.cpp, release_cached_blocks). Its maximum, twice the usual value
// or the error of predicted peaks, leaves room for underestimated peaks.
func (s *Sizer) margins(r *Rank, peak float64, stepping bool) []margin {
	share, context, least := 0.08, 1.0*gib, float64(leastContext)
	if stepping {
		share, context, least = 0.05, 0.6*gib, 0.3*gib
	}
	room := share * peak
	n := min(room, r.Reserved.Mid-peak)
	out := append(make([]margin, 0, 3),
		margin{"fragmentation", "allocator fragmentation", ledger.Ephemeral, n, 0, n, max(2*room, r.Allocated.High-r.Allocated.Mid)},
		margin{"driver", driverOf(s.j.Machine) + " context and kernels", ledger.Persistent, least, least, context, 2 * context})
	if s.j.Plan.Ranks() > 1 && !stepping {
		out = append(out, margin{"collectives", "NCCL buffers", ledger.Persistent, leastChannels, leastChannels, gib / 2, 1.5 * gib})
	}
	return out
}

// driverOf returns what runs a machine's devices.
func driverOf(m *hardware.Machine) string {
	switch m.Vendor() {
	case "", "NVIDIA":
		return "CUDA"
	case "AMD":
		return "HIP"
	case "Apple":
		return "Metal"
	}
	return "device"
}

// LeastOutside returns the minimum that a driver takes of a device, in bytes: its context and, with several ranks,
// NCCL's channels. Runs have filled devices up to it.
func (d *Drivers) LeastOutside() float64 {
	if d.Several {
		return leastContext + leastChannels
	}
	return leastContext
}

// Minimum size of CUDA's context and NCCL's channels, in bytes.
const leastContext, leastChannels = gib / 2, gib / 4

// stretch returns how far beyond each maximum the upper edges must lie so that the usual values, which are not errors,
// add linearly and only the excess adds in quadrature.
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

// flattens reports whether FSDP units may hold flattened parameters of a type that the optimizer's foreach
// implementation skips, so that it steps on one after another without copies (torch/optim/optimizer.py:
// _default_to_fused_or_foreach; use_orig_params=False of FullyShardedDataParallel). Plans do not say.
func (j *Job) flattens() bool {
	return (j.Training.Sharding == "fsdp" || j.Training.Sharding == "hsdp") && !j.Adapters()
}

// aboveNext returns the difference between the largest phase and the next.
func (r *Rank) aboveNext() unit.Bytes {
	next := unit.Bytes(0)
	for i := range r.Phases {
		if i != r.Peak {
			next = max(next, r.Phases[i].Total().Bytes)
		}
	}
	return r.Phases[r.Peak].Total().Bytes - next
}

// needed returns the peak with what allocator, driver and communication take beyond it. Its lower edge is the minimum
// that the job requires.
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
