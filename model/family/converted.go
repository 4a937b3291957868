package family

import "github.com/memwall/memwall/dtype"

// ignoresWindows are architectures whose sliding windows llama.cpp does not apply: every layer keeps all
// keys and values (src/llama-model.cpp, v0.5.0; phi3 since its window was found to harm quality).
var ignoresWindows = map[string]bool{"llama": true, "qwen2": true, "qwen2moe": true, "qwen3": true, "qwen3moe": true, "starcoder2": true, "phi3": true, "phimoe": true}

// Converted is what convert_hf_to_gguf.py makes of a checkpoint and llama.cpp loads: the text model alone
// (a tower goes to a file of its own), without prediction layers, without windows that llama.cpp ignores,
// without rows of the vocabulary that have no token.
func (s *Spec) Converted() *Spec {
	c := *s
	c.MTP = nil
	if len(s.Layers) > 0 { // towers alone are no text model, and there is nothing to convert
		c.Vision, c.Beside = nil, nil
		for _, t := range s.Beside {
			if t.Name == PartEncoder {
				c.Beside = append(c.Beside, t)
			}
		}
	}
	if len(c.After) == 1 && c.After[0].Role == dtype.Pooler {
		c.After = nil // conversion/bert.py leaves a pooler without a classifier out
	}
	c.Layers = append([]Layer(nil), s.Layers...)
	for i := range c.Layers {
		if ignoresWindows[c.Family] {
			c.Layers[i].Attn.Window = 0
		}
		if c.Layers[i].FFN.Act == XIELU {
			c.Layers[i].FFN.Act = XIELUKnown
		}
	}
	const gemmaTokens = 262144 // further rows are of images and sounds
	if (c.Family == "gemma3" || c.Family == "gemma3n") && c.Vocab > gemmaTokens && c.Vocab < gemmaTokens+512 {
		c.Vocab = gemmaTokens
	}
	return &c
}
