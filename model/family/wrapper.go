package family

import "maps"

// Wrappers: models whose text network is of another family, with towers beside it.

// language reads the text network of a wrapper by the family that its own class or model type names.
func (c *Config) language() *Spec {
	f := c.find(c.Class(), c.Str("model_type"))
	if f == nil {
		c.fail("model_type", c.m["model_type"], "names a text network that no model family reads", fromFiles)
		return &Spec{}
	}
	if d := textDefaults[c.Str("model_type")]; d != nil {
		c.defaults(d)
	}
	s := f.Config(c)
	if s.Family == "" {
		s.Family = f.Name
	}
	return s
}

// wrapped reads a wrapper's text network and what the wrapper says of it at the top.
func (c *Config) wrapped(keys ...string) *Spec {
	for _, key := range keys {
		if t := c.Sub(key); t != nil {
			s := t.language()
			if s.Native == nil {
				s.Native = c.Native()
			}
			if t.Has("tie_word_embeddings") {
				return s
			}
			s.Tied = c.Bool(s.Tied, "tie_word_embeddings")
			return s
		}
	}
	c.fail(keys[0], nil, "is missing", "give the full config.json of the model")
	return &Spec{}
}

// part gives a nested object that must be there.
func (c *Config) part(key string) *Config {
	if p := c.Sub(key); p != nil {
		return p
	}
	c.fail(key, nil, "is missing", "give the full config.json of the model")
	return &Config{m: map[string]any{}, path: c.path + key + ".", err: c.err, find: c.find}
}

// textDefaults are those of the classes of transformers, which the configs of wrappers leave out.
var textDefaults = map[string]map[string]int64{
	"llama":   llamaDefaults,
	"mistral": with(llamaDefaults, map[string]int64{"intermediate_size": 14336, "num_key_value_heads": 8, "max_position_embeddings": 131072}),
	"qwen2": {"vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
		"max_position_embeddings": 32768},
	"phi3": {"vocab_size": 32064, "hidden_size": 3072, "intermediate_size": 8192, "num_hidden_layers": 32, "num_attention_heads": 32, "max_position_embeddings": 4096},
	"gemma": {"vocab_size": 256000, "hidden_size": 3072, "intermediate_size": 24576, "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 16,
		"head_dim": 256, "max_position_embeddings": 8192},
}

var llamaDefaults = map[string]int64{
	"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32, "max_position_embeddings": 2048,
}

func with(base, more map[string]int64) map[string]int64 {
	out := maps.Clone(base)
	maps.Copy(out, more)
	return out
}
