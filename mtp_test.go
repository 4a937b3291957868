package memwall

import (
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
		r := Request{Ask: "fit", Model: c.model, Hardware: c.hardware, Plan: plan.Plan{Engine: "llama-server", Weights: "q4_k_m", Context: 4096, DraftTokens: 4, LlamaCpp: plan.LlamaCpp{MTP: &yes}}}
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
		r := Request{Ask: "fit", Model: model, Hardware: "8xh200", Plan: plan.Plan{Engine: engine, Weights: "q4_k_m", LlamaCpp: plan.LlamaCpp{MTP: &yes}}}
		if a, err := Ask(&r); err == nil || a.Error.Field != "mtp" || a.Error.Code != ImpossiblePlan {
			t.Errorf("%s on %s: %v", model, engine, err)
		}
	}
}
