package family

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// plamo2: Mamba and attention in turn, norms before and after each branch, windows in all but listed layers
// (arXiv:2509.04897; pfnet/plamo-2-8b, modeling_plamo.py).
var plamo2 = &Family{
	Name: "plamo2", Classes: []string{"Plamo2ForCausalLM"}, Types: []string{"plamo2"},
	Config: func(c *Config) *Spec {
		s := c.base(true)
		n := c.Layers()
		width := c.IntOr(128, "hidden_size_per_head")
		h := c.Int("num_attention_heads")
		a := Attention{Heads: h, KVHeads: c.IntOr(4, "num_key_value_heads"), DimK: width, DimV: width, Fused: true, QKNorm: EachHead}
		a.Window = c.IntOr(0, "attention_window_size")
		mixers := c.IntOr(64, "mamba_num_heads")
		mamba := SSM{Style: MambaWide, Conv: c.IntOr(4, "mamba_d_conv"), Inner: mixers * width, State: c.IntOr(64, "mamba_d_state"), Heads: mixers, Rank: max(64, s.Hidden/16), NoConvBias: true}
		f := c.gated()
		f.Fused = true
		s.Layers = hybrid(n, Layer{Norm: RMS, Place: Sandwich, FFN: f}, a, mamba, c.plamoAttends(n))
		for _, i := range c.Ints("full_attention_idx") {
			if i < int64(n) {
				s.Layers[i].Attn.Window = 0
			}
		}
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		heads := m.Int("ssm.time_step_rank")
		mamba := SSM{Style: MambaWide, Conv: m.Int("ssm.conv_kernel"), Inner: m.Int("ssm.inner_size"), State: m.Int("ssm.state_size"), Heads: heads, Rank: max(64, s.Hidden/16), NoConvBias: true}
		s.Layers = repeat(Layer{Norm: RMS, Place: Sandwich, FFN: MLP{Inner: m.Int("feed_forward_length"), Gated: true, Fused: true}}, n)
		for i, a := range m.heads(n) {
			if a.Heads == 0 {
				s.Layers[i].SSM = mamba
				continue
			}
			a.Fused, a.QKNorm = true, EachHead
			s.Layers[i].Attn = a
		}
		return s
	},
}

// plamo3: norms before and after each branch, queries and keys normalised per head, seven sliding layers to one that sees all
// (pfnet/plamo-3-nict-8b-base, configuration_plamo.py and modeling_plamo.py; vLLM, models/plamo3.py).
var plamo3 = &Family{
	Name: "plamo3", Classes: []string{"Plamo3ForCausalLM"}, Types: []string{"plamo3"},
	Config: func(c *Config) *Spec {
		s := c.base(true)
		n := c.Layers()
		a, f := normed(c.heads()), c.gated()
		a.Fused, f.Fused = true, true
		s.Layers = repeat(Layer{Norm: RMS, Place: Sandwich, Attn: a, FFN: f}, n)
		window := c.IntOr(128, "window_size")
		for i, slides := range c.sliding(n, 8) {
			if slides {
				s.Layers[i].Attn.Window = window
			}
		}
		return s
	},
}

// plamoAttends: the layer in the middle of each run of mamba_step attends; in a network shorter than that, the last.
func (c *Config) plamoAttends(n int) func(int) bool {
	step := max(2, int(c.IntOr(2, "mamba_step")))
	return func(i int) bool {
		switch {
		case !c.Bool(true, "mamba_enabled"):
			return true
		case n <= step/2:
			return i == n-1
		}
		return i%step == step/2
	}
}

// mambaWide: dt, B and C come from one matrix and are normalised, as in Jamba; the state has heads, as in Mamba-2.
func (b *layerBuilder) mambaWide(x model.Val) model.Val {
	s := &b.l.SSM
	hd := s.Inner / s.Heads
	rows := heads(s.Inner, hd)
	dims := &model.ScanDims{Conv: s.Conv, Inner: s.Inner, State: s.State, Heads: s.Heads, HeadDim: hd}
	in := matrix(dtype.SSMIn, rows, unsplit(b.h))
	in.Segs = append(in.Segs, rows)
	z := b.linear(x, in, false)
	u := b.conv(b.bySeq(z, s.Inner, s.Inner, 0), dims, rows)
	dbc := b.linear(u, matrix(dtype.SSMX, unsplit(s.Rank+2*s.State), rows), false)
	sb := b.norm(RMS, dtype.SSMBNorm, b.bySeq(dbc, s.State, 0, 0), s.State)
	sc := b.norm(RMS, dtype.SSMCNorm, b.bySeq(dbc, s.State, s.State, 0), s.State)
	dt := b.norm(RMS, dtype.SSMDtNorm, b.bySeq(dbc, s.Rank, 2*s.State, 0), s.Rank)
	dt = b.linear(dt, matrix(dtype.SSMDt, heads(s.Heads, 1), unsplit(s.Rank)), true)
	y := b.op(model.Op{Kind: model.Scan, Out: s.Inner, Scan: dims, W: []*model.Tensor{b.perHead(dtype.SSMA), b.perHead(dtype.SSMD)}}, u, dt, sb, sc)
	g := b.glu(model.SiLU, b.bySeq(z, s.Inner, 0, hd), y, hd)
	return b.linear(g, matrix(dtype.SSMOut, unsplit(b.h), rows), false)
}
