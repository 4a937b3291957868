package step

import (
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/speed"
)

// split adds the tensor-parallel communication of a column-parallel product: its result is reduced in the forward pass and its
// input's gradient in the backward pass, each moving 2 (t-1)/t of the result. With sequence parallelism, the input of the backward
// pass is gathered again; recomputation repeats the gathering (Korthikanti et al., arXiv:2205.05198, section 4.2).
func (w *walker) split(k *speed.Kernel) {
	g := &w.m.groups
	if g.tp == 1 || k.Op.Kind != model.Linear || len(k.Op.W) == 0 || k.Op.W[0].ColsBy == model.Whole {
		return
	}
	times := 4 + w.recipe.repeats(k)
	if w.m.sequenceParallel() {
		times++
	}
	bytes := activation * float64(k.Op.Out) * w.tokens * w.share * ring(g.tp)
	w.out.tensor += w.count * times * bytes / g.rate(g.tp)
}

// ring returns the fraction of a buffer that each of n ranks sends to gather or scatter it.
func ring(n int64) float64 { return float64(n-1) / float64(n) }

// combine adds the costs of experts other than their products: tokens permuted to expert order and back, and sent to the ranks that
// hold the experts. Of a token's choices in the same remote domain, one copy is sent (DeepSeek-V3, arXiv:2412.19437, section
// 3.2.2).
func (w *walker) combine(k *speed.Kernel) {
	g := &w.m.groups
	repeat := w.recipe.repeats(k)
	chosen := float64(k.Moe.Used)
	row := activation * float64(k.Op.Out) * w.tokens * w.share
	if g.tp > 1 {
		row /= float64(g.tp)
	}
	w.out.permute += w.count * chosen * row * (4*(1+repeat) + 8) / w.memory()
	w.out.dispatches += w.count * (2.5 + repeat)
	w.out.launches += w.count * (3 + repeat) * 4 / 3
	if !w.m.in.Extras.ScatterMoE && w.m.class() == eager {
		w.out.loops += w.count * (2.5 + repeat) * float64(k.Moe.N)
	}
	if g.ep == 1 {
		return
	}
	sent := w.count * row * (4 + 2*repeat)
	w.out.inside += sent * chosen * ring(g.ep) / g.fast
	if domains := float64(g.ep*g.tp) / float64(g.domain); domains > 1 {
		w.out.across += sent * domains * reached(1/domains, chosen) * (domains - 1) / domains / g.slow
	}
}

// reached returns the probability that any of a number of choices falls into a share.
func reached(share, choices float64) float64 {
	miss := 1.0
	for range int(choices) {
		miss *= 1 - share
	}
	return 1 - miss
}

// context adds the keys and values that the ranks of a context group pass around: once forward and twice backward (Ring Attention,
// arXiv:2310.01889). Ranks that divide heads exchange queries, keys, values and the output instead, and all their gradients
// backward (Ulysses, arXiv:2309.14509).
func (w *walker) context(k *speed.Kernel) {
	g := &w.m.groups
	if g.cp == 1 {
		return
	}
	a := k.Attn
	width := float64(a.KVHeads * (a.DimK + a.DimV))
	if a.Latent != nil {
		width = float64(a.Heads * (a.Latent.Nope + a.Latent.Rope + a.Latent.V))
	}
	if w.m.in.Training.CPComm == "a2a" {
		width += float64(a.Heads * (a.DimK + a.DimV))
		bytes := activation * width * w.tokens * ring(g.cp) / float64(g.cp)
		w.out.ring += w.count * bytes * (2 + w.recipe.repeats(k)) / g.rate(g.cp*g.tp)
		return
	}
	bytes := activation * width * w.tokens * ring(g.cp)
	w.out.ring += w.count * bytes * (3 + w.recipe.repeats(k)) / g.rate(g.cp*g.tp)
}
