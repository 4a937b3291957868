package family

import "github.com/memwall/memwall/dtype"

// bart: encoder and decoder with one embedding and biases everywhere (arXiv:1910.13461; transformers,
// models/bart, mbart, m2m_100, marian, pegasus). BART normalises after each sum, the others before each branch;
// M2M-100 (NLLB) and Pegasus have fixed positions, which are not stored.
var bart = &Family{
	Name: "bart", Classes: []string{"BartForConditionalGeneration", "BartModel"}, Types: []string{"bart"},
	Config: func(c *Config) *Spec { return c.bart(AfterSum, true, true) },
}

var mbart = &Family{
	Name: "mbart", Classes: []string{"MBartForConditionalGeneration"}, Types: []string{"mbart"},
	Config: func(c *Config) *Spec { return c.bart(PreNorm, true, true) },
}

var m2m100 = &Family{
	Name: "m2m100", Classes: []string{"M2M100ForConditionalGeneration"}, Types: []string{"m2m_100", "nllb"},
	Config: func(c *Config) *Spec { return c.bart(PreNorm, false, false) },
}

var pegasus = &Family{
	Name: "pegasus", Classes: []string{"PegasusForConditionalGeneration"}, Types: []string{"pegasus"},
	Config: func(c *Config) *Spec { return c.bart(PreNorm, false, false) },
}

// bartOffset is by how many rows the table of positions is longer than the context.
const bartOffset = 2

func (c *Config) bart(place NormPlace, learned, embedNorm bool) *Spec {
	s := c.base(true)
	s.Source.Rotary, s.OutNorm = nil, NoNorm
	h := s.Hidden
	e := &Tower{Name: PartEncoder, Width: h, Layers: c.encoderSide(place)}
	if learned {
		s.Positions = s.Context + bartOffset
		e.Before = append(e.Before, table(dtype.PositionEmbd, s.Positions, h))
	}
	if embedNorm {
		s.EmbedNorm = LayerNormBias
		e.Before = append(e.Before, norms(dtype.TokenEmbdNorm, LayerNormBias, h))
	}
	if place == PreNorm {
		s.OutNorm = LayerNormBias
		e.After = []Weight{norms(dtype.OutputNorm, LayerNormBias, h)}
	}
	s.Layers = c.decoderSide(place, 0)
	s.Beside = []*Tower{e}
	return s
}

// encoderSide reads the layers of an encoder with biases everywhere.
func (c *Config) encoderSide(place NormPlace) []Layer {
	h := c.Int("d_model")
	l := Layer{Norm: LayerNormBias, Place: place, Attn: seeing(h, c.Int("encoder_attention_heads")).bias(true, true, true), FFN: MLP{Inner: c.Int("encoder_ffn_dim"), Bias: true, Act: GELU}}
	return repeat(l, int(min(c.Int("encoder_layers"), maxLayers)))
}

// decoderSide reads the layers of a decoder that attends to an encoder's output; source is how many tokens that
// has when it is fixed.
func (c *Config) decoderSide(place NormPlace, source int64) []Layer {
	h := c.Int("d_model")
	a := seeing(h, c.Int("decoder_attention_heads")).bias(true, true, true)
	a.Bidirectional = false
	l := Layer{Norm: LayerNormBias, Place: place, Attn: a, Cross: a, FFN: MLP{Inner: c.Int("decoder_ffn_dim"), Bias: true, Act: GELU}}
	l.Cross.Encoder, l.Cross.Source = h, source
	return repeat(l, int(min(c.Int("decoder_layers"), maxLayers)))
}
