// Package serving predicts how fast an engine with continuous batching serves many users: the time of a step for any
// batch, and what follows from it for a fixed number of users: TTFT, TPOT and tokens a second.
//
// Compile returns the Model of a plan. Its Step is the time of one batch, for simulators; its Closed is the steady
// state of a closed loop (closed.go). A step is the sum of its kernels (product.go, attention.go, experts.go, scan.go,
// link.go) and of the engine's own code (host.go). validation/fit/serving fits all coefficients to measurements of
// single kernels and whole engines; fitted.tsv has them.
package serving

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/coef"
)

// In is a plan as this package needs it.
type In struct {
	Model *model.Model
	// Stages has the ranks of a pipeline in order, the slowest of each stage; one without a pipeline.
	Stages []engine.Placed
	Device *hardware.Device
	Link   hardware.Link // between the ranks of a tensor group; the zero Link is the device's own
	Engine string        // "vllm", "sglang", "tensorrt-llm" or another
	// Version of the engine; zero when it is not known.
	Version engine.Version
	// Exec are the widths of activations, cache and states.
	Exec model.Exec
	// Replicas is how many replicas of the stages there are (data parallelism). Experts spread over more ranks
	// than a tensor group has are shared by the replicas, which then wait for each other (attention DP).
	Replicas int64
	// CacheTokens is how many tokens the caches of a replica hold; 0 when it is not known, which bounds nothing.
	CacheTokens int64
	// MaxSequences is how many sequences a replica computes at once; 0 for no bound.
	MaxSequences int64
	// ChunkTokens is the most tokens of prompts in a step; 0 is 8192.
	ChunkTokens int64
	// GraphTokens is the most tokens of a step with prompts that runs as CUDA graphs between its attentions; 0 where none does.
	GraphTokens int64
	// Eager: kernels are launched one by one, not as CUDA graphs.
	Eager bool
	// StreamInterval is how many tokens the server sends at a time; 0 is 1.
	StreamInterval int64
	// AdmitEvery is how many steps pass between two looks for new requests (SGLang); 0 is 1.
	AdmitEvery int64
	// BatchWait is how many steps prompts wait at most for others to join them (TensorRT-LLM; with attention DP until
	// each rank has one).
	BatchWait int64
	// MoE names the back end of mixtures; "" is the one that the engine takes.
	MoE string
	// Linear names the kernels of linear layers: Marlin's, which take activations in 16 bits; "" is what the engine takes.
	Linear string
	// Speculation drafts tokens that a step then verifies; nil without.
	Speculation *Speculation
	// Dispatch is how tokens go to experts that other replicas' ranks hold.
	Dispatch Dispatch
}

// Model is a plan, ready to be asked.
type Model struct {
	in     In
	device device
	stages []stage
	uses   []coef.Use
	c      []float64 // values of the coefficients
	vars   []float64 // variances of their logarithms
	host   hostCoefs
	table  *coef.Table
	peers  float64 // replicas that share experts
	width  float64 // tokens of a sequence in a step
}

// stage of a pipeline.
type stage struct {
	rank *speed.Rank
	ops  []op
	// mixtures are layers with routed experts, chosen how many of these a token takes.
	mixtures, chosen float64
	// launches of a step with prompts, and those left where graphs hold all but the attentions.
	launches, pieces float64
	small            float64 // kernels that only pass through memory
	routed           *model.Experts
}

// Compile makes a Model with the coefficients of this package. It fails where the device's rates are not known.
func Compile(in *In) (*Model, error) {
	t, err := fitted()
	if err != nil {
		return nil, err
	}
	return CompileWith(in, t)
}

// CompileWith takes coefficients from another table: a fit that is going on, or a calibration.
func CompileWith(in *In, t *coef.Table) (*Model, error) {
	if err := check(in); err != nil {
		return nil, err
	}
	m := &Model{in: *in, device: newDevice(in.Device), table: t, peers: 1, width: 1}
	if s := in.Speculation; s != nil {
		m.width = s.Width
	}
	b := m.book()
	for i := range in.Stages {
		m.stages = append(m.stages, m.stage(b, &in.Stages[i], func(*speed.Kernel, int) {}))
	}
	m.host = b.host()
	m.uses = b.uses
	m.Use(t)
	return m, nil
}

// book of the coefficients that the plan's kernels need.
func (m *Model) book() *book {
	in := &m.in
	b := newBook(m.device, in.Engine, versionKey(in.Engine, in.Version))
	b.era, b.moe, b.shared, b.whole = eraOf(&m.device, in.Engine, in.Version), in.MoE, shares(in), true
	b.linear = in.Linear
	b.launcher = launcher(in.Engine, in.Version)
	return b
}

// For is the model of a plan that places the same network on the same devices: with other replicas, room, batches or
// chances of drafted tokens, but with as many of these.
func (m *Model) For(in *In) *Model {
	v := *m
	v.in = *in
	return &v
}

// shares reports whether replicas share experts: these are spread over more ranks than a tensor group has.
func shares(in *In) bool { p := in.Stages[0].Parallel; return p.EP > p.TP }

// Use takes the values of the coefficients from a table.
func (m *Model) Use(t *coef.Table) {
	m.c, m.vars = make([]float64, len(m.uses)), make([]float64, len(m.uses))
	t.Each(m.uses, func(i int, v coef.Coef) { m.c[i], m.vars[i] = v.Value, v.Var })
	m.table = t
}

// Uses are the coefficients that the model depends on.
func (m *Model) Uses() []coef.Use { return m.uses }

func check(in *In) error {
	switch d := in.Device; {
	case d == nil:
		return errors.New("no device")
	case !d.Bandwidth.Known:
		return fmt.Errorf("the memory bandwidth of %s is not known", d.ID)
	case len(in.Stages) == 0:
		return errors.New("no stage")
	default:
		if _, p := speed.Arithmetic(d, nil); !p.Known {
			return fmt.Errorf("the peak rate of %s is not known", d.ID)
		}
	}
	return nil
}

// stage lists the kernels of a rank, like ones together. It tells of each operator which of the stage's kernels it is,
// passing for one that only passes through memory.
func (m *Model) stage(b *book, pl *engine.Placed, tell func(k *speed.Kernel, kernel int)) stage {
	s := stage{ops: make([]op, 0, 16)}
	w := b.pointwise()
	if pl.Parallel.EP > pl.Parallel.TP {
		m.peers = float64(pl.Parallel.EP / pl.Parallel.TP)
	}
	fuse := speed.Fuser{To: func(k *speed.Kernel) {
		s.count(k)
		at := m.kernel(b, &s, k)
		if at == passing {
			w.add(k)
		}
		tell(k, at)
	}}
	s.rank = speed.Walk(m.in.Model, pl, m.in.Exec, fuse.Add)
	fuse.Flush()
	s.ops = append(s.ops, op{w, 1, "elementwise", speed.Memory})
	s.ops = append(s.ops, m.links(b, pl, &s)...)
	s.countLaunches()
	return s
}

// passing stands for the kernel of those that only pass through memory.
const passing = -1

// kernel adds an operator with a law of its own and gives its place; passing for those that only pass through memory.
func (m *Model) kernel(b *book, s *stage, k *speed.Kernel) int {
	var l law
	part := "weights"
	switch {
	case k.Attn != nil:
		l, part = b.attention(k, m.in.Exec.KVBytes, m.width), "attention"
	case k.Scan != nil && k.Op.Kind == model.Scan:
		l, part = b.scan(k), "attention"
	case k.Op.Kind == model.ExpertLinear:
		l, part = b.experts(k, m.in.Stages[0].Parallel.Redundant, m.in.Dispatch.uneven()), multiplied
	case k.Op.Kind == model.Linear || k.Op.Kind == model.Route || k.Op.Kind == model.Head:
		if k.Rows == 0 {
			return passing
		}
		p := b.product(k.Scheme, k.Rows, k.Cols, k.Bytes)
		p.output = k.Op.Rows == model.PerOutput
		if l = &p; k.Op.Kind == model.Head {
			part = "head"
		}
		for i := range s.ops { // the same shape in another kind of layer
			if o, ok := s.ops[i].law.(*product); ok && *o == p && s.ops[i].part == part {
				s.ops[i].count += float64(k.Count)
				return i
			}
		}
	default:
		return passing
	}
	s.ops = append(s.ops, op{l, float64(k.Count), part, speed.Memory})
	return len(s.ops) - 1
}

// links are the all-reduces of a stage: two in a layer of a tensor group; experts that replicas share exchange
// their tokens before and after.
func (m *Model) links(b *book, pl *engine.Placed, s *stage) (out []op) {
	name, rate := m.in.Link.Name, float64(m.in.Link.EachWay.Value)
	if !m.in.Link.EachWay.Known {
		name, rate = b.peers()
	}
	act := m.in.Exec.ActBytes
	if tp := pl.Parallel.TP; tp > 1 {
		l := b.collective(name, rate, tp)
		l.perToken = act * float64(m.in.Model.Hidden)
		out = append(out, op{l, 2 * float64(s.rank.Layers), "all-reduce", speed.Network})
		if pl.Post {
			h := *l
			h.perToken, h.perOutput = 0, act*float64(m.in.Model.Vocab)/float64(tp)
			out = append(out, op{&h, 1, "all-reduce", speed.Network})
		}
	}
	if !pl.Post { // the stream goes on to the next stage
		l := b.collective(name, rate, 2)
		l.perToken = act * float64(m.in.Model.Hidden)
		out = append(out, op{l, 1, "hand-over", speed.Network})
	}
	if m.peers > 1 {
		out = append(out, op{s.exchange(m, b, pl.Parallel.EP, name, rate), 2 * s.mixtures, exchanged, speed.Network})
	}
	return out
}

// exchange of tokens between the ranks that share experts, one way: by the kernels that the plan names, or as whole engines
// were seen to, on the slowest link that it crosses.
func (s *stage) exchange(m *Model, b *book, ranks int64, name string, rate float64) law {
	d := &m.in.Dispatch
	if d.Kernels != "" {
		return s.dispatch(m, ranks, rate)
	}
	if d.crosses(ranks) {
		name, rate = d.Wire.Name, float64(d.Wire.EachWay.Value)
	}
	l := b.collective(name, rate, ranks)
	l.perToken, l.reach = m.in.Exec.ActBytes*float64(m.in.Model.Hidden), reached(float64(ranks), s.chosen)
	return l
}

// versionKey lumps versions of an engine that behave alike: minor versions, of SGLang patches too.
func versionKey(name string, v engine.Version) string {
	if v == (engine.Version{}) {
		return ""
	}
	if name == "sglang" {
		return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
	}
	return fmt.Sprintf("%d.%d", v.Major, v.Minor)
}

// EngineOf is the name in "vllm@0.24".
func EngineOf(text string) string {
	name, _, _ := strings.Cut(text, "@")
	return name
}

// Engines that are modelled as ones that batch.
func Engines() []string { return slices.Clone(batching) }

var batching = []string{"vllm", "sglang", "tensorrt-llm"}
