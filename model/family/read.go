package family

import (
	"cmp"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// What nearly every family reads in the same way, from either source.

// base reads the ends of a decoder: vocabulary, width, context, tying. tied is what the class assumes when
// the config does not say.
func (c *Config) base(tied bool) *Spec {
	return &Spec{
		Source:  Source{State: c.state(), Rotary: c.rotary()},
		Vocab:   c.Int("vocab_size", "padded_vocab_size"),
		Hidden:  c.Int("hidden_size", "n_embd", "n_embed", "d_model"),
		Context: c.IntOr(0, "max_position_embeddings", "n_positions", "seq_length", "max_seq_len", "max_sequence_length"),
		Tied:    c.Bool(tied, "tie_word_embeddings"),
		Native:  c.Native(),
		OutNorm: RMS,
	}
}

// heads reads grouped-query attention with rotary positions.
func (c *Config) heads() Attention {
	h := c.Int("num_attention_heads", "n_head", "num_heads", "n_heads")
	a := Attention{Heads: h, KVHeads: c.IntOr(h, "num_key_value_heads", "num_kv_heads", "n_head_kv", "multi_query_group_num", "num_query_groups", "num_attention_groups")}
	if a.KVHeads == 0 {
		a.KVHeads = h
	}
	hidden := c.Int("hidden_size", "n_embd", "n_embed", "d_model")
	a.DimK = c.IntOr(0, "head_dim", "kv_channels", "attention_head_dim")
	if a.DimK == 0 {
		if hidden%h != 0 {
			c.fail("num_attention_heads", c.m["num_attention_heads"], "does not divide hidden_size", "correct the config.json, or add head_dim")
		}
		a.DimK = hidden / h
	}
	a.DimV = a.DimK
	return a
}

// state is the format that a config wants recurrent states in.
func (c *Config) state() *dtype.Format {
	return dtype.FindFormat(c.Str("mamba_ssm_cache_dtype", "mamba_ssm_dtype"))
}

// rotary sizes the table of cosines and sines that engines compute once.
func (c *Config) rotary() []model.Rotary {
	positions := c.IntOr(0, "max_position_embeddings")
	h := c.IntOr(1, "num_attention_heads")
	dim := cmp.Or(c.IntOr(0, "qk_rope_head_dim", "head_dim"), c.IntOr(0, "hidden_size")/max(1, h))
	part := c.Float(1, "partial_rotary_factor", "rotary_pct")
	scaling := c.Sub("rope_scaling")
	if p := c.Sub("rope_parameters"); p != nil {
		part, scaling = p.Float(part, "partial_rotary_factor"), p
	}
	if positions == 0 || dim == 0 {
		return nil
	}
	return []model.Rotary{{Positions: scaling.stretched(positions), Dim: int64(float64(dim) * part)}}
}

// stretched is the length of a table under a scaling: linear and dynamic scaling stretch the context by
// their factor, YaRN the original length (arXiv:2309.00071); LongRoPE keeps a table for each of its two
// lengths (arXiv:2402.13753).
func (c *Config) stretched(positions int64) int64 {
	if c == nil {
		return positions
	}
	original := c.IntOr(positions, "original_max_position_embeddings")
	switch c.Str("rope_type", "type") {
	case "linear", "dynamic":
		return int64(c.factor() * float64(positions))
	case "yarn":
		return int64(c.factor() * float64(original))
	case "longrope", "su":
		return original + positions
	}
	return positions
}

func (c *Config) factor() float64 {
	f := c.Float(1, "factor")
	if !(f >= 1 && f <= 1<<16) {
		c.fail("factor", f, "does not stretch a context", "correct the config.json")
		return 1
	}
	return f
}

// bias sets the biases that one flag switches.
func (a Attention) bias(q, kv, out bool) Attention {
	a.BiasQ, a.BiasKV, a.BiasOut = q, kv, out
	return a
}

func (c *Config) gated() MLP {
	return MLP{Inner: c.Int("intermediate_size", "ffn_hidden_size", "n_inner"), Gated: true}
}

// ropeType is the kind of rotary scaling, "" when there is none.
func (c *Config) ropeType() string {
	for _, key := range []string{"rope_scaling", "rope_parameters"} {
		if r := c.Sub(key); r != nil {
			if t := r.Str("rope_type", "type"); t != "" && t != "default" {
				return t
			}
		}
	}
	return ""
}

// sliding reads which layers see only a window: layer_types where given, else every layer but each
// period-th.
func (c *Config) sliding(layers int, period int64) []bool {
	out := make([]bool, layers)
	if types := c.Strs("layer_types"); len(types) >= layers {
		for i := range out {
			out[i] = types[i] == "sliding_attention" || types[i] == "chunked_attention"
		}
		return out
	}
	return every(layers, c.IntOr(period, "sliding_window_pattern", "_sliding_window_pattern"))
}

// every marks all layers but each period-th.
func every(layers int, period int64) []bool {
	out := make([]bool, layers)
	for i := range out {
		out[i] = period > 1 && int64(i)%period < period-1
	}
	return out
}

// base reads the ends of a decoder from a GGUF header.
func (m *Meta) base() *Spec {
	s := &Spec{
		Vocab:   m.Rows("token_embd.weight"),
		Hidden:  m.Int("embedding_length"),
		Context: m.IntOr(0, "context_length"),
		Tied:    !m.Has("output.weight"),
		OutNorm: RMS,
	}
	if s.Vocab == 0 {
		s.Vocab = m.Int("vocab_size")
	}
	for _, t := range []string{"rope_freqs", "rope_factors_long", "rope_factors_short"} {
		if d, ok := m.h.TensorDims(t + ".weight"); ok && len(d) > 0 {
			s.Tables = append(s.Tables, Table{Role: roleOf(t), Rows: d[0]})
		}
	}
	return s
}

// heads reads the attention of every layer; layers without KV heads have none.
func (m *Meta) heads(layers int) []Attention {
	hidden := m.Int("embedding_length")
	q, ok := m.PerLayer("attention.head_count", layers)
	if !ok {
		m.fail(m.key("attention.head_count"), "", "is missing")
		return make([]Attention, layers)
	}
	kv, ok := m.PerLayer("attention.head_count_kv", layers)
	if !ok {
		kv = q
	}
	out := make([]Attention, layers)
	for i := range out {
		if q[i] == 0 || kv[i] == 0 {
			continue
		}
		a := Attention{Heads: q[i], KVHeads: kv[i]}
		a.DimK = m.IntOr(hidden/q[i], "attention.key_length")
		a.DimV = m.IntOr(hidden/q[i], "attention.value_length")
		out[i] = a
	}
	return out
}

func (m *Meta) gated() MLP { return MLP{Inner: m.Int("feed_forward_length"), Gated: true} }

// windows reads which layers slide: the file's own list, or all but each period-th.
func (m *Meta) windows(layers int, period int64) []bool {
	if flags, ok := m.Flags("attention.sliding_window_pattern", layers); ok {
		return flags[:layers]
	}
	return every(layers, m.IntOr(period, "attention.sliding_window_pattern"))
}
