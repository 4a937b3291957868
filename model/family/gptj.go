package family

import "github.com/memwall/memwall/model"

// gptj: one norm, attention and MLP side by side, biases in the MLP and the head only, rotary positions of a
// part of each head (Wang and Komatsuzaki 2021; transformers, models/gptj/modeling_gptj.py).
var gptj = &Family{
	Name: "gptj", Classes: []string{"GPTJForCausalLM"}, Types: []string{"gptj"},
	Config: func(c *Config) *Spec { return c.gptj(false) },
}

// codegen: GPT-J with a fused qkv matrix (arXiv:2203.13474; transformers, models/codegen). Moss is built on it.
var codegen = &Family{
	Name: "codegen", Classes: []string{"CodeGenForCausalLM", "MossForCausalLM"}, Types: []string{"codegen", "moss"},
	Config: func(c *Config) *Spec { return c.gptj(true) },
}

func (c *Config) gptj(fused bool) *Spec {
	s := c.base(false)
	if c.Bool(false, "tie_word_embeddings") {
		c.fail("tie_word_embeddings", true, "ties a head that has a bias of its own, which no published model does", "correct the config.json")
	}
	a := c.heads()
	a.Fused = fused
	s.OutNorm, s.HeadBias = LayerNormBias, true
	s.Source.Rotary = []model.Rotary{{Positions: s.Context, Dim: c.IntOr(a.DimK, "rotary_dim")}}
	mlp := MLP{Inner: c.IntOr(4*s.Hidden, "n_inner"), Bias: true, Act: GELU}
	s.Layers = repeat(Layer{Norm: LayerNormBias, Place: Parallel, Sum: Branches, Attn: a, FFN: mlp}, c.Layers())
	return s
}
