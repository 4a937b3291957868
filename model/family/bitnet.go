package family

// bitnet: BitNet b1.58 (arXiv:2402.17764, arXiv:2504.12285; transformers, models/bitnet): llama with an MLP of squared ReLU and a norm
// before the output matrix of each branch. Its matrices are ternary in files of that format and bf16 in those for training.
var bitnet = &Family{
	Name: "bitnet", Classes: []string{"BitNetForCausalLM", "BitnetForCausalLM"}, Types: []string{"bitnet"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		l := Layer{Norm: RMS, Attn: c.heads(), FFN: c.gated(), InnerNorm: true}
		l.FFN.Act = ReLU2
		s.Layers = repeat(l, c.Layers())
		return s
	},
}
