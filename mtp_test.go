package memwall

import (
	"errors"
	"strings"
	"testing"

	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// TestPredictionLayersDraft: they add weights, a cache of one layer and a graph on one device; a hybrid keeps a state
// for each drafted token too. The states are those of a log of Ollama with Qwen3.8 27B, four tokens drafted:
// R 28.12 MiB and S 720.00 MiB.
func TestPredictionLayersDraft(t *testing.T) {
	yes := true
	for _, c := range []struct {
		model, hardware string
		layer           unit.Bytes // cache of one layer at 4,096 tokens
		state           unit.Bytes
	}{
		{"deepseek-v3", "8xh200", 4096 * 576 * 2, 0},
		{"qwen3.5-27b", "h100", 4096 * 2 * 4 * 256 * 2, 748.125 * (1 << 20)},
	} {
		r := Request{Ask: "fit", Model: c.model, Hardware: c.hardware,
			Plan: plan.Plan{Engine: "llama-server", Weights: "q4_k_m", Context: 4096, DraftTokens: 4, LlamaCpp: plan.LlamaCpp{MTP: &yes}}}
		a, err := Ask(&r)
		if err != nil {
			t.Fatalf("%s: %v", c.model, err)
		}
		sum := map[string]unit.Bytes{}
		for _, d := range a.Devices {
			for _, it := range d.Ledger {
				sum[it.ID] += it.Bytes
			}
		}
		if sum["mtp.kv_cache"] != c.layer || sum["state"] != c.state || sum["mtp.weights"] == 0 || sum["mtp.compute"] == 0 {
			t.Errorf("%s: %v", c.model, sum)
		}
	}
}

// TestNoPredictionLayers: a model without them, and a build that cannot, are refused.
func TestNoPredictionLayers(t *testing.T) {
	yes := true
	for model, engine := range map[string]string{"llama-3.1-8b": "llama-server", "deepseek-v3": "llama-server@b9000"} {
		r := Request{Ask: "fit", Model: model, Hardware: "8xh200",
			Plan: plan.Plan{Engine: engine, Weights: "q4_k_m", LlamaCpp: plan.LlamaCpp{MTP: &yes}}}
		if a, err := Ask(&r); err == nil || a.Error.Field != "mtp" || a.Error.Code != ImpossiblePlan {
			t.Errorf("%s on %s: %v", model, engine, err)
		}
	}
}

// TestPredictionLayersInBatchEngines: with them vLLM loads 17.66 and then 18.12 GiB of Qwen3.5 9B, and pads three layers of states
// (a study of single GPUs, 0.19); 70.47 and 75.17 of Qwen3.5 122B in all; and a pool of 71.15 GiB of Qwen3.6 35B A3B with three
// tokens drafted holds 15.66 requests of 200,000 tokens (log of 0.22), since each drafted token keeps a state.
func TestPredictionLayersInBatchEngines(t *testing.T) {
	for _, engine := range []string{"vllm@0.22", "sglang", "tensorrt-llm"} {
		for model, want := range map[string]float64{"qwen3.5-9b": 0.46, "qwen3.5-122b-a10b": 4.70} {
			r := Request{Ask: "fit", Model: model, Hardware: "8xb300",
				Plan: plan.Plan{Engine: engine, TP: 1, DraftTokens: 1, Serving: plan.Serving{MaxSeqs: 64}}}
			a, err := Ask(&r)
			if err != nil {
				t.Fatalf("%s on %s: %v", model, engine, err)
			}
			var layers unit.Bytes
			for _, it := range a.Devices[0].Ledger {
				if it.ID == "mtp.weights" {
					layers += it.Bytes
				}
			}
			if got := layers.GiB(); got < want-0.015 || got > want+0.005 {
				t.Errorf("%s on %s: prediction layers of %.3f GiB, logged %.2f", model, engine, got, want)
			}
		}
	}
	pool := plan.Size(7115 << 30 / 100)
	r := Request{Ask: "fit", Model: "qwen3.6-35b-a3b", Hardware: "h200",
		Plan: plan.Plan{Engine: "vllm@0.22", Context: 200_000, DraftTokens: 3, Serving: plan.Serving{KVCacheMemory: pool, MaxSeqs: 32}}}
	yes := true
	r.PrefixCache = &yes
	a, err := Ask(&r)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range a.Prints {
		if p.Name == "Maximum concurrency" && p.Text != "15.66" {
			t.Errorf("concurrency %s, logged 15.66", p.Text)
		}
	}
}

// TestRepeatsDraft: where the plan says that prediction layers do not draft, they are not loaded.
func TestRepeatsDraft(t *testing.T) {
	no := false
	r := Request{Ask: "fit", Model: "qwen3.5-9b", Hardware: "h100",
		Plan: plan.Plan{Engine: "vllm", DraftTokens: 2, LlamaCpp: plan.LlamaCpp{MTP: &no}}}
	a, err := Ask(&r)
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range a.Devices[0].Ledger {
		if it.ID == "mtp.weights" {
			t.Error("prediction layers are loaded")
		}
	}
}

// TestNoTreeOfText: what the text repeats is one stretch, and a tree is refused with what drafts one.
func TestNoTreeOfText(t *testing.T) {
	r := &Request{Ask: "fit", Model: "llama-3.1-8b", Hardware: "h100"}
	r.Engine, r.DraftTokens, r.DraftSteps, r.DraftBranches = "sglang", 8, 4, 4
	_, err := Ask(r)
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Field != "draft_branches" || !strings.Contains(e.Hint, "draft_model") {
		t.Errorf("%v", err)
	}
}
