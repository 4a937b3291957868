package family

import "math"

// decilm: llama whose layers differ as a search left them: any may lack its attention or its MLP, and widths vary
// (Llama-Nemotron, arXiv:2505.00949; nvidia/Llama-3_3-Nemotron-Super-49B-v1, modeling_decilm.py).
var decilm = &Family{
	Name: "deci", Classes: []string{"DeciLMForCausalLM"}, Types: []string{"nemotron-nas", "deci"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		n := c.Layers()
		blocks := c.subs("block_configs")
		if len(blocks) != n {
			c.fail("block_configs", nil, "does not describe each layer", "give the full config.json of the model")
			return s
		}
		h := c.Int("num_attention_heads")
		a := Attention{Heads: h, KVHeads: h, DimK: c.IntOr(s.Hidden/h, "head_dim")}
		a.DimV = a.DimK
		b := c.Bool(false, "attention_bias")
		if c.ropeType() == "llama3" {
			s.Tables = []Table{ropeTable(a.DimK / 2)}
		}
		s.Layers = repeat(Layer{Norm: RMS}, n)
		for i, block := range blocks {
			s.Layers[i].deciAttention(block, a.bias(b, b, b))
			s.Layers[i].deciMLP(block, s.Hidden, c.Bool(false, "mlp_bias"))
		}
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		ff, ok := m.PerLayer("feed_forward_length", n)
		if !ok {
			m.fail(m.key("feed_forward_length"), "", "is missing")
			return s
		}
		attn := m.heads(n)
		q, _ := m.PerLayer("attention.head_count", n)
		s.Layers = repeat(Layer{Norm: RMS}, n)
		for i := range s.Layers {
			s.Layers[i].Attn, s.Layers[i].FFN = attn[i], MLP{Inner: ff[i], Gated: true}
			s.Layers[i].Linear = attn[i].Heads == 0 && q[i] > 0
		}
		return s
	},
}

func (l *Layer) deciAttention(block *Config, a Attention) {
	c := block.Sub("attention")
	switch {
	case c == nil:
		block.fail("attention", nil, "is missing", "give the full config.json of the model")
	case c.Bool(false, "no_op"):
	case c.Bool(false, "replace_with_linear"):
		l.Linear = true
	default:
		group := max(1, c.Int("n_heads_in_group"))
		a.KVHeads = max(1, a.Heads/group)
		a.Window = c.IntOr(0, "window_length")
		l.Attn = a
	}
}

func (l *Layer) deciMLP(block *Config, hidden int64, biased bool) {
	c := block.Sub("ffn")
	switch {
	case c == nil:
		block.fail("ffn", nil, "is missing", "give the full config.json of the model")
	case c.Bool(false, "no_op"):
	case c.Bool(false, "replace_with_linear"):
		c.fail("replace_with_linear", true, "puts one matrix in the place of an MLP, which no published model does", "correct the config.json")
	default:
		l.FFN = MLP{Inner: deciInner(c.Float(0, "ffn_mult"), hidden), Gated: true, Bias: biased}
		if l.FFN.Inner < 1 {
			c.fail("ffn_mult", c.m["ffn_mult"], "gives the MLP no width", "correct the config.json")
		}
	}
}

// deciInner is two thirds of a multiple of the hidden size, rounded up to 256.
func deciInner(mult float64, hidden int64) int64 {
	const unit = 256
	x := math.Floor(2 * mult * float64(hidden) / 3)
	if !(x > 0 && x < 1<<24) {
		return 0
	}
	return (int64(x) + unit - 1) / unit * unit
}
