package source

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/plan"
)

// written puts a description into a file.
func written(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// like are descriptions of models of the catalog, each with what the examples do not show.
var like = map[string]string{
	"qwen3-8b": `{like: qwen3, vocab: 151936, hidden: 4096, context: 40960, layers: [{count: 36, attention: {heads: 32, kv_heads: 8, head_dim: 128, qk_norm: per_head}, ffn: {inner: 12288}}]}`,
	"qwen3-30b-a3b": `{like: qwen3moe, vocab: 151936, hidden: 2048, context: 40960, layers: [{count: 48, attention: {heads: 32, kv_heads: 4, head_dim: 128, qk_norm: per_head},
		experts: {count: 128, used: 8, inner: 768}}]}`,
	"gpt-oss-20b": `{like: gpt-oss, vocab: 201088, hidden: 2880, context: 128k, layers: [{repeat: 12, layers: [
		{attention: {heads: 64, kv_heads: 8, head_dim: 64, window: 128, sinks: true, bias: true}, experts: {count: 32, used: 4, inner: 2880, bias: true}},
		{attention: {heads: 64, kv_heads: 8, head_dim: 64, sinks: true, bias: true}, experts: {count: 32, used: 4, inner: 2880, bias: true}}]}]}`,
	"qwen3-next-80b-a3b": `{vocab: 151936, hidden: 2048, context: 256k, layers: [{repeat: 12, layers: [
		{count: 3, state: {style: delta_net, inner: 4096, heads: 32, groups: 16, state: 128}, experts: {count: 512, used: 10, inner: 512, shared: 512, shared_gate: true}},
		{attention: {heads: 16, kv_heads: 2, head_dim: 256, rope_dim: 64, gate: true, qk_norm: per_head}, experts: {count: 512, used: 10, inner: 512, shared: 512, shared_gate: true}}]}]}`,
	"bge-m3": `{kind: encoder, vocab: 250002, hidden: 1024, context: 8192, positions: 8194, segments: 1, norm: layernorm, embed_norm: layernorm, out_norm: none, dtype: f32,
		layers: [{count: 24, norms: after_sum, attention: {heads: 16, bias: true}, ffn: {inner: 4096, gated: false, bias: true, activation: gelu}}], after: [{map: [1024, 1024], bias: true}]}`,
	"mamba-2.8b": `{vocab: 50280, hidden: 2560, tied: true, layers: [{count: 64, norms: single, state: {style: mamba1, inner: 5120}}]}`,
}

// TestDescriptions: a description has the parameters, weights, cache and needs of the model that it describes.
func TestDescriptions(t *testing.T) {
	files := map[string]string{"llama-3.1-8b": "../docs/examples/dense.yaml", "deepseek-v2-lite": "../docs/examples/experts.yaml", "vit-base-patch16-224": "../docs/examples/vit.yaml"}
	for id, text := range like {
		files[id] = written(t, id+".yml", text)
	}
	asker := &memwall.Asker{Models: New(Options{})}
	for id, file := range files {
		for _, e := range []string{"generic", "vllm"} {
			ask := func(ref string) *memwall.Answer {
				a, err := asker.Ask(&memwall.Request{Ask: "fit", Model: ref, Hardware: "4xh200", Plan: plan.Plan{Engine: e, Weights: "bf16", Context: 4096, Sequences: 3}})
				if err != nil {
					t.Fatalf("%s, %s: %v", ref, e, err)
				}
				return a
			}
			want, got := ask(id), ask(file)
			if got.Model.Parameters != want.Model.Parameters || got.Model.ActiveParameters != want.Model.ActiveParameters {
				t.Errorf("%s: %d parameters, %d active; want %d, %d", id, got.Model.Parameters, got.Model.ActiveParameters, want.Model.Parameters, want.Model.ActiveParameters)
			}
			for _, part := range []string{"weights", "kv_cache", "state"} {
				if g, w := got.Devices[0].Sum(part), want.Devices[0].Sum(part); g != w {
					t.Errorf("%s, %s: %d bytes of %s, want %d", id, e, g, part, w)
				}
			}
			if got.KV.BytesPerToken != want.KV.BytesPerToken || got.Devices[0].Needed != want.Devices[0].Needed {
				t.Errorf("%s, %s: needs %d, want %d", id, e, got.Devices[0].Needed, want.Devices[0].Needed)
			}
			if len(got.Flags) > 0 || got.Model.Provenance != "described in "+filepath.Base(file) {
				t.Errorf("%s: %v, %s", id, got.Flags, got.Model.Provenance)
			}
		}
	}
}

// TestDescribedGGUF: llama.cpp sizes a description by the rules of the architecture that it is like, to the byte.
func TestDescribedGGUF(t *testing.T) {
	asker := &memwall.Asker{Models: New(Options{})}
	for id, file := range map[string]string{"llama-3.1-8b": "dense", "deepseek-v2-lite": "experts"} {
		var sums [2]memwall.Device
		for i, ref := range []string{id, "../docs/examples/" + file + ".yaml"} {
			a, err := asker.Ask(&memwall.Request{Ask: "fit", Model: ref, Hardware: "h100", Plan: plan.Plan{Engine: "llama.cpp", Weights: "q4_k_m", Context: 4096}})
			if err != nil {
				t.Fatal(err)
			}
			sums[i] = a.Devices[0]
		}
		if sums[0].Needed != sums[1].Needed || sums[0].Sum("weights") != sums[1].Sum("weights") {
			t.Errorf("%s: needs %d, of it weights %d; the description %d, %d", id, sums[0].Needed, sums[0].Sum("weights"), sums[1].Needed, sums[1].Sum("weights"))
		}
	}
}

// TestRecommender: tables are counted by their rows, in the format of the description.
func TestRecommender(t *testing.T) {
	asker := &memwall.Asker{Models: New(Options{})}
	a, err := asker.Ask(&memwall.Request{Ask: "fit", Model: "../docs/examples/recommender.yaml", Hardware: "h200", Plan: plan.Plan{Engine: "generic"}})
	if err != nil {
		t.Fatal(err)
	}
	const rows = 200_000_000 + 40_000_000 + 10_000
	const maps = 384*1024 + 1024 + 1024*256 + 256 + 256 + 1
	if got := a.Devices[0].Sum("weights"); got != 4*(rows*128+maps) || a.KV.BytesPerToken != 0 {
		t.Errorf("%d bytes of weights, %+v", got, a.KV)
	}
	_, err = asker.Ask(&memwall.Request{Ask: "fit", Model: "../docs/examples/recommender.yaml", Hardware: "h200", Plan: plan.Plan{Engine: "llama.cpp"}})
	if problem, ok := errors.AsType[*memwall.Error](err); !ok || problem.Code == memwall.Internal || problem.Field != "engine" {
		t.Errorf("llama.cpp: %v", err)
	}
}

// TestDescribedErrors: a fault names the file, the line, the key and the fix.
func TestDescribedErrors(t *testing.T) {
	for text, want := range map[string][4]string{
		"vocab: 8\nhidden: 8\nlayers:\n- attention: {heads: 2, kvheads: 1}\n":                              {"layers[0].attention.kvheads", "", "mine.yaml: line 4: layers[0].attention.kvheads is not a key", "kv_heads"},
		"vocab: 8\nhidden: 8\nlayers:\n- {count: 1e9, ffn: {inner: 8}}\n":                                  {"layers[0].count", "1,000,000,000", "line 4: ", "at most 4,096"},
		"{vocab: 64, hidden: 64, layers: [{attention: {heads: 4, shares_kv: true}}]}":                      {"layer 0: shared KV cache", "1 layers", "no layer before it has a cache", "num_kv_shared_layers"},
		"vocab: 8\nhidden: 8\nlayers: [{attention: {heads: 1048576, head_dim: 1048576}, ffn: {inner: 1}}]": {"layer 0", "1099511627776", "a width larger than any model's", ""},
	} {
		_, err := New(Options{}).Model(written(t, "mine.yaml", text))
		e, ok := errors.AsType[*memwall.Error](err)
		if !ok || e.Code != memwall.BadFile || e.Field != want[0] || e.Value != want[1] || !strings.Contains(e.Message, want[2]) || !strings.Contains(e.Hint, want[3]) {
			t.Errorf("%s\n%#v", text, e)
		}
	}
}

// odd are networks that nobody publishes.
var odd = []string{
	"{vocab: 64, hidden: 64, layers: [{state: {style: mamba1}}]}",
	"{vocab: 64, hidden: 64, layers: [{count: 2, state: {style: mamba2, inner: 128, heads: 4, state: 8}, attention: {heads: 4}, ffn: {inner: 8}}]}",
	"{vocab: 64, hidden: 64, layers: [{state: {style: delta_net, heads: 4, groups: 2, state: 16}}, {attention: {heads: 4, chunk: 8}}]}",
	"{vocab: 64, hidden: 64, layers: [{state: {style: linear_attention, heads: 4}, experts: {count: 3, used: 2, inner: 7}}]}",
	"{vocab: 64, hidden: 64, layers: [{state: {style: short_conv, conv: 1}, ffn: {inner: 1}}, {attention: {heads: 1, latent: 1, nope_dim: 1, rope_dim: 1}}]}",
	"{vocab: 1, hidden: 1, layers: [{ffn: {inner: 1}}]}",
	"{vocab: 64, hidden: 64, context: 1, layers: [{attention: {heads: 4}}, {attention: {heads: 4, shares_kv: true}}]}",
	"{vocab: 64, hidden: 64, layers: [{attention: {heads: 4, bidirectional: true}}]}",
	"{vocab: 64, hidden: 64, head: false, layers: [{attention: {heads: 6, kv_heads: 3, head_dim: 10, fused: true, gate: true}, ffn: {inner: 5}, experts: {count: 2, used: 1, inner: 3, latent: 4}}]}",
	"{kind: encoder, vocab: 64, hidden: 64, layers: [{norms: parallel, attention: {heads: 4}, ffn: {inner: 8}}], towers: [{name: audio, width: 8, after: [{map: [8, 64]}]}]}",
	"{vocab: 64, hidden: 64, before: [{table: [9, 64]}], layers: [{attention: {heads: 4}}], towers: [{width: 8, before: [{vector: 8}]}, {name: tables, width: 4, before: [{table: [100, 4]}]}]}",
	"{towers: [{name: audio, width: 8, layers: [{attention: {heads: 2}}]}]}",
	"{towers: [{width: 8, layers: [{state: {style: mamba1}}]}]}",
	"{towers: [{name: tables, width: 1, before: [{table: [1, 1]}]}]}",
	"{towers: [{name: tables, width: 1, after: [{map: [1, 1]}]}, {name: audio, width: 3, before: [{vector: 3}]}]}",
}

// TestOddNetworks: every engine answers or refuses them; none fails itself.
func TestOddNetworks(t *testing.T) {
	asker := &memwall.Asker{Models: New(Options{})}
	answered := 0
	for _, text := range odd {
		file := written(t, "odd.yaml", text)
		for _, e := range memwall.Engines() {
			for _, on := range []string{"h100", "4xh100"} {
				a, err := asker.Ask(&memwall.Request{Ask: "fit", Model: file, Hardware: on, Plan: plan.Plan{Engine: e, Context: 64}})
				problem, refused := errors.AsType[*memwall.Error](err)
				switch {
				case err != nil && (!refused || problem.Code == memwall.Internal || problem.Code == memwall.BadFile):
					t.Errorf("%s on %s: %s\n%v", e, on, text, err)
				case err == nil && a.Devices[0].Needed < a.Devices[0].Sum("weights"):
					t.Errorf("%s on %s: %s\nneeds %d", e, on, text, a.Devices[0].Needed)
				case err == nil:
					answered++
				}
			}
		}
	}
	if answered < len(odd)*len(memwall.Engines()) {
		t.Errorf("only %d answers", answered)
	}
}
