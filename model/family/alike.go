package family

// plainest is a network that the tensors of a file's layers show by themselves: of attention, state-space mixers, feed-forward parts and
// experts.
var plainest = &Family{Header: func(m *Meta) *Spec {
	s := m.probed(0, SiLU)
	for i := range s.Layers {
		m.probeState(i, &s.Layers[i])
	}
	return s
}}

// probeState finds the mixer of a layer that has no attention, and whether the layer is one branch alone.
func (m *Meta) probeState(i int, l *Layer) {
	switch {
	case m.InLayer(i, "attn_kv_b.weight"): // keys and values are made of a latent, and cached in full
		a := Attention{Heads: l.Attn.Heads, KVHeads: l.Attn.Heads, QRank: m.IntOr(0, "attention.q_lora_rank"), KVRank: m.Int("attention.kv_lora_rank"),
			DimK: l.Attn.DimK, DimV: l.Attn.DimV, Expanded: true}
		a.Nope = a.DimK - m.Int("rope.dimension_count")
		l.Attn = a
	case !m.InLayer(i, "attn_q.weight") && !m.InLayer(i, "attn_qkv.weight"):
		l.Attn = Attention{}
	}
	switch {
	case !m.InLayer(i, "ssm_conv1d.weight"):
	case m.InLayer(i, "ssm_x.weight"): // Mamba-1 projects dt, B and C
		l.SSM = m.mamba1()
		l.SSM.DBCNorm = m.InLayer(i, "ssm_dt_norm.weight")
	case m.InLayer(i, "ssm_in.weight"):
		l.SSM = m.mamba2()
		l.SSM.NoNorm, l.SSM.BiasIn = !m.InLayer(i, "ssm_norm.weight"), m.InLayer(i, "ssm_in.bias")
		l.SSM.NoConvBias = !m.InLayer(i, "ssm_conv1d.bias")
	}
	branches := 0
	for _, there := range []bool{l.Attn.Heads > 0, l.SSM.Inner > 0, l.FFN.Inner > 0 || l.MoE.Experts > 0} {
		if there {
			branches++
		}
	}
	if branches == 1 {
		l.Place = Single
	}
}

// Alike reads the header of a file whose architecture no family has, as files of each of some families are read, by the file's own
// keys: first by the tensors alone, then in the order given. It gives the first network that accepts takes, which sets it beside the
// file's tensors, and as whose file it was read, "" for by its
// tensors alone; nil where there is none.
func Alike(h Header, of []*Family, accepts func(*Spec) bool) (s *Spec, as string) {
	for _, f := range append([]*Family{plainest}, of...) {
		if f.Header == nil {
			continue
		}
		m := &Meta{h: h, arch: h.Architecture()}
		s := f.Header(m)
		if m.err != nil || s == nil || s.Check() != nil || len(s.Layers) == 0 {
			continue
		}
		s.Arch, s.Family = m.arch, f.Name
		if f == plainest {
			s.Family = m.arch
		}
		if accepts(s) {
			return s, f.Name
		}
	}
	return nil, ""
}
