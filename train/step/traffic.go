package step

import (
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/speed"
)

// split adds what a tensor group sends for a product whose columns are cut: its result is reduced forward, the
// gradient of what it came from backward, each 2 (t-1)/t of the result. With sequence parallelism what backward
// needs is gathered again; recomputation repeats the gathering (Korthikanti et al., arXiv:2205.05198, section 4.2).
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

// ring is the share of a buffer that each of n ranks sends to gather or scatter it.
func ring(n int64) float64 { return float64(n-1) / float64(n) }

// combine adds what experts cost beside their products: tokens copied to the order of experts and back, and sent to
// the ranks that hold them. Of a token's choices that lie in one other domain a copy is sent once (DeepSeek-V3,
// arXiv:2412.19437, section 3.2.2).
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

// reached is the chance that one of so many choices falls into a share.
func reached(share, choices float64) float64 {
	miss := 1.0
	for range int(choices) {
		miss *= 1 - share
	}
	return 1 - miss
}

// context adds the keys and values that the ranks of a context group pass around: forward, and twice backward
// (Ring Attention, arXiv:2310.01889). Ranks that share out heads exchange queries, keys, values and the output instead, and backward
// the gradients of all (Ulysses, arXiv:2309.14509).
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
