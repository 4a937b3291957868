package main

import (
	"testing"

	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/validation/fit/internal/fittest"
)

// TestCombinations: the table of measured combinations is that of the rows, and counts each of those that are fitted once.
func TestCombinations(t *testing.T) {
	s, err := loadServing()
	if err != nil {
		t.Fatal(err)
	}
	fittest.Fresh(t, "serving", "speed/serving/runs.tsv", s.combinations())
	runs, err := s.nearest()
	if err != nil {
		t.Fatal(err)
	}
	fittest.Fresh(t, "serving", "speed/serving/nearest.tsv", runs)
	fitted, h100 := 0, 0
	for _, r := range s.rows {
		if r.fit {
			fitted++
			if r.device == "h100-sxm-80gb" && serving.EngineOf(r.Ask.Engine) == "vllm" && serving.LayoutOf(&r.Ask.Plan) == serving.Tensor && !r.early {
				h100++
			}
		}
	}
	c := serving.Combination{Device: "h100-sxm-80gb", Engine: "vllm", Layout: serving.Tensor}
	if fitted < 1500 || h100 == 0 || c.Runs() != h100 {
		t.Errorf("%d fitted, %d of H100 in tensor groups, and the table says %d", fitted, h100, c.Runs())
	}
	if n := (serving.Combination{Device: "l40s", Engine: "tensorrt-llm", Layout: serving.Staged}).Runs(); n != 0 {
		t.Errorf("nobody measured TensorRT-LLM's pipelines on L40S, and %d runs are said", n)
	}
}

// TestLayouts: a layout is named by what is hardest to foresee of it.
func TestLayouts(t *testing.T) {
	for _, c := range []struct {
		p    plan.Plan
		want serving.Layout
	}{
		{plan.Plan{}, serving.One}, {plan.Plan{TP: 1, DP: 4}, serving.One}, {plan.Plan{TP: 4}, serving.Tensor}, {plan.Plan{TP: 4, EP: 4}, serving.Experts},
		{plan.Plan{TP: 1, DP: 8, EP: 8}, serving.Apart}, {plan.Plan{TP: 2, PP: 2}, serving.Staged},
		{plan.Plan{TP: 2, Serving: plan.Serving{Disaggregated: &plan.Disaggregated{Prefill: 1, Decode: 1}}}, serving.Parted},
	} {
		if got := serving.LayoutOf(&c.p); got != c.want {
			t.Errorf("%+v: %s, want %s", c.p, got, c.want)
		}
	}
}
