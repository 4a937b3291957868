package vllm

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// Loading, replayed on torch's allocator: parameters in the order in which modules create them, the rotary
// table with what it is computed from, then the layouts that kernels want. What comes out is what the blocks
// take beyond their own sizes. vllm/model_executor/model_loader; on ROCm vLLM asks the driver, which knows
// whole segments only (vllm/platforms/rocm.py, get_current_memory_usage).

// unreplayed is since when the allocator was seen to take a little more than the replay says.
var unreplayed = engine.V(0, 19, 0)

type loading struct {
	caching
	small unit.Bytes // blocks of up to 1 MiB
	held  []heldParam
}

// heldParam is a parameter that will be processed; hosted ones lie in host memory before and after.
type heldParam struct {
	*param
	main, scales block
	hosted       bool
}

// block is a piece of a large segment, or a small one.
type block struct {
	piece
	small bool
}

func (l *loading) hold(b unit.Bytes) block {
	if b = rounded(b); b > smallBlock {
		return block{piece: l.take(b)}
	}
	l.small += b
	return block{piece{size: b}, true}
}

func (l *loading) drop(b block) {
	if b.small {
		l.small -= b.size
		return
	}
	l.give(b.piece)
}

func (l *loading) create(p *param) heldParam {
	h := heldParam{param: p, main: l.hold(p.main), scales: l.hold(p.scales)}
	if p.how != asLoaded || p.expanded > 0 {
		l.held = append(l.held, h)
	}
	return h
}

// host moves a layer's parameters to the host once it is complete; a copy read by attention remains.
func (l *loading) host(gone []heldParam) {
	for _, h := range gone {
		l.drop(h.main)
		l.drop(h.scales)
		for i := range l.held {
			l.held[i].hosted = l.held[i].hosted || l.held[i].param == h.param && l.held[i].main == h.main
		}
	}
}

// rotary computes a table in fp32: positions, angles, cosines and sines, both side by side, and the result
// in its own width (vllm/model_executor/layers/rotary_embedding, _compute_cos_sin_cache).
func (l *loading) rotary(r model.Rotary, width int64) {
	half := unit.Bytes(4 * r.Positions * r.Dim / 2)
	angles, cos, sin, both := l.hold(half), l.hold(half), l.hold(half), l.hold(2*half)
	l.drop(angles)
	l.drop(cos)
	l.drop(sin)
	if width == 4 {
		return
	}
	l.hold(unit.Bytes(width * r.Positions * r.Dim))
	l.drop(both)
}

// process allocates the final blocks of parameters that kernels repack.
func (l *loading) process() {
	for i := range l.held {
		h := &l.held[i]
		l.hold(h.expanded)
		if h.how == asLoaded || h.hosted {
			continue
		}
		first := l.hold(h.param.main)
		if h.how == transposed {
			second := l.hold(h.param.main)
			l.drop(first)
			first = second
		}
		l.drop(h.main)
		h.main = first
		scales := l.hold(h.kept)
		l.drop(h.scales)
		h.scales = scales
	}
}

// taken returns what loading has allocated, or on ROCm reserved.
func (l *loading) taken(rocm bool) unit.Bytes {
	if rocm {
		return l.reserved + unit.Bytes(unit.PadUp(int64(l.small), int64(segmentRound)))
	}
	return l.allocated + l.small
}

// paramSets are the parameters of a class of ranks: before the layers, of a layer of each variant, after.
type paramSets struct {
	pre, post []param
	layers    map[int][]param
}

// add takes the weight groups in their order: before, one for each kind, after.
func (p *paramSets) add(pl *engine.Placed, n int, set []param) {
	if pl.Pre {
		n--
	}
	switch {
	case n < 0:
		p.pre = set
	case n < len(pl.Kinds):
		p.layers[pl.Kinds[n].Variant] = set
	default:
		p.post = set
	}
}

// replay loads what a class of ranks holds and returns the memory it takes.
func (s *sizer) replay(pl *engine.Placed, sets *paramSets, small unit.Bytes, hosted *engine.Hosted) unit.Bytes {
	l := &loading{small: small}
	l.createAll(sets.pre, nil, nil)
	tables := func() { s.tables(l) }
	for n := pl.First; n < pl.Last; n++ {
		set := sets.layers[int(pl.Weights.Layers[n])]
		away := hosted.Of(n-pl.First, len(set))
		l.createAll(set, tables, func(i int) bool { return i < away && !s.returns(&set[i]) })
		tables = nil
	}
	l.createAll(sets.post, tables, nil)
	l.process()
	return l.taken(s.t.rocm)
}

// createAll creates a set of parameters; rotary, when not nil, runs once the attention is there; what hosted tells goes
// to the host at the end.
func (l *loading) createAll(set []param, rotary func(), hosted func(int) bool) {
	var gone []heldParam
	for i := range set {
		h := l.create(&set[i])
		if hosted != nil && hosted(i) {
			gone = append(gone, h)
		}
		if rotary != nil && set[i].role == dtype.AttnOutput {
			rotary()
			rotary = nil
		}
	}
	if rotary != nil {
		rotary()
	}
	l.host(gone)
}

func (s *sizer) tables(l *loading) {
	for _, r := range rotaryTables(s.job.Model) {
		l.rotary(r, rotaryWidth(s.job.Model))
	}
}
