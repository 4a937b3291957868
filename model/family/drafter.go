package family

import (
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// Drafters propose tokens that another model, their target, verifies. They take their embedding from it, and some its
// head; what they read of it are states of some of its layers.

// eagle3: one layer, or a few, behind a map of three of the target's states; the first layer reads the next token's
// embedding beside them; a head for the frequent tokens alone (arXiv:2503.01840; vLLM 0.14,
// vllm/model_executor/models/llama_eagle3.py). Two vectors that map its tokens to the target's are not counted.
var eagle3 = &Family{
	Name: "eagle3", Classes: []string{"LlamaForCausalLMEagle3", "Eagle3LlamaForCausalLM", "Eagle3Speculator", "Eagle3DraftModel"},
	Config: func(c *Config) *Spec {
		t := c.drafted()
		s := t.draftBase()
		s.Draft = Draft{Embed: true, HeadRows: c.IntOr(s.Vocab, "draft_vocab_size")}
		if e := c.Sub("eagle_config"); e == nil || e.Bool(true, "use_aux_hidden_state") {
			s.Draft.States = 3 * c.IntOr(s.Hidden, "target_hidden_size")
		}
		s.Layers[0].Joined = true
		return s
	},
}

// dflash: layers that fill a whole block of tokens at once from the target's states; embedding and head are the target's
// (vLLM, vllm/model_executor/models/qwen3_dflash.py).
var dflash = &Family{
	Name: "dflash", Classes: []string{"DFlashDraftModel", "DFlashSpeculator"},
	Config: func(c *Config) *Spec {
		t := c.drafted()
		s := t.draftBase()
		for i := range s.Layers {
			s.Layers[i].Attn.QKNorm = PerHead
		}
		s.Draft = Draft{Embed: true, Head: true, States: c.targetLayers(len(s.Layers)) * c.IntOr(s.Hidden, "target_hidden_size"), StatesNorm: true}
		return s
	},
}

// gemma4Assistant: four layers behind a map of the token's embedding and the target's last state, a map back, and no keys of their
// own: they read the cache of the target's last layers (transformers, models/gemma4_assistant). The two maps are counted as one.
var gemma4Assistant = &Family{
	Name: "gemma4-assistant", Classes: []string{"Gemma4AssistantForCausalLM"}, Types: []string{"gemma4_assistant", "gemma4_unified_assistant"},
	Config: func(c *Config) *Spec {
		s := gemma4Text(c.Text())
		for i := range s.Layers {
			s.Layers[i].Attn.SharesKV, s.Layers[i].Attn.OwnKV = true, false
		}
		s.Draft.States = 3 * c.Int("backbone_hidden_size")
		return s
	},
}

// targetLayers is how many of the target's layers are read; as many as the drafter has where the config does not say.
func (c *Config) targetLayers(own int) int64 {
	for _, from := range []*Config{c.Sub("dflash_config"), c.Sub("eagle_config"), c} {
		for _, key := range []string{"target_layer_ids", "aux_hidden_state_layer_ids"} {
			if from != nil && len(from.Ints(key)) > 0 {
				return int64(len(from.Ints(key)))
			}
		}
	}
	return int64(own)
}

// beyond are the parts of later block drafters that are not described: fields of dflash_config and what they size.
var beyond = map[string]string{"selector_rank": "selector", "conv_kernel_size": "convolutions", "gru_hidden_dim": "recurrent unit", "markov_rank": "Markov head", "projector_type": "projector"}

// draftNote says how a drafter is read, "" for ordinary networks.
func (c *Config) draftNote() string {
	f := c.drafter()
	if f == gemma4Assistant {
		return "is a drafter (" + f.Name + "): its cache is its target's"
	} else if f == nil {
		return ""
	}
	s := "is a drafter (" + f.Name + "): its embedding"
	if f == dflash {
		s += " and head are its target's"
	} else {
		s += " is its target's"
	}
	s += " and not counted, though some repositories store a copy"
	var rest []string
	if d := c.Sub("dflash_config"); d != nil {
		for _, key := range d.Keys() {
			if part := beyond[key]; part != "" && d.Str("projector_type") != "dflash" {
				rest = append(rest, part)
			}
		}
	}
	if len(rest) > 0 {
		s += "; not described and not counted: its " + strings.Join(rest, ", ")
	}
	return s
}

// drafter is the family of a network that only proposes tokens, nil for ordinary ones. Configurations name such networks by
// many classes, and some by that of an ordinary one.
func (c *Config) drafter() *Family {
	class := strings.ToLower(c.Class())
	switch {
	case strings.HasPrefix(c.Str("model_type"), "gemma4") && strings.Contains(class, "assistant"):
		return gemma4Assistant
	case c.Has("dflash_config"), strings.Contains(class, "dflash"), strings.HasSuffix(class, "draftmodel") && !strings.Contains(class, "eagle"):
		return dflash
	case c.Has("draft_vocab_size"), c.Has("eagle_config"), strings.Contains(class, "eagle3"):
		return eagle3
	}
	return nil
}

// drafted is the part that describes the layers: speculators keeps it apart (vllm-project/speculators, EagleSpeculatorConfig).
func (c *Config) drafted() *Config {
	if t := c.Sub("transformer_layer_config"); t != nil {
		return t
	}
	return c
}

// draftBase are the layers as of Llama, or with latent attention.
func (c *Config) draftBase() *Spec {
	s := c.base(false)
	s.Tied = false
	if c.Native() == nil {
		s.Native = nil
	}
	b := c.Bool(false, "attention_bias")
	l := Layer{Norm: RMS, FFN: c.gated()}
	if c.Has("kv_lora_rank") {
		l.Attn = c.latent()
	} else {
		l.Attn = c.heads().bias(b, b, b)
	}
	n := c.Layers()
	s.Layers = repeat(l, n)
	for i, slides := range c.sliding(n, 1) {
		if slides {
			s.Layers[i].Attn.Window = c.IntOr(0, "sliding_window")
		}
	}
	return s
}

// joined puts the normalised states beside the normalised embedding.
func (b *layerBuilder) joined(x model.Val) model.Val {
	if !b.l.Joined {
		return x
	}
	h := b.norm(b.l.Norm, dtype.MTPHiddenNorm, 0, b.h)
	return b.op(model.Op{Kind: model.Concat, Out: 2 * b.h}, x, h)
}

// from is the width that queries, keys and values are made of.
func (b *layerBuilder) from() int64 {
	if b.l.Joined {
		return 2 * b.h
	}
	return b.h
}

// targetStates maps what a drafter reads of its target to its own stream.
func (b *kindBuilder) targetStates(d *Draft, x model.Val, width int64) model.Val {
	if d.States == 0 {
		return x
	}
	x = b.linear(x, matrix(dtype.DraftIn, unsplit(width), unsplit(d.States)), false)
	if d.StatesNorm {
		x = b.norm(RMS, dtype.DraftInNorm, x, width)
	}
	return x
}
