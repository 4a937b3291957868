package family

import (
	"fmt"
	"strings"
)

// Generic reads an architecture that no family has by the fields that decoders have in common: pre-norm, grouped-query
// or latent attention, a gated MLP or experts. It says what was assumed. The error of a config that has a
// mixer of another kind, or lacks a field, is UnknownError: nothing is guessed of a state's size.
func Generic(c *Config) (*Spec, string, error) {
	arch := strings.TrimSpace(c.Class() + " " + c.Str("model_type"))
	t := c.Text()
	if t.unusual() != "" || !decodes(c.Class()) {
		return nil, "", &UnknownError{Arch: arch}
	}
	s := t.generic()
	if s.Native == nil {
		s.Native = c.Native()
	}
	if t.Err() != nil || s.Check() != nil {
		return nil, "", &UnknownError{Arch: arch}
	}
	s.Arch, s.Family = arch, "unknown"
	return s, fmt.Sprintf("no model family reads %s: its decoder is read from the usual fields%s", arch, c.leftOut(t)), nil
}

// generic is the decoder that the usual fields describe.
func (c *Config) generic() *Spec {
	s := c.base(false)
	l := Layer{Norm: RMS}
	if c.Has("kv_lora_rank") {
		l.Attn = c.latent()
	} else {
		b := c.Bool(false, "attention_bias", "qkv_bias", "use_qkv_bias")
		l.Attn = c.heads().bias(b, b, false)
	}
	n := c.Layers()
	e := c.genericExperts()
	if e.Experts == 0 {
		l.FFN = c.gated()
		l.FFN.Gated = gates[c.Str("hidden_act", "hidden_activation", "activation_function")]
		s.Layers = repeat(l, n)
		return s
	}
	dense := min(int(c.IntOr(0, "first_k_dense_replace", "num_dense_layers", "moe_layer_start_index")), n)
	var f MLP
	if dense > 0 {
		f = c.gated()
	}
	s.Layers = denseFirst(n, dense, 1, l, f, e)
	return s
}

// gates are the activations of gated MLPs; the others stand between two matrices (Nemotron, Apertus, GPT-NeoX).
var gates = map[string]bool{"": true, "silu": true, "swish": true, "swiglu": true, "gelu_pytorch_tanh": true}

// decodes reports whether a class generates text: encoders and denoisers have other fields.
func decodes(class string) bool {
	return class == "" || strings.HasSuffix(class, "ForCausalLM") || strings.HasSuffix(class, "ForConditionalGeneration")
}

// genericExperts reads experts by the names that classes give to their number and width.
func (c *Config) genericExperts() MoE {
	n := c.IntOr(0, expertCounts...)
	if n == 0 {
		return MoE{}
	}
	inner := c.Int("moe_intermediate_size", "expert_ffn_hidden_size", "intermediate_size")
	shared := c.IntOr(0, "shared_expert_intermediate_size")
	if shared == 0 {
		shared = inner * c.IntOr(0, "n_shared_experts", "num_shared_experts")
	}
	used := c.Int("num_experts_per_tok", "num_experts_per_token", "moe_k", "moe_topk", "moe_top_k")
	return MoE{Experts: n, Used: used, Inner: inner, Gated: true, Norm: true, Shared: shared}
}

// unusualWords are parts of names of fields of mixers and blocks that the usual fields do not describe.
var unusualWords = []string{"mamba", "ssm", "rwkv", "conv_", "linear_attn", "linear_num", "linear_key", "hyena", "state_size", "n_groups", "d_state", "encoder_layers", "block_configs", "draft"}

// unusual is the first field of another kind of network, "" when there is none.
func (c *Config) unusual() string {
	for _, key := range c.Keys() {
		for _, w := range unusualWords {
			if strings.Contains(key, w) {
				return key
			}
		}
	}
	if c.Bool(false, "is_encoder_decoder") {
		return "is_encoder_decoder"
	}
	return c.unnumbered()
}

// unnumbered is a sign of experts in a config that leaves their number to its class, "" when there is none.
func (c *Config) unnumbered() string {
	if c.IntOr(0, expertCounts...) > 0 {
		return ""
	}
	for _, name := range append(c.Keys(), c.Class(), c.Str("model_type")) {
		if low := strings.ToLower(name); strings.Contains(low, "moe") || strings.Contains(low, "expert") {
			return name
		}
	}
	return ""
}

// expertCounts are the names of the number of routed experts.
var expertCounts = []string{"n_routed_experts", "num_experts", "num_local_experts", "moe_num_experts"}

// leftOut says which parts of a network of several are not read.
func (c *Config) leftOut(text *Config) string {
	if text == c {
		return ""
	}
	var parts []string
	for _, key := range c.Keys() {
		if strings.HasSuffix(key, "_config") && c.Sub(key) != nil && c.Sub(key).Has("hidden_size") && !textParts[key] {
			parts = append(parts, strings.TrimSuffix(key, "_config"))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "; not counted: " + strings.Join(parts, ", ")
}

// textParts are the names of the decoder's own fields in a network of several parts.
var textParts = map[string]bool{"text_config": true, "llm_config": true, "language_config": true, "thinker_config": true}
