package family

// llama4: three layers that attend within chunks of 8192 and one to everything, without rotary positions; routed experts
// with a shared one in every layer or every second (transformers, models/llama4). Models with the vision tower
// name this as their text model.
var llama4 = &Family{
	Name: "llama4", Classes: []string{"Llama4ForCausalLM"}, Types: []string{"llama4_text"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		n := c.Layers()
		b := c.Bool(false, "attention_bias")
		a := c.heads().bias(b, b, b)
		if c.ropeType() == "llama3" {
			s.Tables = []Table{ropeTable(a.DimK / 2)}
		}
		if c.Bool(true, "use_qk_norm") {
			a.QKNorm = Weightless
		}
		e := MoE{Experts: c.IntOr(16, "num_local_experts"), Used: c.IntOr(1, "num_experts_per_tok"), Inner: c.Int("intermediate_size"), Gated: true, Sigmoid: true}
		e.Shared = e.Inner
		step := max(1, int(c.IntOr(1, "interleave_moe_layer_step")))
		dense := MLP{Inner: c.IntOr(16384, "intermediate_size_mlp"), Gated: true}
		s.Layers = llama4Layers(Layer{Norm: RMS, Attn: a}, c.IntOr(8192, "attention_chunk_size"), c.turning(n, 4))
		for i := range s.Layers {
			if i%step == step-1 {
				s.Layers[i].MoE = e
			} else {
				s.Layers[i].FFN = dense
			}
		}
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		a := m.heads(n)[0]
		if m.IntOr(0, "expert_count") == 16 {
			a.QKNorm = Weightless // llama.cpp knows Scout by its experts
		}
		e := MoE{Experts: m.Int("expert_count"), Used: m.Int("expert_used_count"), Inner: m.Int("expert_feed_forward_length"), Gated: true, Sigmoid: true}
		e.Shared = e.Inner
		step := max(1, int(m.IntOr(1, "interleave_moe_layer_step")))
		turns := make([]bool, n)
		for i := range turns {
			turns[i] = (i+1)%4 != 0
		}
		s.Layers = llama4Layers(Layer{Norm: RMS, Attn: a}, m.IntOr(8192, "attention.chunk_size"), turns)
		for i := range s.Layers {
			if i%step == step-1 {
				s.Layers[i].MoE = e
			} else {
				s.Layers[i].FFN = m.gated()
			}
		}
		return s
	},
}

// llama4Layers: layers without rotary positions see everything, and normalise neither queries nor keys.
func llama4Layers(l Layer, chunk int64, turns []bool) []Layer {
	out := repeat(l, len(turns))
	for i := range out {
		a := &out[i].Attn
		if turns[i] {
			a.Chunk, a.TurnFirst = chunk, true
		} else {
			a.NoRope, a.QKNorm = true, NoQKNorm
		}
	}
	return out
}
