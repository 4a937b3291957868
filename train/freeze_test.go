package train_test

import (
	"testing"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train"
	"github.com/memwall/memwall/unit"
)

// frozenRun is Llama 3.1 8B, of which some layers train.
func frozenRun(t *testing.T, pp int64, change func(q *plan.Training)) *train.Job {
	t.Helper()
	return ask(t, "llama-3.1-8b", "h100-sxm-80gb", int(pp), func(p *plan.Plan, q *plan.Training) {
		q.Framework, q.SequenceLength, q.MicroBatch, q.Recompute = "transformers", 2048, 1, "none"
		if p.PP = pp; pp > 1 {
			q.Framework, q.Accumulation = "megatron", plan.Int(pp)
		}
		change(q)
	})
}

// TestLayersThatTrainAlone: two of 32 layers of 218,112,000 numbers each train, in bf16 with two moments of 16 bits.
func TestLayersThatTrainAlone(t *testing.T) {
	const layer, all, rotary = 218_112_000, 8_030_261_248, 128
	items := size(t, frozenRun(t, 1, func(q *plan.Training) { q.Thawed, q.Precision = "last:2", "bf16" }))[0].Phases[0].Items
	var frozen, trained unit.Bytes
	for _, it := range items {
		if it.ID == "weights" && it.Name == "frozen weights" {
			frozen += it.Bytes
		} else if it.ID == "weights" {
			trained += it.Bytes
		}
	}
	if trained != 2*2*layer || frozen != 2*(all-2*layer)+rotary {
		t.Errorf("%d bytes train and %d are frozen", trained, frozen)
	}
	if n := ledger.Find(items, "optimizer").Bytes; n != 2*2*2*layer {
		t.Errorf("the optimizer has %d bytes", n)
	}
}

// TestGradientsStopBelow: nothing is kept below the lowest layer that trains; above it frozen layers keep less than those that learn.
func TestGradientsStopBelow(t *testing.T) {
	kept := func(change func(q *plan.Training)) unit.Bytes {
		return ledger.Find(size(t, frozenRun(t, 1, change))[0].Phases[0].Items, "activations").Bytes
	}
	all := kept(func(*plan.Training) {})
	last := kept(func(q *plan.Training) { q.Thawed = "last:8" })
	first := kept(func(q *plan.Training) { q.Thawed = "first:8" })
	below := kept(func(q *plan.Training) { q.Thawed, q.Full = "last:8", []string{"embed_tokens"} })
	if 4*last != all || first <= last || first >= all || below != first {
		t.Errorf("kept of all %d, of the last eight %d, of the first %d, with the embedding %d", all, last, first, below)
	}
}

// TestStagesOfFrozenLayers: a pipeline's first stage trains nothing where only the last layers do.
func TestStagesOfFrozenLayers(t *testing.T) {
	ranks, with := size(t, frozenRun(t, 2, func(q *plan.Training) { q.Thawed = "last:2" })), 0
	for i := range ranks {
		if ledger.Find(ranks[i].Phases[0].Items, "optimizer") != nil {
			with++
		}
	}
	if len(ranks) != 2 || with != 1 {
		t.Errorf("%d of %d stages have states of an optimizer", with, len(ranks))
	}
}

// TestTeacherSharedByItself: a teacher under ZeRO-3 of its own is shared by all ranks, beside a student that is not, and gathered by layers.
func TestTeacherSharedByItself(t *testing.T) {
	of := func(shards, id string) unit.Bytes {
		j := ask(t, "qwen2.5-7b", "h100-sxm-80gb", 8, func(p *plan.Plan, q *plan.Training) {
			q.Framework, q.Objective, q.Sharding, q.TeacherShards, p.DP = "transformers", "distill", "zero2", shards, 8
		})
		j.Teacher = &train.Frozen{Model: ask(t, "qwen2.5-32b", "h100-sxm-80gb", 1, func(*plan.Plan, *plan.Training) {}).Model}
		it := ledger.Find(size(t, j)[0].Phases[0].Items, id)
		if it == nil {
			return 0
		}
		return it.Bytes
	}
	whole, shared := of("", "teacher.weights"), of("zero3", "teacher.weights")
	if whole != of("none", "teacher.weights") || whole/8 != shared || whole == 0 {
		t.Errorf("%s whole, %s of each of eight", whole, shared)
	}
	if n := of("zero3", "teacher.workspace"); n == 0 || n > whole/10 || of("none", "teacher.workspace") != 0 {
		t.Errorf("%s are gathered", n)
	}
}

// TestThawedIsChecked: counts that a model has not, words of nobody, and adapters beside.
func TestThawedIsChecked(t *testing.T) {
	for _, bad := range []func(q *plan.Training){
		func(q *plan.Training) { q.Thawed = "last:33" }, func(q *plan.Training) { q.Thawed = "spread:5" }, func(q *plan.Training) { q.Thawed = "middle:2" },
		func(q *plan.Training) { q.Thawed = "last:-1" }, func(q *plan.Training) { q.Thawed, q.Method = "last:2", "lora" },
	} {
		if p, ok := train.Check(frozenRun(t, 1, bad)).(*plan.Problem); !ok || p.Field != "trained_layers" {
			t.Errorf("want an error of trained_layers, got %v", p)
		}
	}
}
