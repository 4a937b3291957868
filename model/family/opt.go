package family

import "fmt"

// opt: learned positions, layer norms and biases, ungated MLP (Zhang et al., arXiv:2205.01068;
// transformers, models/opt/modeling_opt.py). Its smaller word embeddings and its norms after the sum are of
// opt-350m alone, and not described.
var opt = &Family{
	Name: "opt", Classes: []string{"OPTForCausalLM"}, Types: []string{"opt"},
	Config: func(c *Config) *Spec {
		s := c.base(true)
		s.Source.Rotary = nil
		s.Positions = s.Context + optOffset
		a := c.heads()
		a.NoRope = true
		b := c.Bool(true, "enable_bias")
		s.OutNorm = LayerNormBias
		if c.Bool(false, "_remove_final_layer_norm") {
			s.OutNorm = NoNorm
		}
		s.Layers = repeat(Layer{Norm: LayerNormBias, Attn: a.bias(b, b, b), FFN: MLP{Inner: c.Int("ffn_dim"), Bias: b, Act: ReLU}}, c.Layers())
		c.checkOPT(s.Hidden)
		return s
	},
}

// optOffset is by how many rows the table of positions is longer than the context: the first two are of
// padding.
const optOffset = 2

func (c *Config) checkOPT(hidden int64) {
	const fix = "any other OPT model: opt-350m alone is built so"
	if w := c.IntOr(hidden, "word_embed_proj_dim"); w != hidden {
		c.lacks("word_embed_proj_dim", w, fmt.Sprintf("is not hidden_size = %d, and projections of the embedding are not described", hidden), fix)
	}
	if !c.Bool(true, "layer_norm_elementwise_affine") {
		c.lacks("layer_norm_elementwise_affine", false, "is of no published OPT model, and norms without weights are not described", "give an OPT model whose norms have weights")
	}
	if !c.Bool(true, "do_layer_norm_before") {
		c.lacks("do_layer_norm_before", false, "puts norms after the sum, which is not described", fix)
	}
}
