package train_test

import (
	"errors"
	"testing"

	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train"
)

// TestWaysOfContext: a rank that gathers holds the keys and values of all, one of a ring those of two; one that takes whole heads
// keeps what attention gives a second time, and needs heads that divide.
func TestWaysOfContext(t *testing.T) {
	at := func(cp int64, by string) *train.Job {
		return ask(t, "llama-3.1-8b", "h100-sxm-80gb", int(cp), func(p *plan.Plan, q *plan.Training) {
			p.CP, q.CPComm, q.SequenceLength, q.Framework = cp, by, 32768, "megatron"
		})
	}
	held := func(by string) (kv, kept float64) {
		r := size(t, at(8, by))[0]
		for _, it := range r.Phases[0].Items {
			if it.Name == "keys and values of other ranks" {
				kv = float64(it.Bytes)
			}
		}
		return kv, parts(&r, "forward and loss", "activations")
	}
	ring, kept := held("p2p")
	all, _ := held("allgather")
	heads, twice := held("a2a")
	const local = 32768 / 8 * 8 * 128 * 2 * 2 // keys and values of a rank's tokens, in bytes
	if ring != 2*local || all != 8*local || heads != 0 {
		t.Errorf("%.0f, %.0f and %.0f bytes of keys and values; a rank has %d", ring, all, heads, local)
	}
	if more := twice - kept; more != 32*32768/8*4096*2 {
		t.Errorf("whole heads keep %.0f bytes more", more)
	}
	var p *plan.Problem
	if err := train.Check(at(16, "a2a")); !errors.As(err, &p) || p.Field != "cp_comm_type" {
		t.Errorf("eight heads over sixteen ranks: %v", err)
	}
}

// TestAnswersOneByOne: KTO has no pairs, and holds half of what DPO holds for tokens.
func TestAnswersOneByOne(t *testing.T) {
	kept := func(objective string) float64 {
		r := size(t, ask(t, "llama-3.1-8b", "h100-sxm-80gb", 8, func(_ *plan.Plan, q *plan.Training) {
			q.Objective, q.Sharding, q.SequenceLength, q.Framework = objective, "fsdp", 2048, "transformers"
		}))[0]
		return parts(&r, "forward and loss", "logits")
	}
	if pairs, single := kept("dpo"), kept("kto"); pairs != 2*single || single == 0 {
		t.Errorf("logits of %.0f and %.0f bytes", pairs, single)
	}
}
