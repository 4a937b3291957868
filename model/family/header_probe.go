package family

// probed reads a GGUF header of an attention network by the tensors that its layers have: widths, biases, norms, experts.
// What no tensor shows follows: which layers slide (the file's list, or all but each period-th where it names a window), and
// the activation. llama.cpp loads such files by the same names (src/llama-arch.cpp).
func (m *Meta) probed(period int64, act Activation) *Spec {
	s := m.base()
	n := m.Layers()
	if s.OutNorm = m.probeNorm("output_norm"); m.Has("token_embd_norm.weight") {
		s.EmbedNorm = m.probeNorm("token_embd_norm")
	}
	if d, ok := m.h.TensorDims("position_embd.weight"); ok && len(d) > 1 {
		s.Positions = d[1]
	}
	s.HeadBias = m.Has("output.bias")
	attn, slides := m.heads(n), make([]bool, n)
	window := m.IntOr(0, "attention.sliding_window")
	if window > 0 {
		slides = m.windows(n, period)
	}
	s.Layers = make([]Layer, n)
	for i := range s.Layers {
		a := attn[i]
		if slides[i] { // which may have narrower heads (Gemma 4)
			a.Window, a.DimK = window, m.IntOr(a.DimK, "attention.key_length_swa")
			a.DimV = m.IntOr(a.DimV, "attention.value_length_swa")
		}
		l := Layer{Attn: m.probeAttention(i, a), OutScale: m.InLayer(i, "layer_output_scale.weight")}
		m.probePlace(i, &l)
		m.probeFFN(i, &l, act)
		s.Layers[i] = l
	}
	return s
}

// probeNorm is the kind of a norm: what has a bias subtracts the mean.
func (m *Meta) probeNorm(name string) NormKind {
	switch {
	case m.Has(name + ".bias"):
		return LayerNormBias
	case m.Has(name + ".weight"):
		return RMS
	}
	return NoNorm
}

// probePlace finds where a layer normalises.
func (m *Meta) probePlace(i int, l *Layer) {
	has := func(name string) bool { return m.InLayer(i, name+".weight") }
	l.Norm = RMS
	if m.InLayer(i, "attn_norm.bias") {
		l.Norm = LayerNormBias
	}
	switch {
	case has("post_attention_norm") && has("post_ffw_norm") && has("attn_norm"):
		l.Place = Sandwich
	case has("post_attention_norm") && has("post_ffw_norm"):
		l.Place = PostNorm
	case has("attn_output_norm") && has("layer_output_norm") && has("ffn_norm"):
		l.Place = SandwichOut
	case has("post_attention_norm"):
		l.Place = PreNormPost
	case has("attn_norm") && !has("ffn_norm") && has("attn_norm_2"):
		l.Place = PreNorm2
	case has("attn_norm") && !has("ffn_norm"):
		l.Place = Parallel
	}
}

func (m *Meta) probeAttention(i int, a Attention) Attention {
	if a.Heads == 0 {
		return a
	}
	a.Fused = m.InLayer(i, "attn_qkv.weight")
	a.BiasQ = m.InLayer(i, "attn_q.bias") || m.InLayer(i, "attn_qkv.bias")
	a.BiasKV, a.BiasOut = m.InLayer(i, "attn_k.bias"), m.InLayer(i, "attn_output.bias")
	a.Sinks = m.InLayer(i, "attn_sinks.weight")
	a.KEqV = m.InLayer(i, "attn_k.weight") && !m.InLayer(i, "attn_v.weight") // one matrix for both
	switch n := m.size(i, "attn_q_norm.weight"); {
	case n == a.DimK && m.InLayer(i, "attn_q_norm.bias"):
		a.QKNorm = PerHeadBias
	case n == a.DimK:
		a.QKNorm = PerHead
	case n == a.Heads*a.DimK:
		a.QKNorm = FullWidth
	}
	if g := m.layerRows(i, "attn_gate.weight"); g > 0 && g%a.Heads == 0 {
		a.OutGate = g / a.Heads
	}
	return a
}

// size counts the elements of a layer's tensor; 0 when it has none.
func (m *Meta) size(layer int, name string) int64 {
	d, ok := m.h.TensorDims(layerTensor(layer, name))
	if !ok || len(d) == 0 {
		return 0
	}
	n := int64(1)
	for _, x := range d {
		if x <= 0 || x > maxWidth || n > maxWidth {
			return 0
		}
		n *= x
	}
	return n
}

// layerRows is the second dimension of a layer's tensor.
func (m *Meta) layerRows(layer int, name string) int64 { return m.Rows(layerTensor(layer, name)) }

func (m *Meta) probeFFN(i int, l *Layer, act Activation) {
	if inner := m.layerRows(i, "ffn_up.weight"); inner > 0 {
		l.FFN = MLP{Inner: inner, Gated: m.InLayer(i, "ffn_gate.weight"), Bias: m.InLayer(i, "ffn_up.bias"), Act: act}
		if !l.FFN.Gated && inner == 2*m.layerCols(i, "ffn_down.weight") { // one matrix for gate and up
			l.FFN.Inner, l.FFN.Gated, l.FFN.Fused = inner/2, true, true
		}
	}
	if !m.InLayer(i, "ffn_gate_inp.weight") {
		return
	}
	l.MoE = MoE{Experts: m.Int("expert_count"), Used: m.Int("expert_used_count"), Inner: m.layerRows(i, "ffn_up_exps.weight"), Gated: m.InLayer(i, "ffn_gate_exps.weight"),
		Bias: m.InLayer(i, "ffn_up_exps.bias"), ChoiceBias: m.InLayer(i, "exp_probs_b.bias"), Shared: m.layerRows(i, "ffn_up_shexp.weight"), SharedGate: m.InLayer(i, "ffn_gate_inp_shexp.weight"),
		Sigmoid: m.IntOr(1, "expert_gating_func") == 2, Norm: m.Bool(false, "expert_weights_norm"), Act: act}
	l.MoE.Beside = m.InLayer(i, "pre_ffw_norm_2.weight")
	l.MoE.WithFFN = l.FFN.Inner > 0 && !l.MoE.Beside
	if both := m.layerRows(i, "ffn_gate_up_exps.weight"); both > 0 {
		l.MoE.Inner, l.MoE.Gated, l.MoE.FusedGateUp = both/2, true, true
	}
	scale, ok := m.h.Float(m.key("expert_weights_scale"))
	l.MoE.Scaled = ok && scale != 1 && scale != 0
	l.MoE = l.MoE.grouped(m.IntOr(0, "expert_group_count"), m.IntOr(0, "expert_group_used_count"))
	if l.MoE.Inner == 0 {
		m.fail(layerTensor(i, "ffn_up_exps.weight"), "", "is missing, though the layer chooses among experts")
	}
}

// layerCols is the first dimension of a layer's tensor.
func (m *Meta) layerCols(layer int, name string) int64 {
	if d, ok := m.h.TensorDims(layerTensor(layer, name)); ok && len(d) > 0 {
		return d[0]
	}
	return 0
}
