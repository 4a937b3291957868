package family_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/model/family"
)

const bloated = `{"_name_or_path":"x","architectures":["LlamaForCausalLM"],"attention_bias":false,"attention_dropout":0.0,"bos_token_id":1,"head_dim":64,
"hidden_act":"silu","hidden_size":512,"initializer_range":0.02,"intermediate_size":1024,"max_position_embeddings":2048,"mlp_bias":false,"model_type":"llama",
"num_attention_heads":8,"num_hidden_layers":2,"num_key_value_heads":2,"pad_token_id":null,"rms_norm_eps":1e-05,"rope_theta":10000.0,
"tie_word_embeddings":false,"torch_dtype":"bfloat16","transformers_version":"4.40.0","use_cache":true,"vocab_size":1000}`

// TestNeeded: figures stay, training and generation go; a flag that has its default stays, because it is read.
func TestNeeded(t *testing.T) {
	const want = `{"architectures":["LlamaForCausalLM"],"attention_bias":false,"head_dim":64,"hidden_size":512,"intermediate_size":1024,"max_position_embeddings":2048,` +
		`"mlp_bias":false,"model_type":"llama","num_attention_heads":8,"num_hidden_layers":2,"num_key_value_heads":2,"tie_word_embeddings":false,"torch_dtype":"bfloat16","vocab_size":1000}`
	got, err := family.Needed([]byte(bloated))
	if err != nil || string(got) != want {
		t.Errorf("%s\n%v", got, err)
	}
	many, long := strings.Builder{}, strings.Repeat("0,", 60_000)
	for i := range 2000 {
		fmt.Fprintf(&many, `"a%d":0,`, i)
	}
	for _, field := range []string{many.String(), `"b":[` + long + `0],`} {
		if _, err := family.Needed([]byte(strings.Replace(bloated, "{", "{"+field, 1))); err == nil || !strings.Contains(err.Error(), "more ") {
			t.Errorf("a config without end: %v", err)
		}
	}
	for _, bad := range []string{"", "[]", "null", "{}", `{"architectures":["NoSuchModel"]}`, `{"architectures":["LlamaForCausalLM"]}`} {
		if got, err := family.Needed([]byte(bad)); err == nil {
			t.Errorf("%q needs %s", bad, got)
		}
	}
}

// TestNeededIsTheSameNetwork: of each row of the catalog, with what files hold beside.
func TestNeededIsTheSameNetwork(t *testing.T) {
	for i, e := range catalog.All() {
		if testing.Short() && i%8 > 0 {
			continue
		}
		full := strings.Replace(string(e.Config), "{", `{"a_token_id":3,"zz":{"unread":true},`, 1)
		got, err := family.Needed([]byte(full))
		if err != nil {
			t.Errorf("%s: %v", e.ID, err)
			continue
		}
		short, want := spec(t, got), spec(t, e.Config)
		var m map[string]any
		if err := json.Unmarshal(got, &m); err != nil || m["zz"] != nil || m["a_token_id"] != nil || !reflect.DeepEqual(short, want) {
			t.Errorf("%s: %s, %v", e.ID, got, err)
		}
	}
}

func spec(t *testing.T, config []byte) *family.Spec {
	t.Helper()
	c, err := family.ParseConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	s, err := family.FromConfig(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
