// Package step predicts how long a training step takes on a machine, and why. Matmuls, attention, elementwise work and
// communication between ranks all follow from the model's operator list as run by one rank (work.go, traffic.go); a
// pipeline's schedule says how often (schedule.go). The share of datasheet rates that a framework reaches is fitted to
// published runs by validation/fit/training, with inheritance from device to family to vendor and from framework to its
// class (uses.go).
//
// step.go has inputs and compilation, time.go the time model, predict.go the answer with its band, mfu.go the
// definitions of MFU and HFU.
//
// Invariants: no step is faster than its matmuls at the peak of their format; adding devices to fixed work never
// increases the work of each; full recomputation repeats one forward pass of the layers.
package step

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/shard"
	"github.com/memwall/memwall/speed"
)

// Input is a training run with every setting filled in. A DP of 0 is derived from the devices.
type Input struct {
	Model    *model.Model
	Weights  *model.Weights // format of the base during training: bf16, or nf4 and gptq with qlora
	Machine  *hardware.Machine
	Plan     *plan.Plan
	Training *plan.Training
	Extras   Extras
}

// Extras are settings of individual frameworks that plan.Training has no field for.
type Extras struct {
	// AsyncTP splits the matmuls of a tensor group into pieces that are sent while others are computed.
	AsyncTP bool
	// GatherFP8 gathers sharded weights in 8 bits (torchao's enable_fsdp_float8_all_gather).
	GatherFP8 bool
	// DropTokens limits experts to their capacity, so that all ranks send the same amount.
	DropTokens bool
	// ScatterMoE computes all experts of a layer in one kernel; otherwise transformers loops over them.
	ScatterMoE bool
	// Prediction also trains the multi-token prediction layers, if the model has any.
	Prediction bool
	// OptimizerShards is the number of ranks that shard the optimizer states; 0 means all that hold the same weights.
	OptimizerShards int64
	// Report is the publication of a measurement, whose method the fit accounts for; "" for predictions.
	Report string
}

// Model is a run compiled to the seconds of its parts at datasheet rates.
type Model struct {
	in     Input
	device *hardware.Device
	groups groups
	format format
	step   work  // of a whole step on the slowest rank, including bubbles
	turns  turns // of the layers and of the head in the step
	once   once
	aside  aside
	tokens float64 // per step, over all devices
	spread float64 // log2 of the number of fast-link domains that the run spans
	flops  flops
	floor  float64
	thaw   thaw
	bubble float64 // fraction of the slowest rank's passes that it idles
}

// groups are the sizes of the parallel groups, and the count of each part.
type groups struct {
	tp, pp, vpp, cp, ep, dp int64
	devices                 int64
	domain                  int64 // devices that share the fast link
	micro, passes           int64 // sequences per pass, and passes per step
	sequence                int64
	fast, slow              float64 // bytes per second of one device, within a domain and across
}

// Compile determines the work of a step. The error is a *plan.Problem, or that of the layout.
func Compile(in Input) (*Model, error) {
	m := &Model{in: in, thaw: thawed(&in)}
	if err := m.machine(); err != nil {
		return nil, err
	}
	if err := m.sizes(); err != nil {
		return nil, err
	}
	if err := m.arithmetic(); err != nil {
		return nil, err
	}
	if err := m.work(); err != nil {
		return nil, err
	}
	if err := m.offload(); err != nil {
		return nil, err
	}
	return m, nil
}

func (m *Model) machine() error {
	if len(m.in.Machine.Groups) != 1 {
		return &plan.Problem{Field: "hardware", Value: m.in.Machine.Name, Message: "the time of a training step is described for devices of one kind", Fix: "name one kind of accelerator", Lacking: true}
	}
	m.device = &m.in.Machine.Groups[0].Device
	if !m.device.Bandwidth.Known {
		return &plan.Problem{Field: "hardware", Value: m.device.ID, Message: "the memory rate of " + m.device.ID + " is not known", Fix: "say bandwidth=...", Lacking: true}
	}
	return nil
}

func (m *Model) sizes() error {
	p, t, mach := m.in.Plan, m.in.Training, m.in.Machine
	g := &m.groups
	*g = groups{tp: max(1, p.TP), pp: max(1, p.PP), cp: max(1, p.CP), ep: max(1, p.EP), dp: p.DP, vpp: max(1, t.VPP),
		devices: int64(mach.Devices()), micro: int64(t.MicroBatch), passes: int64(t.Accumulation), sequence: int64(t.SequenceLength)}
	if g.sequence < 1 || g.micro < 1 {
		return &plan.Problem{Field: "micro_batch", Message: "a step needs a sequence length and a micro-batch", Fix: "give both, from 1"}
	}
	replica := g.tp * g.pp * g.cp
	if g.dp == 0 {
		g.dp = g.devices / replica
	}
	if g.dp < 1 || replica*g.dp != g.devices {
		return &plan.Problem{Field: "dp", Value: fmt.Sprint(g.dp), Message: fmt.Sprintf("tp %d x pp %d x cp %d x dp %d are not the %d devices", g.tp, g.pp, g.cp, g.dp, g.devices),
			Fix: "groups whose product is the number of devices", Impossible: true}
	}
	if err := m.chunks(); err != nil {
		return err
	}
	g.domain = int64(max(1, mach.PerNode))
	if n := int64(m.device.PerNode.Value); mach.Nodes > 1 && n > 0 {
		g.domain = min(g.domain, n)
	}
	g.passes = passes(g, int64(t.GlobalBatch))
	return m.links()
}

// chunks checks that each virtual stage has at least one layer; embedding and head may be stages of their own.
func (m *Model) chunks() error {
	g, layers := &m.groups, int64(len(m.in.Model.Decoder().Layers))
	most := layers + 2
	switch {
	case g.pp > most:
		return &plan.Problem{Field: "pp", Value: fmt.Sprint(g.pp), Message: fmt.Sprintf("pp %d is more than the %d layers", g.pp, layers), Fix: fmt.Sprintf("at most %d", layers), Impossible: true}
	case g.pp > 1 && g.pp*g.vpp > most:
		return &plan.Problem{Field: "vpp", Value: fmt.Sprint(g.vpp), Message: fmt.Sprintf("pp %d x vpp %d are more chunks than the %d layers", g.pp, g.vpp, layers),
			Fix: fmt.Sprintf("at most %d", layers/g.pp), Impossible: true}
	}
	return nil
}

// passes returns the passes per step: as given, or as the global batch requires.
func passes(g *groups, global int64) int64 {
	switch {
	case g.passes > 0:
		return g.passes
	case global > 0:
		return max(1, global/(g.micro*g.dp))
	}
	return 1
}

func (m *Model) links() error {
	g, mach := &m.groups, m.in.Machine
	if g.devices == 1 {
		return nil
	}
	fast, slow := mach.Intra.EachWay, mach.Inter.EachWay
	if mach.PerNode == 1 {
		fast = slow
	}
	if !fast.Known || mach.Nodes > 1 && !slow.Known {
		return &plan.Problem{Field: "hardware", Value: mach.Name, Message: "the rate between the devices is not known", Fix: "say link=name:rate or fabric=name:rate", Lacking: true}
	}
	g.fast, g.slow = float64(fast.Value), float64(fast.Value)
	if mach.Nodes > 1 {
		g.slow = min(float64(slow.Value), g.fast)
	}
	return nil
}

// rate returns the rate of a device in a group that spans the given neighbors.
func (g *groups) rate(span int64) float64 {
	if span <= g.domain {
		return g.fast
	}
	return g.slow
}

// ring returns the rate of a ring over all devices: it enters a domain once, over all external links that the tensor group leaves
// free.
func (g *groups) ring() float64 {
	if g.devices <= g.domain {
		return g.fast
	}
	return min(g.fast, g.slow*float64(g.domain)/float64(g.tp))
}

func (m *Model) work() error {
	layers, head, err := m.part(0)
	if err != nil {
		return err
	}
	if p := m.prediction(); p > 0 {
		if err := m.predict(p, &layers, &head); err != nil {
			return err
		}
	}
	m.schedule(&layers, &head)
	return nil
}

// prediction returns the index of the multi-token prediction part; 0 if there is none.
func (m *Model) prediction() int {
	for i := range m.in.Model.Parts {
		if m.in.Extras.Prediction && m.in.Model.Parts[i].Name == model.PartMTP {
			return i
		}
	}
	return 0
}

// predict adds the multi-token prediction layers, each of which ends in the head again.
func (m *Model) predict(part int, layers, head *work) error {
	more, _, err := m.part(part)
	if err != nil {
		return err
	}
	layers.add(&more, 1)
	again := *head
	head.add(&again, float64(len(m.in.Model.Parts[part].Layers)))
	return nil
}

// kernels calls f for everything that one rank of the tensor and expert groups runs of a part, over all layers.
func (m *Model) kernels(part int, f func(*speed.Kernel)) error {
	placed, err := engine.Place(&m.in.Model.Parts[part], &m.in.Weights.Parts[part], shard.Parallel{TP: m.groups.tp, EP: m.groups.ep})
	if err != nil {
		return err
	}
	speed.Walk(m.in.Model, &placed[0], model.Exec{ActBytes: activation, KVBytes: activation, StateBytes: activation}, f)
	return nil
}

// activation is the bytes per number between operators: all frameworks compute in 16 bits.
const activation = 2

// frozen reports whether only adapters train.
func (m *Model) frozen() bool { return m.in.Training.Method != "" && m.in.Training.Method != "full" }

// on dereferences an optional setting.
func on(b *bool) bool { return b != nil && *b }

// sequenceParallel reports whether the tensor group shards norms and residual sums.
func (m *Model) sequenceParallel() bool { return m.groups.tp > 1 && on(m.in.Training.SequenceParallel) }

// fullySharded reports whether every rank holds a shard of all weights and gathers them for each layer.
func (m *Model) fullySharded() bool {
	switch m.in.Training.Sharding {
	case "zero3", "fsdp", "fsdp2", "hsdp":
		return true
	}
	return false
}

// precision returns the precision of matmuls in lower case.
func (m *Model) precision() string { return strings.ToLower(m.in.Training.Precision) }
