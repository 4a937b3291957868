package llamacpp

import (
	"testing"

	"github.com/memwall/memwall/model"
)

// TestConverted: models of the catalog have the tensors that convert_hf_to_gguf.py writes, in the formats that
// llama-quantize gives them.
func TestConverted(t *testing.T) {
	for _, c := range []struct {
		id, recipe string
		layer      int
		tensor     string
		want       string // format, "" for no such tensor
		rows       int64  // 0 for any
		source     string
	}{
		{"falcon-7b", "q4_k_m", -1, "output", "q8_0", 65024, "conversion/falcon.py writes lm_head; llama-quant.cpp: LLM_ARCH_FALCON"},
		{"falcon-7b", "q4_k_m", -1, "token_embd", "q5_0", 65024, "tensor_type_fallback: 4544 is not a multiple of 256"},
		{"bert-base", "q4_k_m", -1, "token_embd", "q6_k", 0, "llama-quant.cpp: has_tied_embeddings where no output.weight is"},
		{"internlm2-7b-reward", "q4_k_m", -1, "cls.output", "f16", 1, "ggml_n_dims of one row is 1"},
		{"bge-m3", "q4_k_m", -1, "position_embd", "f32", 8192, "conversion/bert.py, _position_offset"},
		{"qwen3-embedding-8b", "q4_k_m", -1, "output", "", 0, "conversion/qwen.py, Qwen3Model: no lm_head in the checkpoint"},
		{"qwen3-embedding-8b", "q4_k_m", -1, "token_embd", "q6_k", 0, "has_tied_embeddings"},
		{"qwen2.5-72b", "q4_k_m", 10, "attn_v", "q5_k", 0, "src/models/qwen2.cpp: 80 layers are LLM_TYPE_70B"},
		{"llama-65b", "q4_k_m", 10, "attn_v", "q4_k", 0, "src/models/llama.cpp: 80 layers with as many KV heads as heads are LLM_TYPE_65B"},
		{"t5-v1.1-xxl", "q4_k_m", 0, "attn_rel_b", "f16", 2048, "attn_rel_b is kept as converted, with two dimensions"},
		{"t5-v1.1-xxl", "q4_k_m", 19, "ffn_down", "q6_k", 0, "dec.blk.19 is the twelfth by name: moreBits(11, 24)"},
		{"t5-v1.1-xxl", "q3_k_l", 0, "attn_o", "q3_k", 0, "attn_o is not attn_output"},
		{"rwkv-7-goose-1.5b", "q4_k_m", 0, "time_mix_v1", "f16", 96, "conversion/rwkv.py: a copy of a1 in the first layer"},
		{"rwkv-7-goose-1.5b", "q4_k_m", 3, "time_mix_w1", "f32", 0, "conversion/base.py, TIME_MIX_W1"},
		{"llama-4-scout", "q4_k_m", -1, "rope_freqs", "f32", 64, "conversion/llama.py, generate_extra_tensors"},
		{"phi-4-mini", "q4_k_m", -1, "rope_factors_long", "f32", 48, "conversion/phi.py: half of 128 × 0.75"},
		{"jamba-v0.1", "q2_k", 4, "attn_v", "q3_k", 0, "llama_hparams::n_gqa: the first layer has no KV heads"},
		{"qwen3-next-80b-a3b", "q2_k", 3, "attn_v", "q4_k", 0, "one number of KV heads for all layers"},
		{"step-3.5-flash", "q4_k_m", 5, "ffn_down_exps", "q6_k", 0, "conversion/step3.py keeps three prediction layers: moreBits(5, 48)"},
		{"ling-lite", "q4_k_m", 0, "attn_qkv", "", 0, "conversion/bailingmoe.py, BailingMoeForCausalLM: q, k and v apart"},
	} {
		m, w := gguf(t, c.id, c.recipe)
		format, rows := namedTensor(m, w, c.layer, c.tensor)
		if format != c.want || c.rows != 0 && rows != c.rows {
			t.Errorf("%s in %s, layer %d: %s is %q with %d rows, want %q with %d (%s)", c.id, c.recipe, c.layer, c.tensor, format, rows, c.want, c.rows, c.source)
		}
	}
}

// namedTensor a layer, or with -1 before or behind the layers: its format, "" for none.
func namedTensor(m *model.Model, w *model.Weights, layer int, name string) (format string, rows int64) {
	p, at := m.Decoder(), map[int]int{}
	p.Tensors(func(l int, x *model.Tensor) {
		i := at[l]
		at[l]++
		if l != layer && (layer >= 0 || l >= 0) || x.Bias || string(x.Name()) != name {
			return
		}
		s := w.Parts[0].Pre
		switch {
		case l == model.InPost:
			s = w.Parts[0].Post
		case l >= 0:
			s = w.Parts[0].Variants[w.Parts[0].Layers[l]].Tensors
		}
		format, rows = s[i].Scheme.Elem.Name, x.Rows()
	})
	return format, rows
}
