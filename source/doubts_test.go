package source

import (
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
)

// TestContradictingConfig: a config whose class and type disagree is read by its class, and says so; code of a repository is
// named and not run.
func TestContradictingConfig(t *testing.T) {
	const dims = `"hidden_size":64,"intermediate_size":128,"num_attention_heads":4,"num_hidden_layers":2,"vocab_size":256`
	r, err := Config("m", []byte(`{"architectures":["LlamaForCausalLM"],"model_type":"qwen2","dtype":"bfloat16",`+dims+`}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Notes) != 1 || r.Notes[0].Code != "class_and_type" || r.Spec.Family != "llama" {
		t.Errorf("read as %s, notes %+v", r.Spec.Family, r.Notes)
	}
	r, err = Config("m", []byte(`{"architectures":["FooForCausalLM"],"auto_map":{"AutoModelForCausalLM":"modeling_foo.FooForCausalLM"},"dtype":"bfloat16",`+dims+`}`))
	if err != nil || r.Derived == "" || !noted(r.Notes, "remote_code") || !noted(r.Notes, "architecture_unknown") {
		t.Errorf("usual fields beside code of a repository: %+v %v", r, err)
	}
	_, err = Config("m", []byte(`{"architectures":["FooForCausalLM"],"mamba_d_state":16,"auto_map":{"AutoModelForCausalLM":"modeling_foo.FooForCausalLM"},`+dims+`}`))
	if err == nil || !strings.Contains(err.Error(), "modeling_foo.FooForCausalLM") {
		t.Errorf("code of a repository: %v", err)
	}
}

// TestContradictingQuantisation: tensors that take another number of bits than the quantization_config says are sized, and both are named.
func TestContradictingQuantisation(t *testing.T) {
	const text = `{"architectures":["LlamaForCausalLM"],"model_type":"llama","dtype":"bfloat16","hidden_size":4096,"intermediate_size":14336,` +
		`"num_attention_heads":32,"num_key_value_heads":8,"num_hidden_layers":32,"vocab_size":128256,` +
		`"quantization_config":{"quant_method":"gptq","bits":4,"group_size":128,"desc_act":true,"sym":true}}`
	for stored, contradicts := range map[string]bool{"bf16": true, "fp8": true, "gptq": false, "awq": false} {
		r, err := Config("m", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		r.Weights = r.Model.Store(dtype.FindRecipe(stored))
		(&configuration{name: "config.json"}).disagree(r)
		if noted(r.Notes, "quantisation_contradicts") != contradicts {
			t.Errorf("gptq beside tensors in %s: %+v", stored, r.Notes)
		}
	}
}
