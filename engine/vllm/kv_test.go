package vllm

import (
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/enginetest"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

func prepare(t *testing.T, c enginetest.Case) *sizer {
	t.Helper()
	_, s := c.Sizer(t, Engine{})
	return s.(*sizer)
}

// TestPages: bytes of a token in one layer and rank, and the tokens of a page
// (vllm/v1/kv_cache_interface.py, page_size_bytes).
func TestPages(t *testing.T) {
	for _, c := range []struct {
		what, model, hardware string
		plan                  plan.Plan
		perTok                unit.Bytes
		block                 int64
	}{
		{"2 × 8 heads × 128 × 2", "llama-3.1-8b", "h100", plan.Plan{}, 4096, 16},
		{"fp8 halves it", "llama-3.1-8b", "h100", plan.Plan{KV: "fp8"}, 2048, 16},
		{"tp 4 leaves 2 heads", "llama-3.1-8b", "4xh100", plan.Plan{TP: 4}, 1024, 16},
		{"tp 8 leaves 1 head", "llama-3.1-70b", "8xh100", plan.Plan{TP: 8}, 512, 16},
		{"4 heads are replicated over 8 ranks", "qwen3-30b-a3b", "8xh100", plan.Plan{TP: 8}, 512, 16},
		{"2 heads are replicated over 8 ranks", "qwen3.5-35b-a3b", "8xh100", plan.Plan{TP: 8}, 1024, 0},
		{"a latent of 576 is not divided; FlashMLA", "deepseek-v3", "8xh200", plan.Plan{TP: 8}, 1152, 64},
		{"and not by tp 16 either", "deepseek-v3", "16xh200", plan.Plan{TP: 16}, 1152, 64},
		{"CUTLASS MLA on Blackwell", "deepseek-v3", "8xb200", plan.Plan{TP: 8}, 1152, 128},
		{"no FlashMLA before Hopper", "deepseek-v2-lite", "a100-sxm-80gb", plan.Plan{}, 1152, 16},
		{"FlashInfer on Blackwell, heads of 256", "gemma-2-9b", "b200", plan.Plan{}, 2 * 8 * 256 * 2, 32},
		{"block_size is taken as given", "llama-3.1-8b", "h100", plan.Plan{Serving: plan.Serving{BlockSize: 32}}, 4096, 32},
	} {
		c.plan.Context = 4096
		s := prepare(t, enginetest.Case{Model: c.model, Hardware: c.hardware, Plan: c.plan})
		found := false
		for _, x := range s.ranks[0].g.specs {
			if x.class == model.StateCache {
				continue
			}
			found = true
			if x.perTok != c.perTok || c.block > 0 && x.block != c.block {
				t.Errorf("%s: %s on %s: %d bytes a token in pages of %d, want %d in %d", c.what, c.model, c.hardware, x.perTok, x.block, c.perTok, c.block)
			}
		}
		if !found {
			t.Errorf("%s: %s keeps no keys", c.what, c.model)
		}
	}
}

// TestGroups: layers of several kinds share a pool in groups of equal size
// (vllm/v1/core/kv_cache_utils.py; docs/design/hybrid_kv_cache_manager.md: Gemma 3 27B has 52 sliding and 10
// full layers in 7 groups of 10).
func TestGroups(t *testing.T) {
	for _, c := range []struct {
		what, model string
		version     engine.Version
		size, total int64
	}{
		{"one kind: one group of all layers", "llama-3.1-8b", engine.V(0, 12, 0), 32, 1},
		{"52 sliding and 10 full", "gemma-3-27b", engine.V(0, 12, 0), 10, 7},
		{"before groups, sliding layers are full ones", "gemma-3-27b", engine.V(0, 8, 5), 62, 1},
		{"12 and 12", "gpt-oss-20b", engine.V(0, 12, 0), 12, 2},
		{"40 sliding and 8 full layers of 12B", "gemma-3-12b", engine.V(0, 12, 0), 8, 6},
		{"36 delta nets and 12 attentions", "qwen3-next-80b-a3b", engine.V(0, 12, 0), 12, 4},
	} {
		s := prepare(t, enginetest.Case{Model: c.model, Hardware: "8xh200", Version: c.version, Plan: plan.Plan{TP: 2, Context: 4096}})
		if g := &s.ranks[0].g; g.size != c.size || g.total() != c.total {
			t.Errorf("%s: %s has %d groups of %d layers, want %d of %d", c.what, c.model, g.total(), g.size, c.total, c.size)
		}
	}
}

// TestGroupSize: when counts are close, the larger decides and the smaller is padded: by a quarter from 0.12,
// by a half from 0.17.
func TestGroupSize(t *testing.T) {
	for _, c := range []struct {
		layers []int64
		v      engine.Version
		want   int64
	}{
		{[]int64{10, 12}, engine.V(0, 11, 0), 10}, {[]int64{10, 12}, engine.V(0, 12, 0), 12}, {[]int64{10, 13}, engine.V(0, 12, 0), 10},
		{[]int64{10, 13}, engine.V(0, 16, 9), 10}, {[]int64{10, 13}, engine.V(0, 17, 0), 13}, {[]int64{10, 15}, engine.V(0, 17, 0), 10}, {[]int64{7}, engine.V(0, 24, 0), 7},
	} {
		var specs []spec
		for _, n := range c.layers {
			specs = append(specs, spec{layers: n})
		}
		if got := groupSize(specs, c.v); got != c.want {
			t.Errorf("%v layers in vLLM %s: groups of %d, want %d", c.layers, c.v, got, c.want)
		}
	}
}

// TestUnifyStates: the attention block grows until a page holds a state, in steps of 16 tokens; the state is
// padded to it. The log of Qwen3-Next on two ranks prints 544 tokens.
func TestUnifyStates(t *testing.T) {
	s := prepare(t, enginetest.Case{Model: "qwen3-next-80b-a3b", Hardware: "2xh200", Version: engine.V(0, 11, 2), Plan: plan.Plan{TP: 2, Context: 16384}})
	g := &s.ranks[0].g
	if g.block != 544 {
		t.Errorf("a block of %d tokens, the log has 544", g.block)
	}
	for _, x := range g.specs {
		if x.page != g.page() {
			t.Errorf("a page of %d beside one of %d", x.page, g.page())
		}
	}
}

// TestUnifyPages: pages of several sizes have one pool from 0.12 on, when the larger is a multiple.
func TestUnifyPages(t *testing.T) {
	small, large := spec{page: 1024, block: 16}, spec{page: 4096, block: 16}
	got, err := unifyPages([]spec{small, large}, engine.V(0, 12, 0))
	if err != nil || got[0].block != 64 || got[0].page != 4096 || got[1].block != 16 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := unifyPages([]spec{small, large}, engine.V(0, 11, 2)); err == nil {
		t.Error("0.11 unifies pages")
	}
	if _, err := unifyPages([]spec{{page: 3000, block: 16}, large}, engine.V(0, 12, 0)); err == nil {
		t.Error("3,000 and 4,096 bytes are unified")
	}
}

// TestPerRequest: pages that a request holds at most (max_memory_usage_bytes of each spec).
func TestPerRequest(t *testing.T) {
	for _, c := range []struct {
		what            string
		s               spec
		length, batched int64
		want            int64
	}{
		{"full", spec{class: model.FullKV, block: 16}, 8192, 2048, 512},
		{"full, not a multiple", spec{class: model.FullKV, block: 16}, 8193, 2048, 513},
		{"window shorter than the prompt", spec{class: model.WindowKV, span: 1024, block: 16}, 8192, 2048, 193},
		{"window longer than the prompt", spec{class: model.WindowKV, span: 4096, block: 16}, 1024, 2048, 65},
		{"chunk", spec{class: model.ChunkKV, span: 8192, block: 16}, 32768, 2048, 640},
		{"state", spec{class: model.StateCache, block: 544, states: 1}, 32768, 2048, 1},
		{"state with prefix caching", spec{class: model.StateCache, block: 544, states: 2}, 32768, 2048, 2},
		{"latent", spec{class: model.LatentKV, block: 64}, 8192, 2048, 128},
	} {
		if got := c.s.pages(c.length, c.batched); got != c.want {
			t.Errorf("%s: %d pages, want %d", c.what, got, c.want)
		}
	}
}

// TestTokensOfPool: tokens and concurrency of a pool of the printed size, from public logs: Qwen3-8B on an L4,
// Llama-3.1-8B on an A100, Kimi-K2 on eight H200, Qwen3-Next on two R9700.
func TestTokensOfPool(t *testing.T) {
	for _, c := range []struct {
		model, weights string
		version        engine.Version
		tp             int64
		context, seqs  plan.Int
		gib            float64
		tokens         int64
		concurrency    string
	}{
		{"qwen3-8b", "fp8-block", engine.V(0, 10, 2), 1, 2048, 224, 8.98, 65376, "31.92"},
		{"llama-3.1-8b", "", engine.V(0, 12, 0), 1, 65536, 64, 21.99, 180128, "2.75"},
		{"kimi-k2-thinking", "", engine.V(0, 11, 0), 8, 262144, 0, 46.80, 715072, ""},
		{"qwen3-next-80b-a3b", "", engine.V(0, 11, 2), 2, 16384, 32, 7.09, 154496, "33.47"},
		{"qwen3.5-35b-a3b", "nvfp4", engine.V(0, 24, 0), 1, 131072, 1, 5.98, 567978, "4.33"},
	} {
		p := plan.Plan{Context: c.context, TP: c.tp, Weights: c.weights, Serving: plan.Serving{MaxSeqs: c.seqs, KVCacheMemory: plan.Size(c.gib * float64(unit.GiB))}}
		if c.model == "qwen3.5-35b-a3b" {
			yes := true
			p.KV, p.PrefixCache, p.MaxBatchedTokens = "fp8", &yes, 8192
		}
		hardware := map[int64]string{1: "h200", 2: "2xh200", 8: "8xh200"}[c.tp]
		r := enginetest.Case{Model: c.model, Hardware: hardware, Version: c.version, Plan: p}.Ranks(t, Engine{})[0]
		if got := enginetest.Print(&r, "GPU KV cache size").Value; int64(got) != c.tokens {
			t.Errorf("%s: %.0f tokens, the log has %d", c.model, got, c.tokens)
		}
		if got := enginetest.Print(&r, "Maximum concurrency").Text; c.concurrency != "" && got != c.concurrency {
			t.Errorf("%s: concurrency %s, the log has %s", c.model, got, c.concurrency)
		}
	}
}

// TestNeeded: "KV cache is needed" and the longest length of logs that refuse to start, and the versions in
// which only the first group was counted.
func TestNeeded(t *testing.T) {
	for _, c := range []struct {
		model   string
		weights string
		context plan.Int
		gib     float64 // available
		needed  string
		longest int64 // tokens, to a block; 0 when the log does not say
		block   int64
	}{
		{"gpt-oss-120b", "", 131072, 4.06, "4.79", 109920, 176},
		{"qwen3-32b", "", 4096, 0.76, "1.00", 3104, 16},
		{"qwen2.5-14b", "", 131072, 10.91, "24.00", 59584, 32},
		{"qwen2.5-32b", "awq", 4096, 0.58, "1.00", 2368, 16},
	} {
		p := plan.Plan{Context: c.context, Weights: c.weights, Serving: plan.Serving{KVCacheMemory: plan.Size(c.gib * float64(unit.GiB))}}
		r := enginetest.Case{Model: c.model, Hardware: "h200", Version: engine.V(0, 11, 0), Plan: p}.Ranks(t, Engine{})[0]
		if got := enginetest.Print(&r, "KV cache needed for one request").Text; got != c.needed {
			t.Errorf("%s: %s GiB needed, the log has %s", c.model, got, c.needed)
		}
		if got := int64(enginetest.Print(&r, "Estimated maximum model length").Value); got < c.longest-c.block || got > c.longest+c.block {
			t.Errorf("%s: at most %d tokens, the log has %d", c.model, got, c.longest)
		}
	}
	s := prepare(t, enginetest.Case{Model: "gemma-3-27b", Hardware: "h200", Plan: plan.Plan{Context: 32768}})
	g := &s.ranks[0].g
	all, first := g.needed(32768, 2048, engine.V(0, 13, 0)), g.needed(32768, 2048, engine.V(0, 14, 0))
	if first >= all || first != unit.Bytes(g.specs[0].pages(32768, 2048)*g.size)*g.page() || g.needed(32768, 2048, engine.V(0, 18, 0)) != all {
		t.Errorf("all groups %s, the first alone %s", all, first)
	}
}

// TestStages: a pipeline stage has its layers of every group, and the rest of a division goes to the stages
// before the last (vllm/distributed/utils.py).
func TestStages(t *testing.T) {
	for _, c := range []struct {
		layers, stages int
		want           []int
	}{{80, 2, []int{40, 40}}, {61, 4, []int{15, 15, 16, 15}}, {62, 4, []int{15, 16, 16, 15}}, {5, 1, []int{5}}} {
		got := stageLayers(c.layers, c.stages)
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%d layers on %d stages: %v, want %v", c.layers, c.stages, got, c.want)
				break
			}
		}
	}
	s := prepare(t, enginetest.Case{Model: "gemma-3-27b", Hardware: "2xh200", Plan: plan.Plan{PP: 2, Context: 4096}})
	whole := prepare(t, enginetest.Case{Model: "gemma-3-27b", Hardware: "h200", Plan: plan.Plan{Context: 4096}})
	for i := range s.ranks {
		if g := &s.ranks[i].g; g.total() != whole.ranks[0].g.total() || g.size >= whole.ranks[0].g.size {
			t.Errorf("stage %d: %d groups of %d, the model has %d of %d", i, g.total(), g.size, whole.ranks[0].g.total(), whole.ranks[0].g.size)
		}
	}
}
