package step

import "github.com/memwall/memwall/speed"

// scorePass is an operator of attention that writes the matrix of scores: the bytes that it reads and writes of each
// score in the forward and in the backward pass.
type scorePass struct {
	forward, backward float64
	drops             bool // only where attention drops some
}

// Attention that is not fused goes over all scores of a head, causal or not, once for each operator.
//
// moduleScores are those of transformers' modules (eager_attention_forward, models/llama/modeling_llama.py): the product
// of queries and keys in 16 bits, scaled, masked, a softmax in 32 bits, its cast to 16, dropout with a mask of a byte,
// and the product with the values. fusedScores are Megatron's (core/fusions/fused_softmax.py), which scale, mask and
// normalise in one kernel.
var (
	moduleScores = []scorePass{
		{forward: 2, backward: 2 + 2}, // queries and keys: both gradients read that of the scores
		{forward: 2 + 2, backward: 2 + 2},
		{forward: 2 + 2},
		{forward: 2 + 4, backward: 4 + 4 + 2},
		{forward: 4 + 2, backward: 2 + 4},
		{forward: 2 + 2 + 1, backward: 2 + 1 + 2, drops: true},
		{forward: 2, backward: 2 + 2}, // values: reads the scores again, and writes their gradient
	}
	fusedScores = []scorePass{
		{forward: 2, backward: 2 + 2},
		{forward: 2 + 2, backward: 2 + 2 + 2},
		{forward: 2 + 2 + 1, backward: 2 + 1 + 2, drops: true},
		{forward: 2, backward: 2 + 2},
	}
)

// scoreBytes returns the bytes moved per score, for the given number of forward passes.
func (m *Model) scoreBytes(forward float64) (bytes float64) {
	passes := fusedScores
	if c := m.class(); c == eager || c == sharded {
		passes = moduleScores
	}
	drops := m.in.Training.Masks != nil && *m.in.Training.Masks > 0
	for _, p := range passes {
		if !p.drops || drops {
			bytes += p.forward*forward + p.backward
		}
	}
	return bytes
}

// square adds unfused attention: the products of all queries with all keys, and the traffic of their scores.
func (w *walker) square(k *speed.Kernel, p passesOf) {
	a := k.Attn
	scores := float64(a.Heads) * w.tokens * w.share * float64(w.m.groups.sequence)
	seconds := w.count * 2 * scores * float64(a.DimK+a.DimV) * p.all() / w.m.format.wide
	w.out.attend += seconds
	w.out.edges += seconds / float64(w.m.groups.sequence)
	w.out.misaligned += seconds * unevenHead(a.DimK)
	w.out.scores += w.count * scores * w.m.scoreBytes(p.forward) / w.memory()
}
