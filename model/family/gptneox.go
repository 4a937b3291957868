package family

// gptneox: GPT-NeoX and Pythia (arXiv:2204.06745, arXiv:2304.01373): fused qkv, biases, two layer norms, attention and
// MLP side by side; transformers, models/gpt_neox/modeling_gpt_neox.py. The reward models of Open-Assistant end in one
// score.
var gptneox = &Family{
	Name: "gptneox", Classes: []string{"GPTNeoXForCausalLM", "GPTNeoXRewardModel", "GPTNeoXModel"}, Types: []string{"gpt_neox", "gpt_neox_reward_model"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		b := c.Bool(true, "attention_bias")
		a := c.heads().bias(b, b, b)
		gptneoxSpec(s, a, c.Int("intermediate_size"), c.Bool(true, "use_parallel_residual"), c.Layers())
		switch c.Class() {
		case "GPTNeoXRewardModel":
			s.Score, s.HeadBias = 1, true
		case "GPTNeoXModel":
			s.NoHead = true
		}
		return s
	},
	Header: func(m *Meta) *Spec {
		s := m.base()
		n := m.Layers()
		gptneoxSpec(s, m.heads(n)[0].bias(true, true, true), m.Int("feed_forward_length"), m.Bool(true, "use_parallel_residual"), n)
		return s
	},
}

func gptneoxSpec(s *Spec, a Attention, inner int64, parallel bool, n int) {
	a.Fused = true
	s.OutNorm = LayerNormBias
	l := Layer{Norm: LayerNormBias, Attn: a, FFN: MLP{Inner: inner, Bias: true, Act: GELU}}
	if parallel {
		l.Place = Parallel2
	}
	s.Layers = repeat(l, n)
}
