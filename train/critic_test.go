package train_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog/catalogtest"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train"
)

// withCritic is PPO on eight devices; without a critic where there is none.
func withCritic(t *testing.T, framework, method string, critic *model.Model) *train.Job {
	t.Helper()
	j := ask(t, "llama-3.2-3b", "h100-sxm-80gb", 8, func(_ *plan.Plan, q *plan.Training) {
		q.Framework, q.Method, q.Objective, q.ReferenceModel = framework, method, "ppo", "none"
		q.SequenceLength, q.MicroBatch, q.CriticModel = 1024, 4, "llama-3.2-1b"
	})
	j.Critic = critic
	if err := train.Check(j); err != nil {
		t.Fatal(err)
	}
	return j
}

// parts sums the items of a phase whose ids start so.
func parts(r *train.Rank, name, prefix string) (n float64) {
	for i := range r.Phases {
		for _, it := range r.Phases[i].Items {
			if r.Phases[i].Name == name && strings.HasPrefix(it.ID, prefix) {
				n += float64(it.Bytes)
			}
		}
	}
	return n
}

// TestCriticTrains: a critic holds what the same network holds that trains alone, and the policy holds what it did.
func TestCriticTrains(t *testing.T) {
	critic := catalogtest.Model(t, "llama-3.2-1b")
	for _, framework := range []string{"deepspeed", "transformers", "megatron"} {
		with, without := size(t, withCritic(t, framework, "full", critic))[0], size(t, withCritic(t, framework, "full", nil))[0]
		alone := size(t, ask(t, critic.ID, "h100-sxm-80gb", 8, func(_ *plan.Plan, q *plan.Training) {
			q.Framework, q.SequenceLength, q.MicroBatch = framework, 1024, 4
		}))[0]
		const step = "optimizer step"
		if got, want := parts(&with, step, "critic."), phase(t, &alone, step); framework == "transformers" && got != want {
			t.Errorf("%s: the critic holds %.0f bytes when the optimizer steps, alone %.0f", framework, got, want)
		}
		if got, want := phase(t, &with, step)-parts(&with, step, "critic."), phase(t, &without, step); got != want {
			t.Errorf("%s: the policy holds %.0f bytes when the optimizer steps, alone %.0f", framework, got, want)
		}
		if framework == "transformers" {
			continue
		}
		for i := range alone.Phases {
			name := alone.Phases[i].Name
			if got, want := parts(&with, "critic, "+name, "critic."), phase(t, &alone, name); got != want {
				t.Errorf("%s, %s: the critic holds %.0f bytes, alone %.0f", framework, name, got, want)
			}
		}
	}
}

// TestCriticWaits: with one loss for both, what the critic keeps waits while the policy's backward pass runs; by engines of
// their own it does not.
func TestCriticWaits(t *testing.T) {
	critic := catalogtest.Model(t, "llama-3.2-1b")
	for framework, waits := range map[string]bool{"transformers": true, "unsloth": true, "deepspeed": false, "torchtune": false} {
		r := size(t, withCritic(t, framework, "full", critic))[0]
		if got := parts(&r, "backward, begins", "critic.checkpoints")+parts(&r, "backward, begins", "critic.activations") > 0; got != waits {
			t.Errorf("%s: the critic's activations wait: %t", framework, got)
		}
	}
}

// TestCriticBesideAdapters: trl trains the critic whole beside adapters, OpenRLHF by adapters of its own.
func TestCriticBesideAdapters(t *testing.T) {
	critic := catalogtest.Model(t, "llama-3.2-1b")
	for framework, whole := range map[string]bool{"transformers": true, "deepspeed": false} {
		for _, method := range []string{"lora", "qlora"} {
			j := withCritic(t, framework, method, critic)
			r := size(t, j)[0]
			name := "optimizer step"
			if !whole {
				name = "critic, " + name
			}
			got := parts(&r, name, "critic.gradients")
			if want := 2 * float64(critic.Params()); whole && math.Abs(got/want-1) > 1e-6 || !whole && got > want/50 {
				t.Errorf("%s, %s: %.0f bytes of gradients", framework, method, got)
			}
		}
	}
}

// TestCriticOffDevice: host and disk hold the critic's part too, and formulas give what is booked.
func TestCriticOffDevice(t *testing.T) {
	j := withCritic(t, "deepspeed", "full", catalogtest.Model(t, "llama-3.2-1b"))
	j.Training.Sharding, j.Plan.Offload = "zero3", &plan.Offload{Optimizer: "host", Params: "nvme"}
	s, err := train.Compile(j)
	if err != nil {
		t.Fatal(err)
	}
	var book ledger.Book
	for _, r := range s.Size(&book) {
		checkItems(t, &book, append(r.Host, r.Disk...))
		ids := map[string]bool{}
		for _, it := range append(r.Host, r.Disk...) {
			ids[it.ID] = true
		}
		for _, id := range []string{"optimizer", "critic.optimizer", "swap.weights", "critic.swap.weights", "checkpoints", "critic.checkpoints"} {
			if !ids[id] {
				t.Errorf("nothing is called %s in %v", id, ids)
			}
		}
		for i := range r.Phases {
			checkItems(t, &book, r.Phases[i].Items)
		}
	}
}

// TestCriticRefused: a critic that the groups cannot cut is refused by its own field.
func TestCriticRefused(t *testing.T) {
	j := ask(t, "llama-3.1-8b", "h100-sxm-80gb", 8, func(p *plan.Plan, q *plan.Training) {
		q.Framework, q.Objective, p.TP = "megatron", "ppo", 8
	})
	j.Critic = catalogtest.Model(t, "smollm2-135m")
	err := train.Check(j)
	e, ok := errors.AsType[*plan.Problem](err)
	if !ok || e.Field != "critic_model" || e.Fix == "" {
		t.Errorf("a critic with three heads is cut by eight: %v", err)
	}
}
