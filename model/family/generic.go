package family

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/memwall/memwall/dtype"
)

// Generic reads an architecture that no family has by the fields that decoders have in common: pre-norm, grouped-query
// or latent attention, a gated MLP or experts. A text model that stands in it with a family of its own is read by that,
// and encoders beside it by their usual fields. It says what was assumed. The error of a config that has a
// mixer of another kind, or lacks a field, is UnknownError: nothing is guessed of a state's size.
func Generic(c *Config) (*Spec, string, error) {
	arch := strings.TrimSpace(c.Class() + " " + c.Str("model_type"))
	t := c.Text()
	var s *Spec
	how, known := "from the usual fields", false
	switch own := ByClass(t.Class(), t.Str("model_type")); {
	case !decodes(c.Class()) && (t.Class() == "" || !decodes(t.Class())) && c.senses() == nil:
	case t != c && own != nil:
		t.find = ByClass
		s, how, known = t.language(), "as "+own.Name, true
	case t.unusual() == "":
		s = t.generic()
		s.Family = "unknown"
	}
	if s == nil || t.Err() != nil {
		return nil, "", &UnknownError{Arch: arch}
	}
	if s.Native == nil {
		s.Native = c.Native()
	}
	s.Arch = arch
	read, left := c.encoders(t, s)
	if strings.Contains(t.Str("layer_module"), "MoT") { // a second set of layers for what is drawn (BAGEL)
		left += "; not counted: what its layers hold a second time"
		s.Unsure = 1
	}
	s.Unsure = max(s.Unsure, unsure(s, known, strings.Count(left, ",")+min(1, len(left))))
	if key, n := t.moreLayers(); !known && n > 0 {
		s.Unsure, left = s.Unsure+float64(2*n)/float64(len(s.Layers)), left+"; not counted: "+key
	}
	if !known && !t.Has("tie_word_embeddings") { // the class has its own default, which may be either
		head, all := float64(s.Vocab*s.Hidden), float64(s.Model("").Params())
		if share := max(Unsure, min(1, head/max(1, all))); s.Tied {
			s.Unsure = max(s.Unsure, share)
		} else {
			s.UnsureBelow = share
		}
	}
	if s.Check() != nil {
		return nil, "", &UnknownError{Arch: arch}
	}
	return s, fmt.Sprintf("no model family reads %s: its decoder is read %s%s%s", arch, how, read, left), nil
}

// Unsure is the relative error of the weights of a network read by common field names instead of its own family, as for the
// catalog's text decoders read this way (TestGeneric): mostly due to norms, for a few to another form of MLP.
const Unsure = 0.1

// encoderElems is what most encoders have whose sizes a config leaves to its class: SigLIP so400m, Pixtral's and Whisper's large
// one have 0.4 to 0.65 billion.
const encoderElems = 0.7e9

// unsure is that share: of a text that is known with encoders read by the usual fields as much as those are, and nearly all in
// the catalog differ less (TestGenericEncoders); for each encoder that is not counted what most have.
func unsure(s *Spec, known bool, left int) float64 {
	m := s.Model("")
	all, text := float64(m.Params()), float64(m.Parts[0].Params())
	share := Unsure
	if known {
		share = max(0.005, (all-text)/max(1, all))
	}
	if left > 0 {
		share = max(share, min(1, float64(left)*encoderElems/max(1, all)))
	}
	return share
}

// Partly reads a config whose error is that a part beside the text is not described: all else is read as Generic does.
func Partly(c *Config, err error) (*Spec, string, error) {
	var lacking *FieldError
	if !errors.As(err, &lacking) || !lacking.Lacking || c.Text() == c || textParts[strings.Split(lacking.Field, ".")[0]] {
		return nil, "", err
	}
	*c.err = nil
	s, how, bad := Generic(c)
	if bad != nil {
		return nil, "", err
	}
	return s, how + "; " + lacking.Error(), nil
}

// generic is the decoder that the usual fields describe.
func (c *Config) generic() *Spec {
	if c.oneBranch() { // letters for layers of one branch each, with the fields that go with them
		return nemotronH.Config(c)
	}
	s := c.base(c.tiedUnsaid())
	l := Layer{Norm: RMS, Attn: c.genericHeads(s.Hidden)}
	n := c.Layers()
	e := c.genericExperts()
	dense := n
	if e.Experts > 0 {
		dense = min(int(c.IntOr(0, "first_k_dense_replace", "num_dense_layers", "moe_layer_start_index")), n)
	}
	var f MLP
	if dense > 0 {
		f = c.genericMLP(s.Hidden)
	}
	s.Layers = denseFirst(n, dense, 1, l, f, e)
	if mixer, attends := c.mixer(s.Hidden); attends != nil {
		for i := range s.Layers {
			if !attends(i) {
				s.Layers[i].Attn, s.Layers[i].SSM = Attention{}, mixer
			}
		}
	}
	return s
}

// ownLayers are fields that count layers of the decoder itself, without their last word.
const ownLayers = "num_hidden num n n_hidden max_window num_nextn_predict num_dense num_mtp num_kv_shared num_moe"

// moreLayers are layers beside those of the decoder that a field of a class's own counts, as kimia_mimo_layers: they may have a head of
// their own, which is why twice their share is left for them.
func (c *Config) moreLayers() (key string, n int64) {
	for _, k := range c.Keys() {
		word, _ := strings.CutSuffix(k, "_layers")
		if _, isNumber := c.m[k].(json.Number); !isNumber || word == k {
			continue
		}
		if v := c.IntOr(0, k); !strings.Contains(ownLayers, word) && v > 0 && v <= maxLayers {
			return k, v
		}
	}
	return "", 0
}

// tiedUnsaid: a config that transformers wrote leaves tie_word_embeddings out where it is what the base class has, which is true
// (PretrainedConfig.to_diff_dict). LFM2 has a word of its own.
func (c *Config) tiedUnsaid() bool { return c.Bool(c.Has("transformers_version"), "tie_embedding") }

func (c *Config) genericHeads(hidden int64) Attention {
	if c.Has("kv_lora_rank") {
		a := c.latent()
		a.DimV = cmp.Or(a.DimV, hidden/max(1, a.Heads))
		return a
	}
	b := c.Bool(false, "attention_bias", "qkv_bias", "use_qkv_bias")
	a := c.heads().bias(b, b, false)
	if c.Bool(false, "multi_query") && a.KVHeads == a.Heads { // GPTBigCode's word for one head of keys
		a.KVHeads = 1
	}
	a.Gate = c.Bool(false, "attn_output_gate")
	return a
}

// genericMLP is gated or not by its activation. GPT-2's kin leave its width out, which is four times the stream's, or name no
// activation: theirs have two matrices.
func (c *Config) genericMLP(hidden int64) MLP {
	older := c.hasOne("layer_norm_epsilon", "norm_epsilon", "layer_norm_eps")
	unsaid := c.hasOne("n_inner", "ffn_dim") // their names for its width
	if c.Has("block_ff_dim") {
		return MLP{Inner: c.lfm2Inner(), Gated: true}
	}
	inner := c.IntOr(0, "intermediate_size", "ffn_hidden_size", "ff_intermediate_size", "n_inner", "ffn_dim")
	act := c.Str("hidden_act", "hidden_activation", "activation_function", "mlp_hidden_act")
	if inner == 0 && (older || c.Has("n_embd") || c.Has("d_model")) {
		return MLP{Inner: 4 * hidden}
	}
	if inner == 0 {
		return c.gated() // its error names the field
	}
	f := MLP{Inner: inner, Gated: gates[act] && (act != "" || !unsaid)}
	if strings.HasPrefix(act, "gelu") { // Gemma's kin have RMS norms and a gate, GPT-2's norms with biases and two matrices
		f.Gated = (f.Gated || c.Has("rms_norm_eps")) && !older
	}
	return f
}

// gates are the activations of gated MLPs; the others stand between two matrices (Nemotron, Apertus, GPT-NeoX).
var gates = map[string]bool{"": true, "silu": true, "swish": true, "swiglu": true, "geglu": true, "gegelu": true, "gelu_pytorch_tanh": true}

// decodes reports whether a class generates text: encoders and denoisers have other fields.
func decodes(class string) bool {
	return class == "" || strings.HasSuffix(class, "CausalLM") || strings.HasSuffix(class, "ForConditionalGeneration")
}

// genericExperts reads experts by the names that classes give to their number and width.
func (c *Config) genericExperts() MoE {
	c.firsts("moe_intermediate_size", "moe_topk", "num_shared_expert")
	n := c.IntOr(0, expertCounts...)
	if n == 0 {
		return MoE{}
	}
	inner := c.Int("moe_intermediate_size", "expert_ffn_hidden_size", "intermediate_size")
	shared := c.IntOr(0, "shared_expert_intermediate_size", "shared_intermediate_size", "moe_shared_expert_intermediate_size", "share_expert_dim")
	if shared == 0 {
		shared = inner * c.IntOr(0, "n_shared_experts", "num_shared_experts", "num_shared_expert", "moe_num_shared_experts")
	}
	used := c.Int("num_experts_per_tok", "num_experts_per_token", "moe_k", "moe_topk", "moe_top_k", "num_experts_per_topk")
	return MoE{Experts: n, Used: used, Inner: inner, Gated: true, Norm: true, Shared: shared}
}

// unusualWords are parts of names of fields of mixers and blocks that the usual fields do not describe.
var unusualWords = []string{"mamba", "ssm", "rwkv", "conv_", "linear_attn", "linear_num", "linear_key", "hyena", "state_size",
	"d_state", "encoder_layers", "block_configs", "draft", "compress_ratio", "zero_expert"}

// unusual is the first field of another kind of network, "" when there is none.
func (c *Config) unusual() string {
	if _, attends := c.mixer(1); attends != nil || c.oneBranch() && c.Has("mamba_num_heads") {
		return c.unnumbered()
	}
	if slices.Contains(c.Ints("attn_type_list"), 0) { // layers of another attention (MiniMax-Text-01)
		return "attn_type_list"
	}
	for _, key := range c.Keys() {
		for _, w := range unusualWords {
			if strings.Contains(key, w) || key == "n_groups" {
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
	names := append(c.Keys(), c.Class(), c.Str("model_type"))
	if f, ok := c.m["ffn_config"].(map[string]any); ok {
		names = append(names, slices.Collect(maps.Keys(f))...)
	} else if _, _, said := c.get(expertCounts...); said {
		return ""
	}
	for _, name := range names {
		if low := strings.ToLower(name); strings.Contains(low, "moe") || strings.Contains(low, "expert") {
			return name
		}
	}
	return ""
}

// expertCounts are the names of the number of routed experts.
var expertCounts = []string{"n_routed_experts", "num_experts", "num_local_experts", "moe_num_experts"}

// encoders reads the parts beside the text by the fields that encoders have in common, and says which were and were not.
func (c *Config) encoders(text *Config, s *Spec) (read, left string) {
	var counted, others []string
	for _, key := range c.Keys() {
		name, part := strings.CutSuffix(key, "_config")
		m, isMap := c.m[key].(map[string]any)
		if !part || !isMap || textParts[key] || key == "quantization_config" || text == c && !senses(name) {
			continue
		}
		v := &Config{m: m, path: c.path + key + ".", err: c.err, find: c.find}
		switch {
		case !v.usualEncoder(name, s):
			if v.Has("hidden_size") || senses(name) {
				others = append(others, name)
			}
		default:
			counted = append(counted, name)
		}
	}
	if len(counted) > 0 {
		read = "; so are the layers of its encoders and a map to the text: " + strings.Join(counted, ", ")
	}
	if len(others) > 0 {
		left = "; not counted: " + strings.Join(others, ", ")
	}
	return read, left
}

// senses are the parts of a decoder, whose fields stand at the top, that see, hear or speak; nil for none.
func (c *Config) senses() (out []string) {
	for _, key := range c.Keys() {
		name, part := strings.CutSuffix(key, "_config")
		if _, isMap := c.m[key].(map[string]any); part && isMap && senses(name) && c.Has("num_hidden_layers") && c.Has("vocab_size") {
			out = append(out, name)
		}
	}
	return out
}

// senses reports whether a part sees, hears or speaks, by its name.
func senses(name string) bool {
	for _, w := range []string{"vision", "visual", "image", "video", "vit", "audio", "speech", "sound", "encoder", "tts", "talker", "codec", "tokenizer", "gen_"} {
		if strings.Contains(name, w) {
			return true
		}
	}
	return false
}

// usualEncoder adds a stack of blocks to the network, if the usual fields say its sizes: patches, blocks with an ungated MLP, and two maps to
// the text's width.
func (c *Config) usualEncoder(name string, s *Spec) bool {
	said := func(keys ...string) int64 {
		for _, k := range keys {
			for _, prefix := range []string{"", "vt_"} {
				if n, ok := c.m[prefix+k].(json.Number); ok {
					if x, err := n.Int64(); err == nil && x > 0 && x <= 1<<20 {
						return x
					}
				}
			}
		}
		return 0
	}
	w, n := said("hidden_size", "d_model", "embed_dim", "width"), said("num_hidden_layers", "depth", "encoder_layers", "layers", "num_layers")
	heads, inner := said("num_attention_heads", "num_heads", "encoder_attention_heads", "heads"), said("intermediate_size", "encoder_ffn_dim", "mlp_dim")
	if w == 0 || n == 0 || n > maxLayers || heads == 0 || heads > w {
		return false
	}
	p, merge := max(1, min(said("patch_size"), 64)), max(1, min(said("spatial_merge_size", "merge_size"), 8))
	if k := c.Ints("merge_kernel_size"); len(k) > 0 && merge == 1 {
		merge = max(1, min(k[0], 8))
	}
	t := &Tower{Name: name, Width: w, Layers: blocks(int(n), w, cmp.Or(inner, 4*w), heads), Before: []Weight{mapping(dtype.VisionPatch, 3*p*p, w, true)},
		After: twoLayers(w*merge*merge, w*merge*merge, s.Hidden, true)}
	if name == PartVision && s.Vision == nil {
		s.Vision = t
	} else {
		s.Beside = append(s.Beside, t)
	}
	return true
}

// textParts are the names of the decoder's own fields in a network of several parts.
var textParts = map[string]bool{"text_config": true, "llm_config": true, "language_config": true, "thinker_config": true, "decoder_config": true}
