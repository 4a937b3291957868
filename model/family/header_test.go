package family_test

import (
	"slices"
	"testing"

	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/model/family"
)

// header is a GGUF header of a model: the keys that a test gives it, and the tensors that the model has.
type header struct {
	arch    string
	ints    map[string][]int64
	flags   map[string]bool
	lists   map[string][]bool
	numbers map[string]float64
	tensors map[string][]int64
}

func (h *header) Architecture() string { return h.arch }
func (h *header) Int(key string) (int64, bool) {
	v, ok := h.Ints(key)
	return first(v), ok
}
func (h *header) Ints(key string) ([]int64, bool) {
	v, ok := h.ints[key]
	return v, ok
}
func (h *header) Bool(key string) (bool, bool) { v, ok := h.flags[key]; return v, ok }
func (h *header) Bools(key string) ([]bool, bool) {
	v, ok := h.lists[key]
	return v, ok
}
func (h *header) Float(key string) (float64, bool) { v, ok := h.numbers[key]; return v, ok }
func (h *header) TensorDims(n string) ([]int64, bool) {
	d, ok := h.tensors[n]
	return d, ok
}

func first(v []int64) int64 {
	if len(v) == 0 {
		return 0
	}
	return v[0]
}

func headerOf(arch string, m *model.Model, ints map[string][]int64) *header {
	h := &header{arch: arch, ints: map[string][]int64{}, flags: map[string]bool{}, lists: map[string][]bool{}, numbers: map[string]float64{}, tensors: map[string][]int64{}}
	for k, v := range ints {
		h.ints[arch+"."+k] = v
	}
	m.Decoder().Tensors(func(layer int, t *model.Tensor) { h.tensors[t.GGUF(layer)] = []int64{t.Cols, t.Rows()} })
	return h
}

func one(n int64) []int64 { return []int64{n} }

// keys of a decoder: width, layers, heads, KV heads, and what else is given.
func keys(width, layers, heads, kv, inner, context int64, more map[string][]int64) map[string][]int64 {
	out := map[string][]int64{"embedding_length": one(width), "block_count": one(layers), "attention.head_count": one(heads), "attention.head_count_kv": one(kv),
		"feed_forward_length": one(inner), "context_length": one(context)}
	for k, v := range more {
		out[k] = v
	}
	return out
}

// alternate is a list of n numbers: a where pick says so, else b.
func alternate(n int, a, b int64, pick ...int) []int64 {
	out := make([]int64, n)
	for i := range out {
		if out[i] = b; slices.Contains(pick, i) {
			out[i] = a
		}
	}
	return out
}

// TestBothReaders: the header and the config.json of a model describe the same network. Keys are those that
// convert_hf_to_gguf.py writes (gguf-py/gguf/constants.py).
func TestBothReaders(t *testing.T) {
	for id, c := range map[string]struct {
		arch string
		keys map[string][]int64
	}{
		"pythia-410m":       {"gptneox", keys(1024, 24, 16, 16, 4096, 2048, nil)},
		"gpt2":              {"gpt2", keys(768, 12, 12, 12, 3072, 1024, nil)},
		"starcoder-15b":     {"starcoder", keys(6144, 40, 48, 1, 24576, 8192, nil)},
		"codeshell-7b":      {"codeshell", keys(4096, 42, 32, 8, 16384, 8192, nil)},
		"falcon-7b":         {"falcon", keys(4544, 32, 71, 1, 18176, 2048, nil)},
		"falcon-40b":        {"falcon", keys(8192, 60, 128, 8, 32768, 2048, nil)},
		"mpt-30b":           {"mpt", keys(7168, 48, 64, 64, 28672, 8192, nil)},
		"dbrx":              {"dbrx", keys(6144, 40, 48, 8, 10752, 32768, map[string][]int64{"expert_count": one(16), "expert_used_count": one(4)})},
		"baichuan2-13b":     {"baichuan", keys(5120, 40, 40, 40, 13696, 4096, nil)},
		"internlm2-7b":      {"internlm2", keys(4096, 32, 32, 8, 14336, 32768, nil)},
		"qwen-7b":           {"qwen", keys(4096, 32, 32, 32, 22016, 32768, nil)},
		"phi-mini-moe":      {"phimoe", keys(4096, 32, 32, 8, 960, 4096, map[string][]int64{"expert_count": one(16), "expert_used_count": one(2)})},
		"smollm3-3b":        {"smollm3", keys(2048, 36, 16, 4, 11008, 65536, nil)},
		"afm-4.5b":          {"arcee", keys(2560, 36, 20, 4, 18432, 65536, map[string][]int64{"attention.key_length": one(128), "attention.value_length": one(128)})},
		"seed-oss-36b":      {"seed_oss", keys(5120, 64, 80, 8, 27648, 524288, map[string][]int64{"attention.key_length": one(128), "attention.value_length": one(128)})},
		"olmo-1b":           {"olmo", keys(2048, 16, 16, 16, 8192, 2048, nil)},
		"exaone-3.5-2.4b":   {"exaone", keys(2560, 30, 32, 8, 7168, 32768, nil)},
		"exaone-4.0-1.2b":   {"exaone4", keys(2048, 30, 32, 8, 4096, 65536, nil)},
		"lfm2-1.2b":         {"lfm2", keys(2048, 16, 32, 0, 8192, 128000, map[string][]int64{"attention.head_count_kv": alternate(16, 8, 0, 2, 5, 8, 10, 12, 14), "shortconv.l_cache": one(3)})},
		"ernie-4.5-0.3b":    {"ernie4_5", keys(1024, 18, 16, 2, 3072, 131072, map[string][]int64{"attention.key_length": one(128), "attention.value_length": one(128)})},
		"ernie-4.5-21b-a3b": {"ernie4_5-moe", keys(2560, 28, 20, 4, 12288, 131072, map[string][]int64{"expert_count": one(64), "expert_used_count": one(6), "expert_feed_forward_length": one(1536), "expert_shared_feed_forward_length": one(3072), "leading_dense_block_count": one(1)})},
		"hunyuan-a13b":      {"hunyuan-moe", keys(4096, 32, 32, 8, 3072, 32768, map[string][]int64{"expert_count": one(64), "expert_used_count": one(8), "expert_feed_forward_length": one(3072), "expert_shared_feed_forward_length": one(3072)})},
		"deepseek-moe-16b":  {"deepseek", keys(2048, 28, 16, 16, 10944, 4096, map[string][]int64{"expert_count": one(64), "expert_used_count": one(6), "expert_feed_forward_length": one(1408), "expert_shared_count": one(2), "leading_dense_block_count": one(1)})},
		"falcon-mamba-7b":   {"mamba", map[string][]int64{"embedding_length": one(4096), "block_count": one(64), "ssm.conv_kernel": one(4), "ssm.inner_size": one(8192), "ssm.state_size": one(16), "ssm.time_step_rank": one(256), "context_length": one(0)}},
		"xverse-7b":         {"xverse", keys(4096, 32, 32, 32, 11008, 8192, nil)},
	} {
		e, err := catalog.Find(id)
		if err != nil {
			t.Fatal(err)
		}
		want, err := e.Spec()
		if err != nil {
			t.Fatal(err)
		}
		got, err := family.FromHeader(headerOf(c.arch, want.Model(id), c.keys))
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		sameNetwork(t, id, got, want)
	}
}

// sameNetwork compares what both readers tell; windows that llama.cpp does not apply are left out.
func sameNetwork(t *testing.T, id string, got, want *family.Spec) {
	t.Helper()
	if got.Vocab != want.Vocab || got.Hidden != want.Hidden || got.Tied != want.Tied || got.OutNorm != want.OutNorm || got.EmbedNorm != want.EmbedNorm ||
		got.Positions != want.Positions || got.HeadBias != want.HeadBias {
		t.Errorf("%s: ends differ", id)
	}
	for i := range want.Layers {
		x := want.Layers[i]
		if x.Attn.Window = 0; i >= len(got.Layers) || got.Layers[i] != x {
			t.Errorf("%s: layer %d is %+v, in config.json %+v", id, i, got.Layers[i], x)
			return
		}
	}
}

// TestNormOfLFM2: GGUF files of LFM2 call the last norm token_embd_norm; it is the last either way, and no norm follows the embedding.
func TestNormOfLFM2(t *testing.T) {
	e, err := catalog.Find("lfm2-1.2b")
	if err != nil {
		t.Fatal(err)
	}
	want, err := e.Spec()
	if err != nil {
		t.Fatal(err)
	}
	h := headerOf("lfm2", want.Model("m"), keys(2048, 16, 32, 0, 8192, 128000, map[string][]int64{"attention.head_count_kv": alternate(16, 8, 0, 2, 5, 8, 10, 12, 14), "shortconv.l_cache": one(3)}))
	h.tensors["token_embd_norm.weight"] = h.tensors["output_norm.weight"]
	delete(h.tensors, "output_norm.weight")
	got, err := family.FromHeader(h)
	if err != nil {
		t.Fatal(err)
	}
	m := got.Model("m")
	if got.EmbedNorm != family.NoNorm || got.OutNorm != want.OutNorm {
		t.Errorf("norms %v and %v", got.EmbedNorm, got.OutNorm)
	}
	if m.Params() != want.Model("m").Params() {
		t.Errorf("%d parameters", m.Params())
	}
	m.Decoder().Tensors(func(layer int, x *model.Tensor) {
		if h.tensors[x.GGUF(layer)] == nil {
			t.Errorf("the file lacks %s", x.GGUF(layer))
		}
	})
}
