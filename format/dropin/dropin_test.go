package dropin_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memwall/memwall/fault"
	"github.com/memwall/memwall/format/dropin"
)

const file = `architectures: [FooForCausalLM]
model_types: [foo]
like: LlamaForCausalLM
fields:
  hidden_size: config.dim
  intermediate_size: 4 * config.dim + 64
  num_key_value_heads: config.dim / 512
  rope_theta: 10000.0
  tie_word_embeddings: true
  eos_token_id: config.ends
`

func parse(t *testing.T, text string) *dropin.Family {
	t.Helper()
	f, err := dropin.Parse("foo.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestApply(t *testing.T) {
	f := parse(t, file)
	if !f.Of("FooForCausalLM", "") || !f.Of("", "foo") || f.Of("BarForCausalLM", "foo") {
		t.Error("it is for other architectures")
	}
	text, err := f.Apply([]byte(`{"architectures":["FooForCausalLM"],"model_type":"foo","dim":4096,"ends":[1,2],"vocab_size":100}`))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"architectures": []any{"LlamaForCausalLM"}, "dim": 4096.0, "ends": []any{1.0, 2.0}, "vocab_size": 100.0,
		"hidden_size":       4096.0,
		"intermediate_size": 16448.0, "num_key_value_heads": 8.0, "rope_theta": 10000.0, "tie_word_embeddings": true,
		"eos_token_id": []any{1.0,
			2.0}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestRefused: faults name the line and the fix; what a config lacks, divides by nothing or names elsewhere is no number.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":     "foo.yaml is not a family",
		"- a":  "is not a family",
		"a: 1": "is not a key",
		strings.Replace(file, "like: LlamaForCausalLM\n", "", 1):                 "as which class",
		strings.Replace(file, "LlamaForCausalLM", `"a b"`, 1):                    "line 3",
		strings.Replace(file, "[FooForCausalLM]", "[]", 1):                       "line 1",
		strings.Replace(file, "config.dim\n", "{a: 1}\n", 1):                     "line 5",
		strings.Replace(file, "architectures: [FooForCausalLM]", "&a b: *a", 1):  "line 1",
		strings.Repeat("x", dropin.MaxBytes+1):                                   "bytes",
		"like: L\nmodel_types: [" + strings.Repeat("a, ", 200) + "\u202e]\n":     "not a name",
		"like: L\nmodel_types: [a]\nfields:\n" + strings.Repeat(" ", 3) + "a:\n": "no value",
	} {
		_, err := dropin.Parse("foo.yaml", []byte(text))
		e, ok := errors.AsType[*fault.Error](err)
		if !ok || !strings.Contains(err.Error(), want) || e.Fix == "" && e.Line == 0 {
			t.Errorf("%.60q: %v", text, err)
		}
	}
	for _, value := range []string{"config.none", "config.dim / config.zero", "other.dim", "config.dim *", "config.dim +", "config.text.a"} {
		f := parse(t, strings.Replace(file, "config.dim\n", value+"\n", 1))
		_, err := f.Apply([]byte(`{"dim":4096,"zero":0,"ends":1,"text":"x"}`))
		e, ok := errors.AsType[*fault.Error](err)
		if !ok || e.Line != 5 || !strings.Contains(err.Error(), "hidden_size") {
			t.Errorf("%s: %v", value, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(file), []byte(`{"dim":1}`))
	f.Fuzz(func(_ *testing.T, text, config []byte) {
		if d, err := dropin.Parse("foo.yaml", text); err == nil {
			_, _ = d.Apply(config) // an answer or an error
		}
	})
}
