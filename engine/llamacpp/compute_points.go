package llamacpp

import (
	"fmt"

	"github.com/memwall/memwall/model"
)

// The points of a layer where most is alive at once, in bytes for each token, cell and slot.

// pointsOf one kind: attention, MLP, experts, scan.
func (g *graph) pointsOf(d *dims) (out []point) {
	if d.attn != nil {
		out = append(out, g.attention(d)...)
	}
	if d.inner > 0 {
		out = append(out, g.mlp(d))
	}
	if d.expert > 0 {
		out = append(out, g.experts(d))
	}
	if d.scan != nil {
		out = append(out, g.scan(d.scan, d.scanIn))
	}
	return out
}

// attention: without flash attention the scores; with it, over a quantised cache on CUDA, f16 copies of
// one layer's keys and values.
func (g *graph) attention(d *dims) (out []point) {
	a, h := d.attn, g.hidden
	window := max(a.Window, a.Chunk)
	switch l := a.Latent; {
	case l != nil && g.s.rules.latent != latentExpanded:
		out = append(out, point{name: "latent_attention_bytes", token: 12*h + 4*a.Heads*(2*l.Rope+l.Nope+l.Rope+l.Rank+l.Width()),
			origin: "12 × hidden + 4 × heads × (queries, absorbed queries, latent)"})
		if !g.s.set.flash {
			out = append(out, point{name: "scores_bytes", token: 8*h + 8*a.Heads*l.Width(), score: 4 * a.Heads, origin: "8 × hidden + 8 × queries of latent width"})
		}
		return out
	case !g.s.set.flash && d.fusedQKV:
		out = append(out, point{name: "scores_bytes", token: 4*h + 4*d.queries(), score: 4 * a.Heads, window: window, origin: "4 × hidden + 4 × queries"})
	case !g.s.set.flash:
		out = append(out, point{name: "scores_bytes", token: 8*h + 8*d.queries(), score: 4 * a.Heads, window: window, origin: "8 × hidden + 8 × queries"})
	}
	if cell := g.scratch(d); cell > 0 {
		streams := int64(8)
		if d.fusedQKV || d.postNorm {
			streams = 4
		}
		out = append(out, point{name: "attention_bytes", token: streams*h + 8*d.queries(), cell: cell, window: window, origin: "hidden and queries"})
	}
	return out
}

// scratch is the bytes per cell of f16 copies (ggml/src/ggml-cuda/fattn.cu).
func (g *graph) scratch(d *dims) (n int64) {
	a := d.attn
	if !g.s.set.flash || !g.s.rules.scratch || !g.s.copiesCache() || !flashHeads(a.DimK, a.DimV, a.Heads/max(1, a.KVHeads)) {
		return 0
	}
	if g.s.k.BlockElems > 1 {
		n += 2 * d.keys()
	}
	if g.s.v.BlockElems > 1 {
		n += 2 * d.values()
	}
	return n
}

// copiesCache reports whether the devices have CUDA's kernels.
func (s *sizer) copiesCache() bool {
	for i := range s.devices {
		if s.devices[i].backend.narrowFA {
			return true
		}
	}
	return false
}

func (g *graph) mlp(d *dims) point {
	h, q, gated := g.hidden, int64(0), g.gatedBytes()
	if d.attn != nil {
		q = 4 * d.queries()
	}
	p := point{name: "mlp_bytes", weighs: true}
	switch {
	case d.gated && d.fusedQKV:
		p.token, p.origin = 8*h+gated*d.inner, fmt.Sprintf("8 × hidden + %d × ffn", gated)
	case d.gated:
		p.token, p.origin = 8*h+q+gated*d.inner, fmt.Sprintf("8 × hidden + 4 × queries + %d × ffn", gated)
	case d.side:
		p.token, p.origin = 16*h+4*d.inner, "16 × hidden + 4 × ffn"
	default:
		p.token, p.origin = 12*h+4*d.inner, "12 × hidden + 4 × ffn"
	}
	return p
}

// gatedBytes of gate, up and, unless it overwrites the gate, their product.
func (g *graph) gatedBytes() int64 {
	if g.s.rules.gated {
		return 12
	}
	return 8
}

func (g *graph) experts(d *dims) point {
	gated := g.gatedBytes()
	p := point{name: "experts_bytes", weighs: true, token: 8*g.hidden + gated*d.expert*d.used, origin: fmt.Sprintf("8 × hidden + 4 × queries + %d × expert_ffn × experts_used", gated)}
	switch {
	case g.quirk.wideExperts:
		p.token += 8 * g.hidden
		p.origin = fmt.Sprintf("16 × hidden + %d × expert_ffn × experts_used", gated)
	case d.attn != nil:
		p.token += 4 * d.queries()
	}
	if g.hidden > 2*d.expert {
		p.token += 4 * g.hidden * d.used
	}
	return p
}

func (g *graph) scan(s *model.ScanDims, in int64) point {
	h, state := g.hidden, 4*s.State*s.Inner
	switch {
	case s.Delta:
		return point{name: "scan_bytes", weighs: true, token: 8*h + 8*(s.ConvDim()+s.Inner), slot: state, origin: "8 × hidden + 8 × (conv + inner)"}
	case s.Groups > 0:
		return point{name: "scan_bytes", weighs: true, token: 8*h + 4*(in+2*s.ConvDim()+s.Inner), origin: "8 × hidden + 4 × (projection + 2 × conv + inner)"}
	}
	return point{name: "scan_bytes", weighs: true, token: 8*h + 20*s.Inner, slot: state, origin: "8 × hidden + 20 × inner"}
}
