package source

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/memwall/memwall/format/gguf/gguftest"
	"github.com/memwall/memwall/format/safetensors/safetensorstest"
	"github.com/memwall/memwall/model/catalog"
)

// large writes a GGUF file with a header of 9 MB: Llama 3 8B.
func large(t testing.TB) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "large.gguf")
	f := gguftest.Llama8B.Builder().File()
	if err := os.WriteFile(file, f.Head, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, f.Len); err != nil {
		t.Fatal(err)
	}
	return file
}

// BenchmarkLargeGGUF: from the path to the model.
func BenchmarkLargeGGUF(b *testing.B) { benchmark(b, large(b)) }

func benchmark(b *testing.B, ref string) {
	f := New(Options{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Model(ref); err != nil {
			b.Fatal(err)
		}
	}
}

// TestLargeGGUFMemory: a large header is not held in memory.
func TestLargeGGUFMemory(t *testing.T) {
	file := large(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := resolve(t, file)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 2<<20 {
		t.Errorf("%d bytes allocated for a header of 9 MB", took)
	}
	if r.Model.Params() != 8030261248 || r.Weights.Extra != 0 {
		t.Errorf("%d parameters, %d unused bytes", r.Model.Params(), r.Weights.Extra)
	}
}

// BenchmarkManyShards reads the headers of DeepSeek-R1's shape: 61 layers, 256 experts, 163 files, 45,000
// tensors.
func BenchmarkManyShards(b *testing.B) {
	dir := b.TempDir()
	e, err := catalog.Find("deepseek-r1")
	if err != nil {
		b.Fatal(err)
	}
	text(b, filepath.Join(dir, "config.json"), string(e.Config))
	files := make([]*safetensorstest.Builder, 163)
	for i := range files {
		files[i] = &safetensorstest.Builder{}
	}
	for i, x := range tensorLines(deepseekHub) {
		files[i%163].Tensor(x.name, "BF16", 16, x.shape...)
	}
	for i, f := range files {
		write(b, filepath.Join(dir, shardName(i, 163)), f.File())
	}
	benchmark(b, dir)
}

var deepseekHub = strings.NewReplacer("L", "{0-60}", "M", "{3-60}").Replace(`
model.embed_tokens.weight 129280 7168
model.layers.L.input_layernorm.weight 7168
model.layers.L.self_attn.q_a_proj.weight 1536 7168
model.layers.L.self_attn.q_a_layernorm.weight 1536
model.layers.L.self_attn.q_b_proj.weight 24576 1536
model.layers.L.self_attn.kv_a_proj_with_mqa.weight 576 7168
model.layers.L.self_attn.kv_a_layernorm.weight 512
model.layers.L.self_attn.kv_b_proj.weight 32768 512
model.layers.L.self_attn.o_proj.weight 7168 16384
model.layers.L.post_attention_layernorm.weight 7168
model.layers.{0-2}.mlp.{gate,up}_proj.weight 18432 7168
model.layers.{0-2}.mlp.down_proj.weight 7168 18432
model.layers.M.mlp.gate.weight 256 7168
model.layers.M.mlp.gate.e_score_correction_bias 256
model.layers.M.mlp.experts.{0-255}.{gate,up}_proj.weight 2048 7168
model.layers.M.mlp.experts.{0-255}.down_proj.weight 7168 2048
model.layers.M.mlp.shared_experts.{gate,up}_proj.weight 2048 7168
model.layers.M.mlp.shared_experts.down_proj.weight 7168 2048
model.norm.weight 7168
lm_head.weight 129280 7168
`)
