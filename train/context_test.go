package train_test

import (
	"errors"
	"testing"

	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train"
)

// TestWaysOfContext: a rank that gathers holds the keys and values of all, which are more than a block from large groups on; those of a
// ring are not. One that takes whole heads keeps what attention gives a second time, and needs heads that divide.
func TestWaysOfContext(t *testing.T) {
	at := func(cp int64, by string) *train.Job {
		return ask(t, "llama-3.1-8b", "h100-sxm-80gb", int(cp), func(p *plan.Plan, q *plan.Training) {
			p.CP, q.CPComm, q.SequenceLength, q.Framework = cp, by, plan.Int(4096*cp), "megatron"
		})
	}
	held := func(cp int64, by string) (kv, kept float64) {
		r := size(t, at(cp, by))[0]
		for _, it := range r.Phases[1].Items {
			if it.Name == "keys and values of other ranks" {
				kv = float64(it.Bytes)
			}
		}
		return kv, parts(&r, "forward and loss", "activations")
	}
	const local = 4096 * 8 * 128 * 2 * 2 // keys and values of a rank's tokens, in bytes
	ring, _ := held(64, "p2p")
	if all, _ := held(64, "allgather"); ring != 0 || all < 60*local || all > 2*64*local {
		t.Errorf("%.0f bytes are passed on, %.0f gathered; a rank has %d", ring, all, local)
	}
	_, kept := held(8, "p2p")
	if _, twice := held(8, "a2a"); twice-kept != 32*4096*4096*2 {
		t.Errorf("whole heads keep %.0f bytes more", twice-kept)
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
