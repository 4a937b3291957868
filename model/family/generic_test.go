package family_test

import (
	"math"
	"strings"
	"testing"

	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/model/family"
)

// TestGeneric: every text model of the catalog read as if its family were unknown. What is refused is not an answer; of
// what is answered, the share within 1 % of the family's own count is printed and bounded.
func TestGeneric(t *testing.T) {
	read, near, within := 0, 0, 0 // within the band that such answers have, internal/question/usualfields.go
	for _, e := range catalog.All() {
		own, err := e.Spec()
		if err != nil {
			t.Fatal(err)
		}
		c, err := family.ParseConfig(unsplit(e.Config, own.Family))
		if err != nil {
			t.Fatal(err)
		}
		s, _, err := family.Generic(c)
		if err != nil {
			continue
		}
		if own.Vision != nil || len(own.Beside) > 0 {
			continue // the parts beside the text are named, not counted
		}
		a, b := s.Model(e.ID), own.Model(e.ID)
		read++
		off := math.Abs(float64(a.Params())/float64(b.Params()) - 1)
		if off <= 0.1 || float64(a.Params())*(1-s.UnsureBelow) <= float64(b.Params()) && a.Params() >= b.Params() {
			within++
		}
		if off <= 0.01 {
			near++
		} else {
			t.Logf("%-28s %-22s %+.1f %%", e.ID, own.Family, 100*(float64(a.Params())/float64(b.Params())-1))
		}
	}
	t.Logf("read %d, within 1 %% %d, within the band %d", read, near, within)
	if read < 360 || near*100 < read*94 || within*100 < read*97 {
		t.Errorf("of %d models read by the usual fields %d are within 1 %% and %d within the band: fewer than 94 or 97 in a hundred", read, near, within)
	}
}

// leftOut are fields that the makers' files have and that rows of the catalog leave out, for their families need none of them.
var leftOut = map[string]string{
	"gemma": version, "gemma2": version, "gemma3": version, "command-r": version, "cohere2": version, "smollm3": version, "mpt": version,
	"lfm2": `"conv_L_cache":3,` + version, "lfm2moe": `"conv_L_cache":3,` + version, "minicpm": version, "minicpm3": version,
	"phi2": `"hidden_act":"gelu_new","layer_norm_eps":1e-5`, "gptneox": `"hidden_act":"gelu","layer_norm_eps":1e-5`,
	"starcoder2": `"hidden_act":"gelu_pytorch_tanh","norm_epsilon":1e-5,` + version, "opt": `"activation_function":"relu",` + version,
	"starcoder": `"activation_function":"gelu_pytorch_tanh","layer_norm_epsilon":1e-5,"multi_query":true,` + version, "apertus": `"hidden_act":"xielu"`,
	"codeshell": `"activation_function":"gelu_pytorch_tanh","layer_norm_epsilon":1e-5,` + version, "arcee": `"hidden_act":"relu2"`,
	"nemotron": `"hidden_act":"relu2"`, "phi3small": version, "ernie4_5-moe": `"moe_layer_start_index":1`,
}

const version = `"transformers_version":"4.50.0"`

func unsplit(config []byte, of string) []byte {
	if leftOut[of] == "" {
		return config
	}
	return append([]byte("{"+leftOut[of]+","), config[1:]...)
}

// TestGenericEncoders: every model of the catalog with encoders beside a text_config, read as if its class were unknown: the
// text by its own family, encoders by their usual fields. The band that such answers have holds for most.
func TestGenericEncoders(t *testing.T) {
	read, near, within, counted := 0, 0, 0, 0
	for _, e := range catalog.All() {
		own, err := e.Spec()
		if err != nil {
			t.Fatal(err)
		}
		text := []byte(strings.Replace(string(e.Config), `"`+own.Arch+`"`, `"FooForConditionalGeneration"`, 1))
		c, err := family.ParseConfig(text)
		if err != nil {
			t.Fatal(err)
		}
		if c.Text() == c || own.Vision == nil && len(own.Beside) == 0 || !c.Has("vision_config") && !c.Has("audio_config") {
			continue
		}
		s, how, err := family.Generic(c)
		if err != nil {
			t.Logf("%-28s refused: %v", e.ID, err)
			continue
		}
		a, b := float64(s.Model(e.ID).Params()), float64(own.Model(e.ID).Params())
		read++
		if math.Abs(a/b-1) <= 0.01 {
			near++
		}
		if !strings.Contains(how, "not counted") {
			counted++
		}
		if math.Abs(a/b-1) <= s.Unsure {
			within++
		} else {
			t.Logf("%-28s %-22s %+.1f %%, band %.1f %%: %s", e.ID, own.Family, 100*(a/b-1), 100*s.Unsure, how)
		}
	}
	t.Logf("read %d, all parts counted of %d, within 1 %% %d, within the band %d", read, counted, near, within)
	if read < 40 || within*10 < read*9 {
		t.Errorf("of %d models with encoders %d are within the band: fewer than nine in ten", read, within)
	}
}

// TestGenericRefuses: a mixer of another kind, experts without a number and a class that generates nothing stay unknown.
func TestGenericRefuses(t *testing.T) {
	const dims = `"hidden_size":64,"intermediate_size":128,"num_attention_heads":4,"num_hidden_layers":2,"vocab_size":256`
	for config, want := range map[string]bool{
		`{"architectures":["FooForCausalLM"],` + dims + `}`:                            true,
		`{"architectures":["FooForCausalLM"],"mamba_d_state":16,` + dims + `}`:         false,
		`{"architectures":["FooForCausalLM"],"num_experts_per_tok":2,` + dims + `}`:    false,
		`{"architectures":["FooModel"],` + dims + `}`:                                  false,
		`{"architectures":["FooForCausalLM"],"draft_vocab_size":32,` + dims + `}`:      false,
		`{"architectures":["FooForCausalLM"],"hidden_size":64,"vocab_size":256}`:       false,
		`{"architectures":["FooForCausalLM"],"num_hidden_layers":-1,"hidden_size":64}`: false,
	} {
		c, err := family.ParseConfig([]byte(config))
		if err != nil {
			t.Fatal(err)
		}
		if _, how, err := family.Generic(c); (err == nil) != want || want && how == "" {
			t.Errorf("%s: %q %v", config, how, err)
		}
	}
}

// TestGenericForms: what the fields of an unknown class tell of its MLP and its heads.
func TestGenericForms(t *testing.T) {
	const dims = `{"architectures":["FooForCausalLM"],"hidden_size":64,"intermediate_size":128,"num_attention_heads":4,"num_hidden_layers":2,"vocab_size":256,"tie_word_embeddings":true,`
	count := func(more string) int64 {
		c, err := family.ParseConfig([]byte(dims + more + "}"))
		if err != nil {
			t.Fatal(err)
		}
		s, _, err := family.Generic(c)
		if err != nil {
			t.Fatal(more, err)
		}
		return s.Model("").Params()
	}
	const matrix, heads = 2 * 64 * 128, 2 * 2 * 64 * (64 - 16) // of two layers: one of the MLP, and three of four heads of keys and values
	gated := count(`"hidden_act":"silu"`)
	for more, want := range map[string]int64{
		`"hidden_act":"gelu","rms_norm_eps":1e-6`: gated, `"hidden_act":"gelu_pytorch_tanh","layer_norm_epsilon":1e-5`: gated - matrix, `"hidden_act":"gelu","layer_norm_eps":1e-5`: gated - matrix,
		`"hidden_act":"relu2"`: gated - matrix, `"hidden_act":"silu","multi_query":true`: gated - heads,
	} {
		if got := count(more); got != want {
			t.Errorf("%s: %d parameters, want %d", more, got, want)
		}
	}
}

// TestGenericHybrids: recurrent mixers whose sizes the usual fields say, where they say which layers attend; a state whose layers
// are not said, or whose kind is another, is refused. A config that transformers wrote says by silence that the head is tied.
func TestGenericHybrids(t *testing.T) {
	const dims = `{"architectures":["FooForCausalLM"],"hidden_size":64,"intermediate_size":128,"num_attention_heads":4,"num_hidden_layers":4,"vocab_size":256,`
	const mamba = `"mamba_n_heads":8,"mamba_d_head":16,"mamba_d_state":32`
	const delta = `"linear_num_value_heads":4,"linear_num_key_heads":2,"linear_value_head_dim":16,"linear_key_head_dim":16`
	for more, want := range map[string]string{
		mamba + `,"layer_types":["mamba","attention","mamba","mamba"]`: "mamba attention mamba mamba",
		mamba + `,"attn_layer_indices":[0]`:                            "attention mamba mamba mamba",
		mamba + `,"attn_layer_period":2,"attn_layer_offset":1`:         "mamba attention mamba attention",
		delta + `,"full_attention_interval":4`:                         "delta net delta net delta net attention",
		`"conv_L_cache":3,"full_attn_idxs":[1,2]`:                      "short convolution attention attention short convolution",
		`"mamba_num_heads":8,"mamba_head_dim":16,"ssm_state_size":32,"layers_block_type":["mamba","mlp","attention","mlp"]`: "mamba FFN attention FFN",
		mamba:                           "",
		delta:                           "",
		`"attn_type_list":[0,1,1,1]`:    "",
		`"attn_type_list":[1,1,1,1]`:    "attention attention attention attention",
		`"compress_ratios":[4,4,128,0]`: "",
		`"ffn_config":{"moe_top_k":4}`:  "",
		`"num_local_experts":0`:         "attention attention attention attention",
		`"mamba_d_state":16,"mamba_dt_rank":4,"attn_layer_period":2`: "",
	} {
		c, err := family.ParseConfig([]byte(dims + more + "}"))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if s, _, err := family.Generic(c); err == nil {
			d := s.Model("").Decoder()
			for _, l := range d.Layers {
				got = strings.TrimSpace(got + " " + d.Kinds[l].Name)
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", more, got, want)
		}
	}
	for more, want := range map[string]bool{`"transformers_version":"4.50.0"`: true, `"x":1`: false, `"tie_word_embeddings":false,"transformers_version":"4.50.0"`: false, `"tie_embedding":true`: true} {
		c, err := family.ParseConfig([]byte(dims + more + "}"))
		if err != nil {
			t.Fatal(err)
		}
		if s, _, err := family.Generic(c); err != nil || s.Tied != want {
			t.Errorf("%s: tied %v, %v", more, err == nil && s.Tied, err)
		}
	}
}
