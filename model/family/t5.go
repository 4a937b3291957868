package family

import (
	"strings"

	"github.com/memwall/memwall/dtype"
)

// t5: encoder and decoder with one embedding, RMS norms, no biases, tables of relative positions (arXiv:1910.10683;
// transformers, models/t5, mt5, umt5). UMT5 has such a table in every layer, the others in the first.
var t5 = &Family{
	Name: "t5", Types: []string{"t5", "mt5", "umt5", "longt5"},
	Classes: []string{"T5ForConditionalGeneration", "MT5ForConditionalGeneration", "UMT5ForConditionalGeneration", "T5WithLMHeadModel"},
	Config: func(c *Config) *Spec {
		s := c.t5Ends()
		n := c.Layers()
		s.Layers = c.t5Layers(int(min(c.IntOr(int64(n), "num_decoder_layers"), maxLayers)), false)
		for i := range s.Layers {
			s.Layers[i].Cross = c.t5Attention(false)
			s.Layers[i].Cross.Encoder = s.Hidden
		}
		s.Beside = []*Tower{{Name: PartEncoder, Width: s.Hidden, Layers: c.t5Layers(n, true), After: []Weight{norms(dtype.OutputNorm, RMS, s.Hidden)}}}
		return s
	},
}

// t5Encoder is the encoder alone, as image generators use it.
var t5Encoder = &Family{
	Name: "t5encoder", Classes: []string{"T5EncoderModel", "MT5EncoderModel", "UMT5EncoderModel"}, Types: []string{"t5encoder"},
	Config: func(c *Config) *Spec {
		s := c.t5Ends()
		s.Encodes, s.NoHead = true, true
		s.Layers = c.t5Layers(c.Layers(), true)
		return s
	},
}

func (c *Config) t5Ends() *Spec {
	s := c.base(true)
	s.Source.Rotary = nil
	s.FileNames = []FileName{{dtype.AttnOutput, "attn_o"}}
	return s
}

func (c *Config) t5Attention(encodes bool) Attention {
	h, d := c.Int("num_heads"), c.Int("d_kv")
	return Attention{Heads: h, KVHeads: h, DimK: d, DimV: d, NoRope: true, Bidirectional: encodes}
}

func (c *Config) t5Layers(n int, encodes bool) []Layer {
	ff := c.Str("feed_forward_proj")
	f := MLP{Inner: c.Int("d_ff"), Gated: strings.HasPrefix(ff, "gated-"), Act: ReLU}
	if strings.HasSuffix(ff, "gelu") {
		f.Act = GELU
	}
	out := repeat(Layer{Norm: RMS, Attn: c.t5Attention(encodes), FFN: f}, n)
	bias := c.IntOr(32, "relative_attention_num_buckets") * c.Int("num_heads")
	for i := range out {
		if i == 0 || c.Str("model_type") == "umt5" {
			out[i].Attn.RelBias = bias
		}
	}
	return out
}
