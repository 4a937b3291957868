package family_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/model/family"
)

// slidingList tells which layers of a model slide, as headers do.
func slidingList(s *family.Spec) (out []bool) {
	for i := range s.Layers {
		out = append(out, s.Layers[i].Attn.Window > 0)
	}
	return out
}

// perLayer lists a number of every layer.
func perLayer(s *family.Spec, f func(*family.Layer) int64) (out []int64) {
	for i := range s.Layers {
		out = append(out, f(&s.Layers[i]))
	}
	return out
}

// described writes the header that a model's file would have: what convert_hf_to_gguf.py gives in keys, the rest in tensors.
func described(arch string, s *family.Spec) *header {
	heads := perLayer(s, func(l *family.Layer) int64 { return max(l.Attn.Heads, l.SSM.Heads) })
	kv := perLayer(s, func(l *family.Layer) int64 {
		if l.Attn.KVRank > 0 {
			return 1
		}
		return l.Attn.KVHeads
	})
	ints := keys(s.Hidden, int64(len(s.Layers)), 1, 1, 1, s.Context, map[string][]int64{"attention.head_count": heads, "attention.head_count_kv": kv,
		"feed_forward_length": one(slices.Max(perLayer(s, func(l *family.Layer) int64 { return max(1, l.FFN.Inner) })))})
	h := headerOf(arch, s.Model(arch), ints)
	for i := range s.Layers {
		describeLayer(h, arch, &s.Layers[i])
	}
	h.lists[arch+".attention.sliding_window_pattern"] = slidingList(s)
	return h
}

func describeLayer(h *header, arch string, l *family.Layer) {
	set := func(key string, n int64) {
		if n > 0 {
			h.ints[arch+"."+key] = one(n)
		}
	}
	if a := l.Attn; a.Heads > 0 {
		set("attention.sliding_window", a.Window)
		set("attention.key_length", a.DimK)
		set("attention.value_length", a.DimV)
		set("attention.q_lora_rank", a.QRank)
		set("attention.indexer.head_count", a.Index.Heads)
		set("attention.indexer.key_length", a.Index.Dim)
		set("attention.indexer.top_k", a.Chosen)
		if a.KVRank > 0 {
			set("attention.kv_lora_rank", a.KVRank)
			set("attention.key_length", a.KVRank+a.DimK-a.Nope)
			set("attention.value_length", a.KVRank)
			set("attention.key_length_mla", a.DimK)
			set("attention.value_length_mla", a.DimV)
			set("rope.dimension_count", a.DimK-a.Nope)
		}
	}
	if x := l.SSM; x.Inner > 0 {
		set("ssm.conv_kernel", x.Conv)
		set("kda.head_dim", x.Inner/max(1, x.Heads))
		set("wkv.head_size", x.Inner/max(1, x.Heads))
	}
	e := l.MoE
	if e.Experts == 0 {
		h.ints[arch+".leading_dense_block_count"] = one(first(h.ints[arch+".leading_dense_block_count"]) + 1)
		return
	}
	set("expert_count", e.Experts)
	set("expert_used_count", e.Used)
	set("expert_feed_forward_length", e.Inner)
	set("expert_shared_count", e.Shared/max(1, e.Inner))
	set("expert_group_count", e.Groups)
	set("expert_group_used_count", e.GroupsUsed)
	if h.flags[arch+".expert_weights_norm"] = e.Norm; e.Sigmoid {
		set("expert_gating_func", 2)
	}
	if e.Scaled {
		h.numbers[arch+".expert_weights_scale"] = 2.5
	}
}

// TestDescribedHeaders: architectures whose headers are read by their tensors, or by keys of their own, give the network of
// their config.json.
func TestDescribedHeaders(t *testing.T) {
	for id, arch := range map[string]string{"kimi-linear-48b-a3b": "kimi-linear", "deepseek-v3.2": "deepseek32", "glm-5": "glm-dsa", "glm-5.2": "glm-dsa", "mimo-v2-flash": "mimo2",
		"step-3.5-flash": "step35", "k-exaone-236b-a23b": "exaone-moe", "grok-1": "grok", "apertus-8b": "apertus", "qwen3-8b": "maincoder", "qwen2.5-7b": "dream", "llama-3-8b": "llada"} {
		e, err := catalog.Find(id)
		if err != nil {
			t.Fatal(err)
		}
		want, err := e.Spec()
		if err != nil {
			t.Fatal(err)
		}
		want.MTP = nil
		got, err := family.FromHeader(described(arch, want))
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		for i := range got.Layers {
			if w := got.Layers[i].Attn.Window; w != want.Layers[i].Attn.Window {
				t.Errorf("%s: layer %d has a window of %d", id, i, w)
			}
			got.Layers[i].Attn.Window = 0
		}
		sameNetwork(t, id, got, want)
	}
}

// TestHeadersOfRWKV: a file of RWKV-7 has in its first layer copies that nothing reads; otherwise both readers agree.
func TestHeadersOfRWKV(t *testing.T) {
	for id, more := range map[string]map[string][]int64{
		"rwkv-6-finch-3b":   {"time_mix_extra_dim": one(32), "time_decay_extra_dim": one(64)},
		"rwkv-7-goose-1.5b": {"attention.decay_lora_rank": one(96), "attention.iclr_lora_rank": one(96), "attention.value_residual_mix_lora_rank": one(64), "attention.gate_lora_rank": one(256)},
	} {
		e, err := catalog.Find(id)
		if err != nil {
			t.Fatal(err)
		}
		want, err := e.Spec()
		if err != nil {
			t.Fatal(err)
		}
		h := headerOf(want.Family, want.Model(id), map[string][]int64{"embedding_length": one(want.Hidden), "block_count": one(int64(len(want.Layers))), "wkv.head_size": one(64),
			"feed_forward_length": one(want.Layers[0].FFN.Inner)})
		for k, v := range more {
			h.ints[want.Family+"."+k] = v
		}
		got, err := family.FromHeader(h)
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		if want.Family == "rwkv7" {
			if got.Layers[0].SSM.Ranks[2] != 96 {
				t.Errorf("%s: the first layer has %v", id, got.Layers[0].SSM.Ranks)
			}
			got.Layers[0].SSM.Ranks[2] = 0
		}
		sameNetwork(t, id, got, want)
	}
}

// TestEveryFileIsWhole: a header without a layer's tensors is refused by the key that would size them, never by a crash.
func TestEveryFileIsWhole(t *testing.T) {
	for _, f := range family.Families() {
		if f.Header == nil {
			continue
		}
		h := headerOf(f.Name, &model.Model{Parts: []model.Part{{}}}, keys(64, 2, 4, 2, 128, 256, map[string][]int64{"expert_count": one(4), "expert_used_count": one(2)}))
		h.tensors["token_embd.weight"] = []int64{64, 256}
		if s, err := family.FromHeader(h); err == nil && s.Model("m").Params() <= 0 {
			t.Errorf("%s: no parameters", f.Name)
		}
	}
}

// files are the architectures that llama.cpp names (src/llama-arch.cpp), and undescribed those of them whose files are
// answered with exact weights and an unknown cache: encoders, drafts beside another model, and what has no reader yet.
const (
	files = `llama llama4 deci falcon grok gpt2 gptj gptneox mpt baichuan starcoder refact bert modern-bert nomic-bert nomic-bert-moe neo-bert jina-bert-v2 jina-bert-v3 eurobert
		bloom stablelm qwen qwen2 qwen2moe qwen2vl qwen3 qwen3moe qwen3next qwen3vl qwen3vlmoe qwen35 qwen35moe phi2 phi3 phimoe plamo plamo2 plamo3 codeshell orion internlm2 minicpm minicpm3
		gemma gemma2 gemma3 gemma3n gemma4 gemma4-assistant gemma-embedding starcoder2 mamba mamba2 jamba falcon-h1 xverse command-r cohere2 cohere2moe dbrx olmo olmo2 olmoe openelm arctic
		deepseek deepseek2 deepseek2-ocr deepseek32 deepseek4 chatglm glm4 glm4moe glm-dsa bitnet t5 t5encoder jais jais2 nemotron nemotron_h nemotron_h_moe exaone exaone4 exaone-moe rwkv6
		rwkv6qwen2 rwkv7 arwkv7 granite granitemoe granitehybrid chameleon wavtokenizer-dec plm bailingmoe bailingmoe2 dots1 arcee afmoe laguna ernie4_5 ernie4_5-moe hunyuan-moe hunyuan-dense
		hunyuan_vl hy_v3 smollm3 gpt-oss lfm2 lfm2moe dream smallthinker llada llada-moe seed_oss grovemoe apertus minimax-m2 cogvlm rnd1 pangu-embedded mistral3 eagle3 dflash mistral4 paddleocr
		mimo2 step35 llama-embed maincoder kimi-linear talkie mellum`
	undescribed = `gptj bert modern-bert nomic-bert nomic-bert-moe neo-bert jina-bert-v2 jina-bert-v3 eurobert gemma4-assistant gemma-embedding deepseek4 t5 t5encoder rwkv6qwen2 arwkv7
		wavtokenizer-dec eagle3 dflash`
)

// TestArchitecturesOfLlamaCpp: every architecture that llama.cpp names has a reader, or is one of those that have none.
func TestArchitecturesOfLlamaCpp(t *testing.T) {
	without := strings.Fields(undescribed)
	for _, arch := range strings.Fields(files) {
		if read := family.ByGGUF(arch) != nil; read == slices.Contains(without, arch) {
			t.Errorf("%s: read %v", arch, read)
		}
	}
}
