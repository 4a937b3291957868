package family

import (
	"fmt"

	"github.com/memwall/memwall/dtype"
)

// codet5p: the large CodeT5+ (arXiv:2305.07922): a small encoder and a large decoder of CodeGen's layers, of
// which the last attends to the encoder's output through a map to the decoder's width (the published class
// CodeT5pEncoderDecoderModel). Cross-attention reads the layer's own norm.
var codet5p = &Family{
	Name: "codet5p", Classes: []string{"CodeT5pEncoderDecoderModel"}, Types: []string{"codet5p"},
	Config: func(c *Config) *Spec {
		d, e := c.part("decoder"), c.part("encoder")
		s := d.base(false)
		s.Family, s.OutNorm, s.HeadBias, s.Source.Rotary = "codet5p", LayerNormBias, true, nil
		s.Layers = d.codegenLayers(false)
		if !d.Bool(false, "add_cross_attention") {
			d.fail("add_cross_attention", false, "leaves the encoder without a reader", "give the config.json of a CodeT5+ model")
		}
		last := &s.Layers[len(s.Layers)-1]
		last.Cross = last.Attn
		last.Cross.Encoder = s.Hidden
		w := e.Int("n_embd")
		t := &Tower{Name: PartEncoder, Width: w, Layers: e.codegenLayers(true),
			Before: []Weight{table(dtype.TokenEmbd, e.Int("vocab_size"), w)}, After: []Weight{norms(dtype.OutputNorm, LayerNormBias, w)}}
		if w != s.Hidden {
			t.After = append(t.After, mapping(dtype.ProjectorIn, w, s.Hidden, true))
		}
		s.Beside = []*Tower{t}
		if s.Native == nil {
			s.Native = c.Native()
		}
		return s
	},
}

// codegenLayers: one norm, attention without biases and an MLP with them side by side (arXiv:2203.13474).
func (c *Config) codegenLayers(encodes bool) []Layer {
	h := c.Int("n_embd")
	if inner := c.IntOr(4*h, "n_inner"); inner != 4*h {
		c.fail("n_inner", fmt.Sprint(inner), "is not four times n_embd, as in every published model", "correct the config.json")
	}
	a := seeing(h, c.Int("n_head"))
	a.Fused, a.NoRope, a.Bidirectional = true, false, encodes
	return repeat(Layer{Norm: LayerNormBias, Place: Parallel, Sum: Branches, Attn: a, FFN: MLP{Inner: 4 * h, Bias: true, Act: GELU}}, c.Layers())
}
