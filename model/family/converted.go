package family

import (
	"strings"

	"github.com/memwall/memwall/dtype"
)

// robertaPadding are rows of RoBERTa's positions that no token has: they count from the padding token's number on, which
// is 1 (conversion/bert.py, _position_offset).
const robertaPadding = 2

// ignoresWindows are architectures whose sliding windows llama.cpp does not apply: every layer keeps all
// keys and values (src/llama-model.cpp, v0.5.0; phi3 since its window was found to harm quality).
var ignoresWindows = map[string]bool{"llama": true, "qwen2": true, "qwen2moe": true, "qwen3": true, "qwen3moe": true, "starcoder2": true, "phi3": true, "phimoe": true}

// keepsPrediction are architectures whose converter writes the prediction layers behind the others, where quantisers count
// them (conversion/glm.py, qwen.py, nemotron.py, step3.py, exaone.py, bailingmoe.py; without --no-mtp).
var keepsPrediction = map[string]bool{"glm4": true, "glm4moe": true, "glm4-lite": true, "glm-dsa": true, "qwen35": true, "qwen35moe": true,
	"nemotron_h_moe": true, "step35": true, "hy-v3": true, "exaone-moe": true, "exaone4": true, "bailingmoe2": true}

// trailing are the prediction layers that a converted file holds. MiMo-V2's config does not tell of its three
// (conversion/mimo.py, _n_nextn).
func (s *Spec) trailing() int {
	switch {
	case s.Family == "mimo2":
		return 3
	case keepsPrediction[s.Family]:
		return len(s.MTP) / max(1, s.MTPStep)
	}
	return s.Trailing
}

// Converted is what convert_hf_to_gguf.py makes of a checkpoint and llama.cpp loads: the text model alone
// (a tower goes to a file of its own), without prediction layers, without windows that llama.cpp ignores,
// without rows of the vocabulary that have no token.
func (s *Spec) Converted() *Spec {
	c := *s
	c.Trailing = s.trailing()
	c.MTP = nil
	if len(s.Layers) > 0 { // towers alone are not a text model, and there is nothing to convert
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
	switch {
	case c.Family == "falcon":
		c.Tied = false // checkpoints hold lm_head beside the embedding that it equals, and conversion/falcon.py writes both
	case c.Family == "bailingmoe2" && c.Arch == "BailingMoeForCausalLM":
		c.fuse(false) // conversion/bailingmoe.py parts queries, keys and values of the first version alone
	case c.Family == "rwkv7" && len(c.Layers) > 0:
		c.Layers[0].SSM.Ranks[2] = c.Layers[0].SSM.Ranks[1] // conversion/rwkv.py copies the learning rate's here; nothing reads them
	case c.Family == "bert" && strings.Contains(c.Arch, "Roberta"):
		c.Positions -= robertaPadding
	}
	if c.NoHead && !c.Encodes && c.Score == 0 && len(c.Layers) > 0 {
		c.NoHead, c.Tied = false, true // a decoder without a head reads its embedding (src/models, TENSOR_DUPLICATED)
	}
	const gemmaTokens = 262144 // further rows are of images and sounds
	if (c.Family == "gemma3" || c.Family == "gemma3n") && c.Vocab > gemmaTokens && c.Vocab < gemmaTokens+512 {
		c.Vocab = gemmaTokens
	}
	return &c
}

// fuse queries, keys and values of all layers, or part them.
func (s *Spec) fuse(fused bool) {
	for i := range s.Layers {
		s.Layers[i].Attn.Fused = fused
	}
}
