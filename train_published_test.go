package memwall_test

import (
	"math"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/plan"
)

// TestTrainingsAsTheyRan: how fast great runs went by their reports. DeepSeek-V3: 2,664,000 GPU hours on 2,048 H800 for 14.8T tokens
// (arXiv:2412.19437, table 1 and section 3.2), which are 1,543 tokens a second and device. Llama 3 405B: 430, 400 and 380 TFLOPS a
// device (arXiv:2407.21783, table 4), interleaved (section 3.3.2), in chunks of a layer.
func TestTrainingsAsTheyRan(t *testing.T) {
	narrow := true
	llama := func(devices, cp, batch, length int64, want float64) published {
		return published{memwall.Request{Model: "llama-3.1-405b", Hardware: "h100-sxm-80gb", Devices: devices, Plan: plan.Plan{TP: 8, PP: 16, CP: cp},
			Training: plan.Training{VPP: 8, SequenceLength: plan.Int(length), GlobalBatch: plan.Int(batch)}}, want, func(s *api.TrainingStep) float64 { return s.TFLOPs }}
	}
	for _, c := range []published{
		{memwall.Request{Model: "deepseek-v3", Hardware: "h800-sxm-80gb", Devices: 2048, Plan: plan.Plan{PP: 16, EP: 64}, Training: plan.Training{Framework: "megatron", SequenceLength: 4096,
			GlobalBatch: 15360, Precision: "fp8", Schedule: "dualpipe", MomentDtype: "bf16", NarrowActs: &narrow, Recompute: "selective:layernorm+mla_up_proj+moe_act"}}, 1543,
			func(s *api.TrainingStep) float64 { return s.PerDevice }},
		llama(8192, 1, 2048, 8192, 430), llama(16384, 1, 2048, 8192, 400), llama(16384, 16, 128, 131072, 380),
	} {
		c.request.Ask = "train"
		a, err := memwall.Ask(&c.request)
		if err != nil || a.Step == nil {
			t.Fatal(c.request.Model, err)
		}
		if got := c.of(a.Step); math.Abs(got/c.want-1) > 0.15 {
			t.Errorf("%s on %d, %d tokens: %.0f, published %.0f", c.request.Model, c.request.Devices, c.request.Training.SequenceLength, got, c.want)
		}
	}
}

// published is a run whose report says how fast it went.
type published struct {
	request memwall.Request
	want    float64
	of      func(*api.TrainingStep) float64
}
