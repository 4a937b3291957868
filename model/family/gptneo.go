package family

import "encoding/json"

// gptneo: GPT-Neo (Black et al. 2021; transformers, models/gpt_neo): GPT-2's layers with unfused queries, keys and values
// without biases, of which every other one sees only a window, as the config's list of types repeats.
var gptneo = &Family{
	Name: "gpt-neo", Classes: []string{"GPTNeoForCausalLM"}, Types: []string{"gpt_neo"},
	Config: func(c *Config) *Spec {
		s := c.base(true)
		s.Source.Rotary, s.OutNorm, s.Positions = nil, LayerNormBias, c.IntOr(2048, "max_position_embeddings")
		n := c.Layers()
		a := c.heads().bias(false, false, true)
		a.NoRope = true
		mlp := MLP{Inner: c.IntOr(4*s.Hidden, "intermediate_size"), Bias: true, Act: GELU}
		s.Layers = repeat(Layer{Norm: LayerNormBias, Attn: a, FFN: mlp}, n)
		for i, local := range c.localLayers(n) {
			if local {
				s.Layers[i].Attn.Window = c.IntOr(256, "window_size")
			}
		}
		return s
	},
}

// localLayers unrolls attention_types: pairs of a pattern and how often it comes.
func (c *Config) localLayers(n int) []bool {
	const key = "attention_types"
	out := make([]bool, n)
	at := 0
	for _, pair := range list(c, key, func(v any) ([]any, bool) { p, ok := v.([]any); return p, ok && len(p) == 2 }) {
		pattern, isList := pair[0].([]any)
		num, isNum := pair[1].(json.Number)
		times, err := num.Int64()
		if !isList || !isNum || err != nil || times < 0 || times > maxLayers {
			c.fail(key, c.m[key], "is not a list of patterns and how often they come", "correct the config.json")
			return out
		}
		for range times {
			for _, kind := range pattern {
				if at < n {
					out[at] = kind == "local"
				}
				at++
			}
		}
	}
	if c.Has(key) && at != n {
		c.fail(key, c.m[key], "does not give num_layers layers", "correct the config.json")
	}
	return out
}
