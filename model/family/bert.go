package family

import "github.com/memwall/memwall/dtype"

// bert: encoders of text (arXiv:1810.04805) and the embedders and rerankers built on them: learned positions
// and segments, a norm after each sum, biases everywhere (transformers, models/bert, roberta, xlm_roberta).
var bert = &Family{
	Name: "bert", Types: []string{"bert", "roberta", "xlm-roberta", "xlm-roberta-xl", "camembert"},
	Classes: []string{"BertModel", "BertForMaskedLM", "BertForSequenceClassification", "BertForTokenClassification", "BertForQuestionAnswering",
		"RobertaModel", "RobertaForMaskedLM", "RobertaForSequenceClassification", "RobertaForTokenClassification",
		"XLMRobertaModel", "XLMRobertaForMaskedLM", "XLMRobertaForSequenceClassification", "XLMRobertaForTokenClassification", "CamembertModel", "CamembertForMaskedLM"},
	Config: func(c *Config) *Spec {
		s := c.encoder()
		s.Positions, s.Segments = c.Int("max_position_embeddings"), c.IntOr(2, "type_vocab_size")
		a := seeing(s.Hidden, c.Int("num_attention_heads")).bias(true, true, true)
		s.Layers = repeat(Layer{Norm: LayerNormBias, Place: AfterSum, Attn: a, FFN: MLP{Inner: c.Int("intermediate_size"), Bias: true, Act: GELU}}, c.Layers())
		c.task(s)
		return s
	},
}

// encoder reads the ends of an encoder: no head, a norm right after the embeddings.
func (c *Config) encoder() *Spec {
	s := c.base(true)
	s.Encodes, s.NoHead = true, true
	s.EmbedNorm, s.OutNorm = LayerNormBias, NoNorm
	s.Source.Rotary = nil
	return s
}

// task adds what the class puts behind the encoder: a pooler, a classifier, or a head over the vocabulary.
func (c *Config) task(s *Spec) {
	h := s.Hidden
	class := c.Class()
	roberta := len(class) > 0 && class[0] != 'B'
	switch suffix(class) {
	case "MaskedLM":
		s.After = []Weight{mapping(dtype.Classifier, h, h, true), norms(dtype.MaskedNorm, LayerNormBias, h)}
		s.NoHead, s.Tied, s.HeadBias = false, true, true
	case "SequenceClassification":
		if roberta {
			s.After = []Weight{mapping(dtype.Classifier, h, h, true), mapping(dtype.ClassOut, h, c.labels(), true)}
			return
		}
		s.After = []Weight{mapping(dtype.Pooler, h, h, true), mapping(dtype.ClassOut, h, c.labels(), true)}
	case "TokenClassification", "QuestionAnswering":
		s.After = []Weight{mapping(dtype.ClassOut, h, c.labels(), true)}
	default:
		s.After = []Weight{mapping(dtype.Pooler, h, h, true)}
	}
}

// suffix of a class's name after "For"; "" for a bare model.
func suffix(class string) string {
	for i := len(class) - 1; i >= 3; i-- {
		if class[i-3:i] == "For" {
			return class[i:]
		}
	}
	return ""
}

// labels is how many classes a classifier tells apart; two when the config does not say.
func (c *Config) labels() int64 {
	if l := c.Sub("id2label"); l != nil && len(l.m) > 0 {
		return int64(len(l.m))
	}
	return max(1, c.IntOr(2, "num_labels"))
}

// distilbert: BERT without segments and pooler (arXiv:1910.01108).
var distilbert = &Family{
	Name: "distilbert", Classes: []string{"DistilBertModel", "DistilBertForMaskedLM", "DistilBertForSequenceClassification"}, Types: []string{"distilbert"},
	Config: func(c *Config) *Spec {
		c.as("hidden_size", "hidden_size", "dim")
		s := c.encoder()
		s.Positions = c.Int("max_position_embeddings")
		h := s.Hidden
		s.Layers = repeat(Layer{Norm: LayerNormBias, Place: AfterSum, Attn: seeing(h, c.Int("n_heads")).bias(true, true, true),
			FFN: MLP{Inner: c.Int("hidden_dim"), Bias: true, Act: GELU}}, c.Layers())
		switch suffix(c.Class()) {
		case "MaskedLM":
			s.After = []Weight{mapping(dtype.Classifier, h, h, true), norms(dtype.MaskedNorm, LayerNormBias, h)}
			s.NoHead, s.Tied, s.HeadBias = false, true, true
		case "SequenceClassification":
			s.After = []Weight{mapping(dtype.Classifier, h, h, true), mapping(dtype.ClassOut, h, c.labels(), true)}
		}
		return s
	},
}

// mpnet: BERT without segments, with one table of relative positions (arXiv:2004.09297).
var mpnet = &Family{
	Name: "mpnet", Classes: []string{"MPNetModel"}, Types: []string{"mpnet"},
	Config: func(c *Config) *Spec {
		s := c.encoder()
		s.Positions = c.Int("max_position_embeddings")
		heads := c.Int("num_attention_heads")
		s.Layers = repeat(Layer{Norm: LayerNormBias, Place: AfterSum, Attn: seeing(s.Hidden, heads).bias(true, true, true),
			FFN: MLP{Inner: c.Int("intermediate_size"), Bias: true, Act: GELU}}, c.Layers())
		s.After = []Weight{mapping(dtype.Pooler, s.Hidden, s.Hidden, true)}
		s.Before = []Weight{{Role: dtype.AttnRelBias, Use: MixesIn, In: c.IntOr(32, "relative_attention_num_buckets"), Out: heads}}
		return s
	},
}

// nomicBERT: BERT with rotary positions, a gated MLP and no biases (arXiv:2402.01613).
var nomicBERT = &Family{
	Name: "nomic-bert", Classes: []string{"NomicBertModel"}, Types: []string{"nomic_bert"},
	Config: func(c *Config) *Spec {
		s := c.encoder()
		s.Segments = c.IntOr(0, "type_vocab_size")
		qkv, up, down := c.Bool(true, "qkv_proj_bias"), c.Bool(true, "mlp_fc1_bias"), c.Bool(true, "mlp_fc2_bias")
		if up != down {
			c.lacks("mlp_fc2_bias", down, "differs from mlp_fc1_bias, which is not described", fromFiles)
		}
		a := seeing(s.Hidden, c.Int("n_head")).bias(qkv, qkv, qkv)
		a.Fused, a.NoRope = true, false
		f := MLP{Inner: c.Int("n_inner"), Gated: c.Str("activation_function") == "swiglu", Bias: up}
		s.Layers = repeat(Layer{Norm: LayerNormBias, Place: AfterSum, Attn: a, FFN: f}, c.Layers())
		return s
	},
}

// gteNew: GTE v1.5 (arXiv:2407.19669): BERT with rotary positions and a gated MLP whose input has no bias.
var gteNew = &Family{
	Name: "gte", Classes: []string{"NewModel", "NewForSequenceClassification", "GteModel"}, Types: []string{"new", "gte"},
	Config: func(c *Config) *Spec {
		s := c.encoder()
		s.Segments = c.IntOr(0, "type_vocab_size")
		a := seeing(s.Hidden, c.Int("num_attention_heads")).bias(true, true, true)
		a.Fused, a.NoRope = true, false
		s.Layers = repeat(Layer{Norm: LayerNormBias, Place: AfterSum, Attn: a, FFN: MLP{Inner: c.Int("intermediate_size"), Gated: true, Fused: true, BiasDown: true, Act: GELU}}, c.Layers())
		if suffix(c.Class()) == "SequenceClassification" {
			s.After = []Weight{mapping(dtype.Pooler, s.Hidden, s.Hidden, true), mapping(dtype.ClassOut, s.Hidden, c.labels(), true)}
		}
		return s
	},
}

// jinaBERT: BERT with ALiBi and a gated MLP whose input has no bias (arXiv:2310.19923).
var jinaBERT = &Family{
	Name: "jina-bert-v2", Classes: []string{"JinaBertModel", "JinaBertForMaskedLM"}, Types: []string{"jina_bert"},
	Config: func(c *Config) *Spec {
		s := c.encoder()
		s.Segments = c.IntOr(2, "type_vocab_size")
		a := seeing(s.Hidden, c.Int("num_attention_heads")).bias(true, true, true)
		s.Layers = repeat(Layer{Norm: LayerNormBias, Place: AfterSum, Attn: a, FFN: MLP{Inner: c.Int("intermediate_size"), Gated: true, Fused: true, BiasDown: true, Act: GELU}}, c.Layers())
		s.After = []Weight{mapping(dtype.Pooler, s.Hidden, s.Hidden, true)}
		return s
	},
}

// modernBERT: rotary positions, norms without biases before each branch, windows on two of three layers
// (arXiv:2412.13663). The first layer's attention reads the embedding's own norm.
var modernBERT = &Family{
	Name: "modern-bert", Classes: []string{"ModernBertModel", "ModernBertForMaskedLM", "ModernBertForSequenceClassification"}, Types: []string{"modernbert"},
	Config: func(c *Config) *Spec {
		s := c.encoder()
		norm := LayerNorm
		if c.Bool(false, "norm_bias") {
			norm = LayerNormBias
		}
		s.EmbedNorm, s.OutNorm = norm, norm
		b := c.Bool(false, "attention_bias")
		a := seeing(s.Hidden, c.Int("num_attention_heads")).bias(b, b, b)
		a.Fused, a.NoRope = true, false
		l := Layer{Norm: norm, Attn: a, FFN: MLP{Inner: c.Int("intermediate_size"), Gated: true, Fused: true, Bias: c.Bool(false, "mlp_bias"), Act: GELU}}
		s.Layers = repeat(l, c.Layers())
		every, window := c.IntOr(3, "global_attn_every_n_layers"), c.IntOr(128, "local_attention")
		for i := range s.Layers {
			if every > 0 && int64(i)%every != 0 {
				s.Layers[i].Attn.Window = window
			}
		}
		s.Layers[0].NoAttnNorm = true
		c.modernTask(s, norm)
		return s
	},
}

// modernTask: both tasks go through a map and a norm.
func (c *Config) modernTask(s *Spec, norm NormKind) {
	h := s.Hidden
	hidden := []Weight{mapping(dtype.Classifier, h, h, c.Bool(false, "classifier_bias")), norms(dtype.MaskedNorm, norm, h)}
	switch suffix(c.Class()) {
	case "MaskedLM":
		s.After, s.NoHead, s.Tied, s.HeadBias = hidden, false, true, c.Bool(true, "decoder_bias")
	case "SequenceClassification":
		s.After = append(hidden, mapping(dtype.ClassOut, h, c.labels(), true))
	}
}
