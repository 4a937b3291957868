package source

import (
	"fmt"
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// bitsOfRoles says how wide the main elements of each tensor are under a configuration: "layer role" to bits.
func bitsOfRoles(t *testing.T, r *Resolved) map[string]float64 {
	t.Helper()
	recipe := r.Scheme
	if recipe == nil {
		recipe = dtype.FindRecipe(r.Recipe)
	}
	out := map[string]float64{}
	note := *recipe
	note.Pick = func(s *dtype.Site) *dtype.Scheme {
		x := recipe.Pick(s)
		if x != nil && !s.Bias {
			out[fmt.Sprintf("%s %d %s", s.Part, s.Layer, s.Role)] = x.Elem.Bits()
		}
		return x
	}
	r.Model.Store(&note)
	return out
}

// TestExceptions: modules that a list names stay as they are, and nothing else does.
func TestExceptions(t *testing.T) {
	for name, c := range map[string]struct {
		net         int
		config      string
		kept, given string // "part layer role", separated by commas
	}{
		"head and one layer":    {0, compressedIgnoring(`"lm_head","model.layers.0"`), "decoder 0 attn_q,decoder 0 ffn_up,decoder -1 output", "decoder 1 attn_q,decoder 1 ffn_down"},
		"head not named":        {0, compressedIgnoring(`"model.layers.1.mlp.up_proj"`), "decoder 1 ffn_up", "decoder -1 output,decoder 1 ffn_gate,decoder 0 ffn_up"},
		"names as in wrappers":  {0, compressedIgnoring(`"lm_head","language_model.model.layers.1.self_attn.q_proj","model.language_model.layers.0.mlp.down_proj"`), "decoder 1 attn_q,decoder 0 ffn_down", "decoder 0 attn_q,decoder 1 ffn_down"},
		"a glob":                {0, modelopt(`"lm_head","model.layers.0.self_attn*"`), "decoder 0 attn_q,decoder 0 attn_output", "decoder 1 attn_q,decoder 0 ffn_up"},
		"a glob in the middle":  {2, modelopt(`"lm_head","*.mlp.shared_experts.*","*.self_attn.kv_b_proj"`), "decoder 1 ffn_up_shexp,decoder 0 attn_k_b,decoder 2 attn_v_b", "decoder 1 ffn_up_exps,decoder 0 ffn_up,decoder 0 attn_q_b"},
		"an expression":         {2, compressedIgnoring(`"lm_head","re:.*self_attn.*","re:.*shared_experts.*","re:.*mlp\\.(gate|up|gate_up|down)_proj.*"`), "decoder 0 attn_q_a,decoder 1 ffn_down_shexp,decoder 0 ffn_gate", "decoder 1 ffn_gate_exps,decoder 2 ffn_down_exps"},
		"an anchored one":       {0, compressedIgnoring(`"lm_head","re:model\\.layers\\.1\\.mlp\\.","re:up_proj"`), "decoder 1 ffn_gate,decoder 1 ffn_up", "decoder 0 ffn_up,decoder 1 attn_k"},
		"ten is not one":        {0, modelopt(`"lm_head","model.layers.10.*","model.layers.1"`), "decoder 1 attn_q", "decoder 0 attn_q"},
		"a word, not a part":    {0, `{"quant_method":"fp8","modules_to_not_convert":["gate","up"]}`, "decoder -1 output", "decoder 0 ffn_gate,decoder 0 ffn_up"},
		"routers stay":          {1, `{"quant_method":"gptq","bits":4,"group_size":32}`, "decoder 0 ffn_gate_inp,decoder -1 output,decoder -1 token_embd", "decoder 0 ffn_up_exps,decoder 1 attn_v"},
		"towers stay for gptq":  {4, `{"quant_method":"gptq","bits":4,"group_size":32}`, "vision 0 attn_q,vision -1 projector_0", "decoder 0 attn_q"},
		"a tower named":         {4, compressedIgnoring(`"re:.*lm_head","re:vision_tower.*","re:multi_modal_projector.*"`), "vision 0 attn_q,vision 0 ffn_up,vision -1 projector_0", "decoder 0 attn_q"},
		"a tower not named":     {4, compressedIgnoring(`"lm_head"`), "vision -1 patch_embd", "vision 0 attn_q,decoder 0 attn_q"},
		"only the blocks named": {0, `{"quant_method":"gptq","bits":4,"group_size":32,"modules_in_block_to_quantize":[["self_attn.q_proj"],["mlp.up_proj"]]}`, "decoder 0 attn_k,decoder 0 ffn_down", "decoder 0 attn_q,decoder 1 ffn_up"},
		"gptq's rules":          {0, `{"quant_method":"gptq","bits":4,"group_size":32,"dynamic":{"-:.*layers\\.0\\..*":{},"+:.*down_proj":{"bits":8}}}`, "decoder 0 attn_q,decoder 0 ffn_down", "decoder 1 attn_q"},
		"autoround's":           {0, `{"quant_method":"auto-round","bits":4,"group_size":32,"extra_config":{"model.layers.1.mlp.down_proj":{"bits":16,"data_type":"float"}}}`, "decoder 1 ffn_down", "decoder 0 ffn_down"},
		"bitsandbytes' list":    {0, `{"quant_method":"bitsandbytes","load_in_4bit":true,"bnb_4bit_quant_type":"nf4","llm_int8_skip_modules":["lm_head","model.layers.1.mlp"]}`, "decoder 1 ffn_up,decoder -1 output", "decoder 0 ffn_up,decoder 1 attn_q"},
		"delta net":             {3, modelopt(`"lm_head","model.layers.0.linear_attn*","model.layers.1.mlp.shared_expert*"`), "decoder 0 attn_qkv,decoder 0 attn_gate,decoder 0 ssm_out,decoder 1 ffn_up_shexp", "decoder 1 attn_qkv,decoder 1 ffn_up_exps,decoder 3 attn_q"},
	} {
		t.Run(name, func(t *testing.T) {
			n := networks[c.net]
			r, err := Config("m", []byte(strings.TrimSuffix(n.config, "}")+`,"quantization_config":`+c.config+"}"))
			if err != nil {
				t.Fatal(err)
			}
			bits := bitsOfRoles(t, r)
			for kept := range strings.SplitSeq(c.kept, ",") {
				if b := bits[kept]; b != 16 {
					t.Errorf("%s has %v bits, and should stay", kept, b)
				}
			}
			for given := range strings.SplitSeq(c.given, ",") {
				if b := bits[given]; b == 16 || b == 0 {
					t.Errorf("%s has %v bits, and should be quantised", given, b)
				}
			}
		})
	}
}

func modelopt(ignored string) string {
	return `{"quant_method":"modelopt","quant_algo":"NVFP4","ignore":[` + ignored + `]}`
}

// TestMixtures: several schemes in one checkpoint.
func TestMixtures(t *testing.T) {
	for name, c := range map[string]struct {
		net    int
		config string
		want   map[string]float64
	}{
		"modelopt": {3, `{"quantization_config":{"quant_method":"modelopt","quant_algo":"MIXED_PRECISION","ignore":["mtp*"],"quantized_layers":{
			"model.layers.0.linear_attn.out_proj":{"quant_algo":"FP8"},"model.layers.1.mlp.experts":{"quant_algo":"W4A16_NVFP4","group_size":16},"lm_head":{"quant_algo":"W4A16_NVFP4","group_size":16}}}}`,
			map[string]float64{"decoder 0 ssm_out": 8, "decoder 1 ssm_out": 16, "decoder 1 ffn_up_exps": 4, "decoder 1 ffn_up_shexp": 16, "decoder -1 output": 4}},
		"fp8 with experts apart": {2, `{"quantization_config":{"quant_method":"fp8","weight_block_size":[32,32],"quantized_layers":{"layers.1.mlp.experts":{"quant_algo":"NVFP4","group_size":16}}}}`,
			map[string]float64{"decoder 1 ffn_up_exps": 4, "decoder 2 ffn_up_exps": 8, "decoder 0 attn_q_b": 8, "decoder -1 output": 16}},
		"MLX": {0, `{"quantization":{"bits":4,"group_size":32,"lm_head":{"bits":8,"group_size":64},"model.layers.1.mlp.down_proj":{"bits":6,"group_size":64},"model.layers.0.self_attn.q_proj":false}}`,
			map[string]float64{"decoder -1 token_embd": 4, "decoder -1 output": 8, "decoder 1 ffn_down": 6, "decoder 0 attn_q": 16, "decoder 1 attn_q": 4, "decoder -1 output_norm": 16}},
		"compressed-tensors": {0, `{"quantization_config":{"quant_method":"compressed-tensors","format":"float-quantized","ignore":["lm_head"],"config_groups":{
			"group_0":{"targets":["Linear"],"weights":{"num_bits":8,"type":"float","strategy":"channel"}},"group_1":{"format":"pack-quantized","targets":["re:.*down_proj"],"weights":{"num_bits":4,"type":"int","strategy":"group","group_size":32}}}}}`,
			map[string]float64{"decoder 0 attn_q": 8, "decoder 0 ffn_down": 4, "decoder 1 ffn_down": 4}},
		"quark": {0, `{"quantization_config":{"quant_method":"quark","exclude":["lm_head","*q_proj"],"global_quant_config":{"weight":{"dtype":"fp8_e4m3","qscheme":"per_tensor"},"input_tensors":{"is_dynamic":false}},
			"layer_quant_config":{"*down_proj":{"weight":{"dtype":"fp4","qscheme":"per_group","group_size":32}}}}}`,
			map[string]float64{"decoder 0 attn_q": 16, "decoder 0 attn_k": 8, "decoder 0 ffn_down": 4, "decoder -1 output": 16}},
		"torchao": {0, `{"quantization_config":{"quant_method":"torchao","quant_type":{"default":{"_type":"Int4WeightOnlyConfig","_data":{"group_size":32}}}}}`,
			map[string]float64{"decoder 0 attn_q": 4, "decoder -1 output": 16}},
		"torchao by name": {0, `{"quantization_config":{"quant_method":"torchao","quant_type":"int8_weight_only"}}`, map[string]float64{"decoder 0 attn_q": 8}},
	} {
		t.Run(name, func(t *testing.T) {
			n := networks[c.net]
			r, err := Config("m", []byte(strings.TrimSuffix(n.config, "}")+","+strings.TrimPrefix(c.config, "{")))
			if err != nil {
				t.Fatal(err)
			}
			bits := bitsOfRoles(t, r)
			for at, want := range c.want {
				if bits[at] != want {
					t.Errorf("%s has %v bits, want %v", at, bits[at], want)
				}
			}
		})
	}
}

// TestNamedRecipes: a configuration that says what a named recipe does is that recipe.
func TestNamedRecipes(t *testing.T) {
	for config, want := range map[string]string{
		`{"quant_method":"fp8","weight_block_size":[128,128]}`:                                                       "fp8-block",
		`{"quant_method":"fp8","activation_scheme":"static"}`:                                                        "fp8-tensor",
		`{"quant_method":"gptq","bits":4,"group_size":128}`:                                                          "gptq",
		`{"quant_method":"gptq","bits":8,"group_size":128}`:                                                          "gptq-int8",
		`{"quant_method":"awq","bits":4,"group_size":128}`:                                                           "awq",
		`{"quant_method":"bitsandbytes","load_in_8bit":true}`:                                                        "bnb-int8",
		`{"quant_method":"bitsandbytes","load_in_4bit":true,"bnb_4bit_quant_type":"nf4"}`:                            "nf4-single",
		`{"quant_method":"bitsandbytes","load_in_4bit":true}`:                                                        "fp4",
		`{"quant_algo":"FP8","ignore":["lm_head"]}`:                                                                  "fp8-tensor",
		`{"bits":4,"group_size":64}`:                                                                                 "mlx-4bit",
		compressed("pack-quantized", `"num_bits":4,"type":"int","strategy":"group","group_size":128`, "null"):        "int4",
		compressed("float-quantized", `"num_bits":8,"type":"float","strategy":"channel"`, `{"dynamic":true}`):        "fp8",
		compressed("nvfp4-pack-quantized", `"num_bits":4,"type":"float","group_size":16`, `{"dynamic":"local"}`):     "nvfp4",
		compressed("mxfp4-pack-quantized", `"num_bits":4,"type":"float","strategy":"group","group_size":32`, "null"): "mxfp4-all",
	} {
		r, err := Config("m", []byte(quantisedConfig(config)))
		if err != nil {
			t.Errorf("%s: %v", config, err)
			continue
		}
		if r.Recipe != want || r.Scheme != nil {
			t.Errorf("%s: recipe %q (anonymous: %v), want %q", config, r.Recipe, r.Scheme != nil, want)
		}
	}
}

// TestOverrides: a recipe of a configuration also stores a model that was changed afterwards.
func TestOverrides(t *testing.T) {
	r, err := Config("m", []byte(quantisedConfig(compressedIgnoring(`"model.layers.1.mlp.up_proj"`))))
	if err != nil {
		t.Fatal(err)
	}
	s := *r.Spec
	s.Layers = append(append(s.Layers[:len(s.Layers):len(s.Layers)], s.Layers...), s.Layers...)
	if more, less := s.Model("m").Store(r.Scheme).Bytes(), r.Model.Store(r.Scheme).Bytes(); more <= 2*less-r.Model.Store(r.Scheme).Parts[0].Bytes() || more < less {
		t.Errorf("six layers take %d bytes, two %d", more, less)
	}
}

// TestHeadByHead: matrices that a model holds head by head have the scales of the whole matrix in the files.
func TestHeadByHead(t *testing.T) {
	n := networks[2]
	r, err := Config("m", []byte(strings.TrimSuffix(n.config, "}")+`,"quantization_config":`+compressed("float-quantized", `"num_bits":8,"type":"float","strategy":"channel"`, "null")+"}"))
	if err != nil {
		t.Fatal(err)
	}
	one := func(scheme *dtype.Scheme) (scales int64) {
		r.Model.Decoder().Tensors(func(layer int, x *model.Tensor) {
			if layer == 0 && (x.Role == dtype.AttnKB || x.Role == dtype.AttnVB) {
				scales += int64(model.Store(x, scheme).Bytes) - x.Elems()
			}
		})
		return scales
	}
	for _, c := range []struct {
		scheme *dtype.Scheme
		want   int64
	}{{dtype.FP8Channel, 2 * 128}, {dtype.FP8Block, 4}, {dtype.FP8Tensor, 2 * 4}} {
		if got := one(c.scheme); got != c.want {
			t.Errorf("%s: %d bytes of scales beside kv_b_proj of 128 rows and 32 columns, want %d", c.scheme.Name, got, c.want)
		}
	}
	w := r.Model.Store(recipeOfResolved(r))
	if w.Bytes() <= 0 {
		t.Error("no bytes")
	}
}

// TestTwoOfFour: of four values two are stored, and a bit for each of the four: 5 bits a value in FP8.
func TestTwoOfFour(t *testing.T) {
	s := halved(&dtype.Scheme{Name: "fp8-channel", Elem: dtype.FP8E4M3})
	if got := s.Bytes(1, 128, 4096); got != 128*4096*5/8 {
		t.Errorf("%d bytes, want %d", got, 128*4096*5/8)
	}
	if four := (&dtype.Scheme{Name: "x", Elem: dtype.I4}); halved(four) != four {
		t.Error("what is packed otherwise is left alone")
	}
}
