package serving

import (
	"math"

	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/speed"
)

// count the layers of a kernel that have routed experts.
func (s *stage) count(k *speed.Kernel) {
	if k.Moe != nil {
		s.chosen = math.Max(s.chosen, float64(k.Moe.Used))
		s.routed = k.Moe
	}
	if k.Op.Kind == model.Route {
		s.mixtures += float64(k.Count)
	}
	s.small += float64(k.Count) * passes(k.Op.Kind)
}

// passes returns how many memory-bound kernels an operator is or brings along, given the engines' fusions: a residual sum is fused
// with the following norm, one kernel rotates queries and keys, attention writes the cache first, a router selects by its scores.
func passes(k model.OpKind) float64 {
	switch k {
	case model.Norm, model.Glu, model.Act, model.Attention, model.Route, model.Combine, model.Conv:
		return 1
	case model.Rope:
		return 0.5
	}
	return 0
}

// launched returns the number of launches of a step with prompts: all of its kernels or, if graphs of that size are captured, each
// attention and the graph before it (vllm/compilation/backends.py splits there).
func (s *stage) launched(in *In, tokens float64) float64 {
	if in.graphed(tokens) {
		return s.pieces
	}
	return s.launches
}

// graphed reports whether a step of so many tokens with prompts runs as graphs between its attentions.
func (in *In) graphed(tokens float64) bool { return tokens <= float64(in.GraphTokens) }

// countLaunches counts a step's kernels, those that are memory bound, and those that quantize.
func (s *stage) countLaunches() {
	s.launches = s.small
	for i := range s.ops {
		o := &s.ops[i]
		s.launches += o.count
		if q, ok := o.law.(quantising); ok && q.quantises() {
			s.launches += o.count
		}
		if _, ok := o.law.(phased); ok {
			s.pieces += 2 * o.count
		}
	}
}

// quantising are products that may take activations in 16 bits and quantise them first.
type quantising interface{ quantises() bool }
