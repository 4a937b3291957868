package source

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model/catalog"
)

// TestRarerMethods: the bits of a matrix of 4096 × 12288 in methods that few repositories use, scales included, as each method's
// own code lays them out; the head's where it differs.
func TestRarerMethods(t *testing.T) {
	const config = `{"architectures":["Qwen3ForCausalLM"],"head_dim":128,"hidden_size":4096,"intermediate_size":12288,"model_type":"qwen3","num_attention_heads":32,
		"num_hidden_layers":2,"num_key_value_heads":8,"tie_word_embeddings":false,"torch_dtype":"bfloat16","vocab_size":1024,"quantization_config":%s}`
	for text, want := range map[string]float64{
		`{"quant_method":"exl2","bits":4.25,"head_bits":6}`:                                                      4.25,
		`{"quant_method":"exl3","bits":3.0}`:                                                                     3,
		`{"quant_method":"hqq","quant_config":{"weight_quant_params":{"nbits":4,"group_size":64}}}`:              4.5,
		`{"quant_method":"hqq","quant_config":{"weight_quant_params":{"nbits":2,"group_size":16}}}`:              4,
		`{"quant_method":"aqlm","num_codebooks":1,"nbits_per_codebook":16,"in_group_size":8,"out_group_size":1}`: 2 + 8.0*2*65536*8/(4096*12288) + 16.0/12288,
		`{"quant_method":"bitnet"}`:                                                                                                              2,
		`{"quant_method":"eetq","weights":"int8"}`:                                                                                               8 + 16.0/12288,
		`{"quant_method":"quanto","weights":"int4"}`:                                                                                             4.25,
		`{"quant_method":"fp_quant","forward_dtype":"mxfp4"}`:                                                                                    4.25,
		`{"quant_method":"mxfp8"}`:                                                                                                               8.25,
		`{"quant_method":"inc","bits":4,"group_size":128,"sym":true}`:                                                                            4 + 20.0/128 + 32.0/4096,
		`{"quant_method":"auto-round","bits":4,"data_type":"mx_fp","act_bits":4,"group_size":32}`:                                                4.25,
		`{"quant_method":"auto-round","bits":4,"data_type":"nv_fp","act_bits":4,"group_size":16}`:                                                4.5,
		`{"quant_method":"auto-round","bits":8,"data_type":"fp","act_bits":8,"group_size":-1}`:                                                   8 + 32.0/12288,
		`{"quant_method":"quark","global_quant_config":{"weight":{"dtype":"uint4","group_size":128,"qscheme":"per_group"}}}`:                     4 + 36.0/128,
		`{"quant_method":"quark","global_quant_config":{"weight":[{"dtype":"fp8_e4m3","qscheme":"per_tensor"},{"dtype":"int4","qscheme":"x"}]}}`: 4 + 32.0/12288,
		`{"quant_method":"modelopt","quant_algo":"W4A16_MXFP4"}`:                                                                                 4.25,
	} {
		r, err := Config("m", fmt.Appendf(nil, config, text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		scheme := r.Scheme
		if scheme == nil {
			scheme = dtype.FindRecipe(r.Recipe)
		}
		w := r.Model.Store(scheme)
		i, got := 0, 0.0
		for _, o := range r.Model.Decoder().Kinds[0].Ops {
			for _, x := range o.W {
				if x.Role == dtype.FFNDown {
					got = 8 * float64(w.Parts[0].Variants[0].Tensors[i].Bytes) / float64(x.Elems())
				}
				i++
			}
		}
		if math.Abs(got-want) > 0.02 {
			t.Errorf("%s: %.4f bits, want %.4f", text, got, want)
		}
	}
	for _, text := range []string{`{"quant_method":"exl2","bits":1e9}`, `{"quant_method":"exl2"}`, `{"quant_method":"hqq"}`, `{"quant_method":"aqlm","num_codebooks":7}`, `{"quant_method":"quanto","weights":"x"}`,
		`{"quant_method":"aqlm","num_codebooks":1000000000,"in_group_size":1000000000}`, `{"quant_method":"vptq"}`, `{"quant_method":"quark","global_quant_config":{"weight":[]}}`} {
		if _, err := Config("m", fmt.Appendf(nil, config, text)); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}

// TestMLXByNameAndByConfig: the recipe of a name and a configuration of the same bits store the same, per-layer embeddings and
// encoders included: gemma-4-e2b in 4 bits has the 3.6 GB of its MLX conversion.
func TestMLXByNameAndByConfig(t *testing.T) {
	for _, id := range []string{"gemma-4-e2b", "qwen3-8b", "qwen3-30b-a3b", "qwen3-vl-8b"} {
		e, err := catalog.Find(id)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(string(e.Config), "{", `{"quantization":{"group_size":64,"bits":4},`, 1)
		r, err := Config(id, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if r.Recipe != "mlx-4bit" {
			t.Errorf("%s: %s", id, r.Recipe)
		}
		if got := float64(r.Model.Store(dtype.FindRecipe("mlx-4bit")).Bytes()) / 1e9; id == "gemma-4-e2b" && math.Abs(got-3.6) > 0.1 {
			t.Errorf("%s: %.2f GB", id, got)
		}
	}
}
