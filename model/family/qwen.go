package family

// qwen2: llama with biases on queries, keys and values.
var qwen2 = &Family{
	Name: "qwen2", Classes: []string{"Qwen2ForCausalLM", "Qwen2Model"}, Types: []string{"qwen2"},
	Config: func(c *Config) *Spec { return c.qwen(c.heads().bias(true, true, false)) },
	Header: func(m *Meta) *Spec { return m.qwen(func(a Attention) Attention { return a.bias(true, true, false) }) },
}

// qwen2moe: routed experts and a gated shared one.
var qwen2moe = &Family{
	Name: "qwen2moe", Classes: []string{"Qwen2MoeForCausalLM"}, Types: []string{"qwen2_moe"},
	Config: func(c *Config) *Spec { return c.qwen(c.heads().bias(true, true, false)) },
	Header: func(m *Meta) *Spec { return m.qwen(func(a Attention) Attention { return a.bias(true, true, false) }) },
}

// qwen3: no biases; queries and keys are normalised per head.
var qwen3 = &Family{
	Name: "qwen3", Classes: []string{"Qwen3ForCausalLM", "Qwen3Model"}, Types: []string{"qwen3"},
	Config: func(c *Config) *Spec { return c.qwen(normed(c.heads())) },
	Header: func(m *Meta) *Spec { return m.qwen(normed) },
}

var qwen3moe = &Family{
	Name: "qwen3moe", Classes: []string{"Qwen3MoeForCausalLM"}, Types: []string{"qwen3_moe"},
	Config: func(c *Config) *Spec { return c.qwen(normed(c.heads())) },
	Header: func(m *Meta) *Spec { return m.qwen(normed) },
}

func normed(a Attention) Attention {
	a.QKNorm = PerHead
	return a
}

func (c *Config) qwen(a Attention) *Spec {
	s := c.base(false)
	if b := c.Bool(false, "attention_bias"); b {
		a = a.bias(true, true, true)
	}
	if c.Bool(false, "use_sliding_window") {
		a.Window = c.IntOr(0, "sliding_window")
	}
	n := c.Layers()
	dense := Layer{Norm: RMS, Attn: a}
	moe := Layer{Norm: RMS, Attn: a, MoE: c.qwenMoE(a.QKNorm == PerHead)}
	if moe.MoE.Experts == 0 || len(c.Ints("mlp_only_layers")) > 0 || c.IntOr(1, "decoder_sparse_step") > 1 {
		dense.FFN = c.gated()
	}
	s.Layers = make([]Layer, n)
	step := max(1, c.IntOr(1, "decoder_sparse_step"))
	for i := range s.Layers {
		s.Layers[i] = dense
		if moe.MoE.Experts > 0 && (int64(i)+1)%step == 0 {
			s.Layers[i] = moe
		}
	}
	for _, i := range c.Ints("mlp_only_layers") {
		if i < int64(n) {
			s.Layers[i] = dense
		}
	}
	s.NoHead = c.Class() == "Qwen2Model" || c.Class() == "Qwen3Model"
	return s
}

func (c *Config) qwenMoE(norm bool) MoE {
	e := c.IntOr(0, "num_experts", "num_local_experts")
	if e == 0 {
		return MoE{}
	}
	shared := c.IntOr(0, "shared_expert_intermediate_size")
	return MoE{Experts: e, Used: c.Int("num_experts_per_tok"), Inner: c.Int("moe_intermediate_size"), Gated: true, Norm: norm, Shared: shared, SharedGate: shared > 0}
}

func (m *Meta) qwen(attn func(Attention) Attention) *Spec {
	s := m.base()
	n := m.Layers()
	l := Layer{Norm: RMS, Attn: attn(m.heads(n)[0])}
	l.MoE = m.qwenMoE(l.Attn.QKNorm == PerHead)
	if l.MoE.Experts == 0 {
		l.FFN = m.gated()
	}
	s.Layers = repeat(l, n)
	return s
}

func (m *Meta) qwenMoE(norm bool) MoE {
	e := m.IntOr(0, "expert_count")
	if e == 0 {
		return MoE{}
	}
	shared := m.IntOr(0, "expert_shared_feed_forward_length")
	return MoE{Experts: e, Used: m.Int("expert_used_count"), Inner: m.Int("expert_feed_forward_length"), Gated: true, Norm: norm, Shared: shared, SharedGate: shared > 0}
}

// qwen3next: three gated delta net layers, then one with gated attention; experts everywhere.
var qwen3next = &Family{
	Name: "qwen3next", Classes: []string{"Qwen3NextForCausalLM"}, Types: []string{"qwen3_next"},
	Config: func(c *Config) *Spec { return c.qwenHybrid(false, c.IntOr(1, "num_nextn_predict_layers")) },
	Header: func(m *Meta) *Spec { return m.qwenHybrid(false) },
}

// qwen35: the same with separate beta and alpha; dense or with experts.
var qwen35 = &Family{
	Name: "qwen35", Classes: []string{"Qwen3_5ForCausalLM", "Qwen3_5ForConditionalGeneration"}, Types: []string{"qwen3_5", "qwen3_5_text"},
	Config: func(c *Config) *Spec {
		t := c.Text()
		s := c.outerTie(t.qwenHybrid(true, t.IntOr(0, "mtp_num_hidden_layers")))
		s.Vision = c.qwenVision()
		return s
	},
	Header: func(m *Meta) *Spec { return m.qwenHybrid(true) },
}

var qwen35moe = &Family{
	Name: "qwen35moe", Classes: []string{"Qwen3_5MoeForCausalLM", "Qwen3_5MoeForConditionalGeneration"}, Types: []string{"qwen3_5_moe", "qwen3_5_moe_text"},
	Config: qwen35.Config,
	Header: func(m *Meta) *Spec { return m.qwenHybrid(true) },
}

// outerTie: wrappers of a text model say at the top whether the head is tied.
func (c *Config) outerTie(s *Spec) *Spec {
	s.Tied = c.Bool(s.Tied, "tie_word_embeddings")
	if s.Native == nil {
		s.Native = c.Native()
	}
	return s
}

func (c *Config) qwenHybrid(split bool, mtp int64) *Spec {
	s := c.base(false)
	n := c.Layers()
	a := normed(c.heads())
	a.Gate = true
	kh, vh := c.Int("linear_num_key_heads"), c.Int("linear_num_value_heads")
	ssm := SSM{Style: DeltaNet, Conv: c.Int("linear_conv_kernel_dim"), Inner: vh * c.Int("linear_value_head_dim"), State: c.Int("linear_key_head_dim"),
		Heads: vh, Groups: kh, SplitBA: split, NoConvBias: true}
	f := Layer{Norm: RMS, Place: PreNormPost, MoE: c.qwenMoE(true)}
	if f.MoE.Experts == 0 {
		f.FFN = c.gated()
	}
	interval := c.IntOr(4, "full_attention_interval")
	types := c.Strs("layer_types")
	full := func(i int) bool {
		if len(types) >= n {
			return types[i] == "full_attention"
		}
		return interval > 0 && (int64(i)+1)%interval == 0
	}
	s.Layers = hybrid(n, f, a, ssm, full)
	f.Attn = a
	s.MTP = repeat(f, int(min(mtp, 8)))
	return s
}

func (m *Meta) qwenHybrid(split bool) *Spec {
	s := m.base()
	n := m.Layers()
	a := normed(m.heads(n)[0])
	a.Gate = true
	ssm := SSM{Style: DeltaNet, Conv: m.Int("ssm.conv_kernel"), Inner: m.Int("ssm.inner_size"), State: m.Int("ssm.state_size"),
		Heads: m.Int("ssm.time_step_rank"), Groups: m.Int("ssm.group_count"), SplitBA: split, NoConvBias: true}
	f := Layer{Norm: RMS, Place: PreNormPost, MoE: m.qwenMoE(true)}
	if f.MoE.Experts == 0 {
		f.FFN = m.gated()
	}
	interval := max(1, m.IntOr(4, "full_attention_interval"))
	s.Layers = hybrid(n, f, a, ssm, func(i int) bool { return (int64(i)+1)%interval == 0 })
	return s
}

// hybrid alternates a recurrent mixer with attention.
func hybrid(n int, rest Layer, a Attention, ssm SSM, attends func(int) bool) []Layer {
	out := repeat(rest, n)
	for i := range out {
		if attends(i) {
			out[i].Attn = a
		} else {
			out[i].SSM = ssm
		}
	}
	return out
}
