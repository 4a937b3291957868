package train_test

import (
	"math/rand/v2"
	"testing"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model/catalog/catalogtest"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train"
)

func oneOf[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

func yesOrNo(r *rand.Rand) *bool {
	if r.IntN(2) == 0 {
		return nil
	}
	b := r.IntN(2) == 0
	return &b
}

// randomPlan has settings that go together and settings that do not.
func randomPlan(r *rand.Rand) (plan.Plan, plan.Training) {
	p := plan.Plan{TP: oneOf[int64](r, 0, 1, 2, 3, 8), PP: oneOf[int64](r, 0, 1, 2, 4, 999), EP: oneOf[int64](r, 0, 1, 2, 8), CP: oneOf[int64](r, 0, 1, 2), DP: oneOf[int64](r, 0, 0, 0, 1, 2),
		Weights: oneOf(r, "", "", "bf16", "f32", "nf4", "gptq"), Attention: oneOf(r, "", "auto", "flash", "eager", "sdpa")}
	if r.IntN(4) == 0 {
		p.Offload = &plan.Offload{Optimizer: oneOf(r, "", "host", "nvme"), Params: oneOf(r, "", "host"), Activations: oneOf(r, "", "host")}
	}
	t := plan.Training{Framework: oneOf(r, append(train.Frameworks(), "", "", "hf")...), Objective: oneOf(r, "", "sft", "dpo", "grpo", "qat"), Method: oneOf(r, "", "full", "lora", "qlora", "dora"),
		Optimizer: oneOf(r, "", "", "adamw", "adamw-8bit", "paged-adamw", "adafactor", "muon", "lion", "sgd", "galore", "adagrad", "rowwise-adagrad", "shampoo", "soap", "schedule-free-adamw", "prodigy"), Precision: oneOf(r, "", "", "bf16", "bf16-mixed", "fp16-mixed", "fp32", "fp8"),
		Sharding: oneOf(r, "", "", "ddp", "zero1", "zero2", "zero3", "fsdp", "fsdp2", "hsdp"), Recompute: oneOf(r, "", "none", "selective", "full", "every:4"), Schedule: oneOf(r, "", "", "gpipe", "1f1b", "interleaved", "zbv"),
		VPP: oneOf[int64](r, 0, 0, 2), ETP: oneOf[int64](r, 0, 0, 1, 2), SequenceLength: oneOf[plan.Int](r, 0, 1, 4096, 1<<20), MicroBatch: oneOf[plan.Int](r, 0, 1, 4), Accumulation: oneOf[plan.Int](r, 0, 0, 1, 8),
		SequenceParallel: yesOrNo(r), FusedLoss: yesOrNo(r), Fused: yesOrNo(r), Packing: yesOrNo(r)}
	return p, t
}

// TestRandomPlans: whatever is asked for is sized or refused by a field with a fix, a book changes no figure, and a plan that
// went through Defaults once stays as it is.
func TestRandomPlans(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 23))
	m, _, err := hardware.Parse("16xh100-sxm-80gb", 0)
	if err != nil {
		t.Fatal(err)
	}
	sized := 0
	for range 8000 {
		p, q := randomPlan(r)
		j := &train.Job{Model: catalogtest.Model(t, oneOf(r, "llama-3.2-1b", "mixtral-8x7b", "deepseek-v2-lite", "granite-4.0-h-tiny", "gpt2")), Machine: &m, Plan: &p, Training: &q}
		s, err := sizer(j)
		if err != nil {
			t.Fatalf("%+v %+v: %v", p, q, err)
		}
		if s == nil {
			continue
		}
		sized++
		once := *j.Training
		if train.Defaults(j) != nil || once.Sharding != j.Training.Sharding || once.GlobalBatch != j.Training.GlobalBatch || once.Framework != j.Training.Framework {
			t.Fatalf("defaults change what they filled in: %+v to %+v", once, *j.Training)
		}
		var book ledger.Book
		plain, booked := s.Size(nil), s.Size(&book)
		for i := range plain {
			if plain[i].Allocated != booked[i].Allocated || !(plain[i].Allocated.Mid > 0) || plain[i].Count < 1 {
				t.Fatalf("%+v %+v: %+v, booked %+v", p, q, plain[i].Allocated, booked[i].Allocated)
			}
		}
	}
	if sized < 250 {
		t.Errorf("only %d plans are sized", sized)
	}
}
