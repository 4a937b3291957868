package train_test

import (
	"testing"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train"
)

// TestAsTheyRan: trainings that are known to have run are not said not to fit: Llama 3 405B at 8k and 131k tokens without
// recomputation, gradients shared (arXiv:2407.21783, 3.3.2 and table 4), DeepSeek-V3 on 2,048 H800 (arXiv:2412.19437, section 3.2),
// 70B in full on 16 A100 (huggingface.co/blog/ram-efficient-pytorch-fsdp), whose copies of the step alone may be spared.
func TestAsTheyRan(t *testing.T) {
	for _, c := range []struct {
		name, model, machine string
		devices              int
		plan                 plan.Plan
		training             plan.Training
	}{
		{"Llama 3 405B, 131k", "llama-3.1-405b", "h100-sxm-80gb", 16384, plan.Plan{TP: 8, CP: 16, PP: 16}, plan.Training{SequenceLength: 131072, GlobalBatch: 128, Sharding: "zero2"}},
		{"Llama 3 405B, 8k", "llama-3.1-405b", "h100-sxm-80gb", 16384, plan.Plan{TP: 8, PP: 16}, plan.Training{SequenceLength: 8192, GlobalBatch: 2048, Sharding: "zero2"}},
		{"DeepSeek-V3", "deepseek-v3", "h800-sxm-80gb", 2048, plan.Plan{PP: 16, EP: 64}, plan.Training{Framework: "hai-llm", SequenceLength: 4096, GlobalBatch: 15360}},
		{"70B, FSDP", "llama-2-70b", "a100-sxm-80gb", 16, plan.Plan{}, plan.Training{Framework: "transformers", Sharding: "fsdp", SequenceLength: 2048, MicroBatch: 1}},
	} {
		j := ask(t, c.model, c.machine, c.devices, func(p *plan.Plan, q *plan.Training) { *p, *q = c.plan, c.training })
		if err := train.Check(j); err != nil {
			t.Fatal(c.name, err)
		}
		for _, r := range size(t, j) {
			n := ledger.At(r.Needed, ledger.Device)
			least := n.Bytes
			if c.training.Sharding == "fsdp" {
				least = n.Low
			}
			if float64(least) > r.Usable.V {
				t.Errorf("%s: %.1f GiB of %.1f on stage %d", c.name, float64(least)/(1<<30), r.Usable.V/(1<<30), r.Stage)
			}
		}
	}
}

// TestStages: the ends have what is said, the others the rest; embedding and head count where layers divide with them alone.
func TestStages(t *testing.T) {
	for _, c := range []struct {
		first, last int64
		want        []float64
	}{
		{0, 0, []float64{8, 8, 8, 8}}, {7, 7, []float64{7, 9, 9, 7}}, {5, 0, []float64{5, 9, 9, 9}}, {0, 2, []float64{10, 10, 10, 2}},
	} {
		j := ask(t, "llama-3.1-8b", "h100-sxm-80gb", 4, func(p *plan.Plan, q *plan.Training) {
			p.PP, q.FirstStage, q.LastStage, q.Framework = 4, c.first, c.last, "megatron"
		})
		for _, r := range size(t, j) {
			layers := (parts(&r, "optimizer step", "weights") - ends(r.Stage, 4)) / (2 * 218112000)
			if want := c.want[r.Stage]; layers < want-0.01 || layers > want+0.01 {
				t.Errorf("first %d, last %d: %.2f layers on stage %d, want %g", c.first, c.last, layers, r.Stage, want)
			}
		}
	}
	if j := ask(t, "llama-3.1-405b", "h100-sxm-80gb", 128, func(p *plan.Plan, _ *plan.Training) { p.TP, p.PP = 8, 16 }); j.Training.FirstStage != 7 || j.Training.LastStage != 7 {
		t.Errorf("126 layers over 16 stages: %d and %d at the ends", j.Training.FirstStage, j.Training.LastStage)
	}
}

// ends are the bytes of embedding and head of Llama 3.1 8B on a stage of so many.
func ends(stage, of int) float64 {
	const table = 2 * 128256 * 4096
	switch stage {
	case 0:
		return table
	case of - 1:
		return table + 2*4096
	}
	return 0
}

// TestDualPipe: a rank holds the parameters of two stages, and one micro-batch more than there are stages.
func TestDualPipe(t *testing.T) {
	at := func(schedule string) train.Rank {
		return size(t, ask(t, "llama-3.1-8b", "h100-sxm-80gb", 4, func(p *plan.Plan, q *plan.Training) {
			p.PP, q.Schedule, q.Accumulation, q.Framework = 4, schedule, 16, "megatron"
		}))[0]
	}
	one, two := at("1f1b"), at("dualpipe")
	sum := func(r train.Rank, id string) float64 { return parts(&r, "backward, begins", id) }
	if w := sum(two, "weights") / sum(one, "weights"); w < 1.7 || w > 2.01 {
		t.Errorf("weights of %.2f stages", w)
	}
	if a := sum(two, "activations") / sum(one, "activations"); a < 1.2 || a > 1.3 {
		t.Errorf("activations of %.2f times as many micro-batches, want 5 of 4", a)
	}
}
