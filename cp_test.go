package memwall

import (
	"errors"
	"testing"

	"github.com/memwall/memwall/plan"
)

// TestContextParallelSharesTheCache: ranks hold a part of each sequence's keys and values, and all of its
// recurrent state; engines without a rule for it refuse.
func TestContextParallelSharesTheCache(t *testing.T) {
	ask := func(id string, cp int64) map[string]int64 {
		t.Helper()
		a, err := Ask(&Request{Ask: "fit", Model: id, Hardware: "8xh200",
			Plan: plan.Plan{Engine: "generic", TP: 1, PP: 1, DP: 1, CP: cp, Context: 8192}})
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]int64{}
		for _, it := range a.Devices[0].Ledger {
			out[it.ID] += int64(it.Bytes)
		}
		return out
	}
	for _, id := range []string{"llama-3.1-8b", "deepseek-v3", "nemotron-h-8b"} {
		one, four := ask(id, 1), ask(id, 4)
		if one["kv_cache"] != 4*four["kv_cache"] || one["state"] != four["state"] || one["weights"] != four["weights"] ||
			one["kv_cache"] == 0 {
			t.Errorf("%s: %v and %v", id, one, four)
		}
	}
	for _, name := range []string{"vllm", "sglang", "tensorrt-llm", "transformers", "llama.cpp"} {
		_, err := Ask(&Request{Ask: "fit", Model: "llama-3.1-8b", Hardware: "8xh200", Plan: plan.Plan{Engine: name, TP: 1, CP: 2}})
		var p *plan.Problem
		var e *Error
		if errors.As(err, &e) && e.Field == "cp" && e.Hint != "" || errors.As(err, &p) && p.Field == "cp" && p.Fix != "" {
			continue
		}
		t.Errorf("%s, cp = 2: %v", name, err)
	}
}
