package step_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train/step"
)

// TestWrong: what cannot run or is not described is a problem that names the field.
func TestWrong(t *testing.T) {
	for _, c := range []struct {
		field  string
		change func(*step.Input)
	}{
		{"micro_batch", func(in *step.Input) { in.Training.MicroBatch = 0 }},
		{"micro_batch", func(in *step.Input) { in.Training.SequenceLength = 0 }},
		{"dp", func(in *step.Input) { in.Plan.TP = 3 }},
		{"dp", func(in *step.Input) { in.Plan.DP = 7 }},
		{"dp", func(in *step.Input) { in.Plan.TP = 16 }},
		{"precision", func(in *step.Input) { in.Machine = machine(t, "8xa100-sxm-80gb"); in.Training.Precision = "fp8" }},
		{"precision", func(in *step.Input) { in.Training.Precision = "nvfp4" }},
		{"hardware", func(in *step.Input) { in.Machine = machine(t, "rtx-4090+rtx-3090") }},
		{"vpp", func(in *step.Input) { in.Plan.PP, in.Training.VPP = 8, 8 }},
		{"pp", func(in *step.Input) { in.Plan.PP, in.Machine = 128, machine(t, "128xh100-sxm-80gb") }},
	} {
		in := input(t, "llama-3.1-8b", "8xh100-sxm-80gb")
		c.change(&in)
		_, err := step.Compile(in)
		if p := new(plan.Problem); !errors.As(err, &p) || p.Field != c.field || p.Message == "" || p.Fix == "" {
			t.Errorf("want a problem of %s, got %v", c.field, err)
		}
	}
}

func machine(t testing.TB, text string) *hardware.Machine {
	t.Helper()
	m, _, err := hardware.Parse(text, 0)
	if err != nil {
		t.Fatal(err)
	}
	return &m
}

// TestAnyPlan: whatever groups, methods and settings go together, a step takes a time, which is no less than that of
// its products, and more work takes longer.
func TestAnyPlan(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	power := func(most int) int64 { return 1 << rng.IntN(most+1) }
	tried := 0
	for range 400 {
		in := input(t, models[rng.IntN(len(models))], pick("64xh100-sxm-80gb", "64xgb200", "64xa100-sxm-80gb", "64xmi300x"))
		in.Plan = &plan.Plan{TP: power(3), PP: power(2), CP: power(1), EP: power(3), Attention: pick("flash", "eager")}
		in.Training.Framework = pick("megatron@26.04", "transformers", "deepspeed", "torchtitan", "llm-foundry", "nobody-knows")
		in.Training.Method = pick("full", "lora")
		in.Training.Precision = pick("bf16", "bf16-mixed", "fp8")
		in.Training.Sharding = pick("ddp", "zero1", "zero2", "zero3", "fsdp2")
		in.Training.Recompute = pick("none", "full", "selective", "selective:mlp+core_attn", "every:2")
		in.Training.MicroBatch, in.Training.Accumulation = plan.Int(power(3)), plan.Int(power(4))
		m, err := step.Compile(in)
		if err != nil {
			continue
		}
		tried++
		s := predict(t, in).Seconds
		if !(s.Mid >= m.Floor()) || math.IsInf(s.High, 0) || s.Low > s.Mid || s.High < s.Mid {
			t.Errorf("%s: %+v", in.Model.ID, s)
		}
		in.Training.Accumulation *= 2
		if more := predict(t, in).Seconds.Mid; !(more > s.Mid) {
			t.Errorf("%s, %s: twice the passes take %g s, half of them %g", in.Model.ID, in.Training.Framework, more, s.Mid)
		}
	}
	if tried < 200 {
		t.Errorf("only %d of 400 plans compiled", tried)
	}
}
