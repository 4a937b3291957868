package step

import (
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/unit"
)

// What a step takes more because weights, states or activations lie in host memory or on NVMe.
//
//   - Optimizer: each pass sends the gradients of a rank's shard, in 32 bits, while the next layer's are computed; the
//     step runs on the host's processor, for all ranks of a node in one memory, and its weights go back in 16 bits.
//     Nothing runs beside these two (ZeRO-Offload, arXiv:2101.06840, sections 4 and 5; deepspeed/runtime/zero; FSDP's
//     CPUOffload, whose weights go back with the next pass).
//   - Params: each gathering copies a rank's shard to the device first, layer by layer beside the computation
//     (ZeRO-Infinity, arXiv:2104.07857, section 6.2; torch/distributed/fsdp).
//   - Activations: inputs of layers go out in the forward and come back in the backward pass, beside the computation
//     (trl, torchtune and unsloth, on a stream of their own).

// aside is what a step moves outside of device memory, and the optimizer step there. The zero value is none.
type aside struct {
	moves  []speed.Move // hidden by computation
	after  []speed.Move // not hidden
	stored []speed.Move // to NVMe and back, at the store's rate
	adam   float64      // bytes that all ranks of a node read and write in host memory
	host   unit.ByteRate
	// assumed reports that the host's memory rate is assumed.
	assumed bool
	program string

	link, cpu speed.Figure // fractions reached of the link's and the host's rate
}

func away(where string) bool { return where != "" && where != "none" }

// fsdp reports whether parameters and states are offloaded together (torch/distributed/fsdp, CPUOffload).
func (m *Model) fsdp() bool { return m.fullySharded() && m.in.Training.Sharding != "zero3" }

// offload computes the costs of offloading. The error is a *plan.Problem.
func (m *Model) offload() (err error) {
	o := m.in.Plan.Offload
	if o == nil || !away(o.Optimizer) && !away(o.Params) && !away(o.Activations) {
		return nil
	}
	a := &m.aside
	a.host, a.assumed = m.in.Machine.HostRate()
	a.program = speed.DeepSpeedAdam
	if m.fsdp() && m.in.Training.Optimizer == "adamw" {
		a.program = speed.TorchAdam
	}
	if a.link, err = speed.LinkShare(); err != nil {
		return err
	}
	if a.cpu, err = speed.HostAdam(a.program); err != nil {
		return err
	}
	for _, part := range []struct {
		field, where string
		add          func(rate unit.ByteRate)
	}{{"params", o.Params, m.paramsAway}, {"activations", o.Activations, m.activationsAway}, {"optimizer", m.optimizerAt(o), m.optimizerAway}} {
		if !away(part.where) {
			continue
		}
		rate, ok := m.in.Machine.Reach(m.device, part.where, m.sharers())
		if !ok {
			return &plan.Problem{Field: "offload." + part.field, Value: part.where, Message: "nobody says how fast " + part.where + " of " + m.device.Name + " is reached",
				Fix: "say nvme=4TB@7GB/s, or host=512GiB@400GB/s and the link of the device", Lacking: true}
		}
		part.add(rate)
	}
	return nil
}

// optimizerAt returns where the optimizer states are.
func (m *Model) optimizerAt(o *plan.Offload) string {
	if m.fsdp() && !away(o.Optimizer) {
		return o.Params
	}
	return o.Optimizer
}

// sharers returns the devices of a node, which share its host memory and disk.
func (m *Model) sharers() int64 { return min(m.groups.devices, m.groups.domain) }

// move adds a copy hidden by computation.
func (a *aside) move(name string, bytes float64, rate unit.ByteRate) {
	if bytes > 0 {
		a.moves = append(a.moves, speed.Move{Name: name, Bytes: bytes, Rate: rate})
	}
}

// paramsAway adds offloaded parameters: FSDP copies shards as stored, in FP32 if it trains in FP32, and casts them on the device;
// ZeRO-3 stores them in 16 bits.
func (m *Model) paramsAway(rate unit.ByteRate) {
	bytes := m.perRank(func(w *weightSum) float64 {
		if m.fsdp() && m.precision() != "bf16" && !m.frozen() {
			return 4 * w.elements
		}
		return w.bytes
	}, func(replicas int64) int64 { return replicas })
	m.aside.move("params", 2*bytes*float64(m.groups.passes), rate)
}

// activationsAway adds offloaded activations: the residual stream entering each layer, out and back.
func (m *Model) activationsAway(rate unit.ByteRate) {
	g := &m.groups
	stream := activation * float64(m.in.Model.Hidden) * float64(g.micro*g.sequence) / float64(g.cp)
	if m.sequenceParallel() {
		stream /= float64(g.tp)
	}
	layers := float64(len(m.in.Model.Decoder().Layers)) / float64(g.pp)
	m.aside.move("activations", 2*stream*layers*float64(g.passes), rate)
}

// Bytes of a parameter that cross the link for the optimizer: its gradient in each pass, the new weight once; and those
// that NVMe reads and writes, gradient, master and both moments (deepspeed/runtime/swap_tensor), one after the other
// since pipeline_read and pipeline_write are off.
const (
	gradientOut = 4
	weightBack  = 2
	swapped     = 2 * 16
)

func (m *Model) optimizerAway(rate unit.ByteRate) {
	if m.frozen() {
		return // adapters are small
	}
	a, o := &m.aside, m.in.Plan.Offload
	own := m.perRank(func(w *weightSum) float64 { return w.trained }, m.optimizerShards)
	pcie := rate
	if o.Optimizer == "nvme" {
		a.stored = append(a.stored, speed.Move{Name: "optimizer", Bytes: swapped * own, Rate: rate})
		pcie, _ = m.in.Machine.Reach(m.device, "host", m.sharers())
	}
	a.move("gradients", gradientOut*own*float64(m.groups.passes), pcie)
	if !m.fsdp() {
		a.after = append(a.after, speed.Move{Name: "weights", Bytes: weightBack * own, Rate: pcie})
	}
	a.adam = speed.AdamBytes * own * float64(m.sharers())
	m.once.update = 0 // not on the device
}

// perRank sums what a rank holds of common and of expert weights, each sharded over a number of its replicas.
func (m *Model) perRank(of func(*weightSum) float64, shards func(replicas int64) int64) float64 {
	g, h := &m.groups, &m.once.held
	n := of(&h.common)/float64(shards(g.dp*g.cp)) + of(&h.experts)/float64(shards(g.expertReplicas()))
	return n / float64(g.pp)
}

// times returns the times of offloading: copies as far as not hidden by computing for the given time, and what nothing hides.
func (a *aside) times(computed float64) (copies, optimizer, nvme speed.Figure) {
	if a.link.Mid == 0 {
		return
	}
	busy := speed.Figure{Mid: computed, Low: computed, High: computed}
	copies = speed.Exposed(busy, a.moves, a.link)
	for _, m := range a.after {
		copies = copies.Plus(m.Seconds(a.link))
	}
	for _, m := range a.stored {
		s := m.Bytes / float64(m.Rate)
		nvme = nvme.Plus(speed.Figure{Mid: s / a.link.Mid, Low: s, High: slowStore * s})
	}
	if a.adam > 0 {
		optimizer = a.cpu.Inverse().Times(a.adam / float64(a.host))
	}
	return copies, optimizer, nvme
}

// slowStore is how much longer a store may take than at its read rate because it writes as much as it reads; assumed.
const slowStore = 3

// HostRate returns the assumed memory rate of the hosts; assumed is false if it was given or does not matter.
func (m *Model) HostRate() (rate unit.ByteRate, assumed bool) {
	return m.aside.host, m.aside.assumed && m.aside.adam > 0
}
