package memwall_test

import (
	"errors"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

func trains(t *testing.T, r *memwall.Request) *memwall.Answer {
	t.Helper()
	r.Ask = "train"
	a, err := memwall.Ask(r)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestDiskOfTraining: the ledger of the disk holds checkpoints and swap files of all ranks, and its items sum to what is
// needed: 12 bytes of masters and moments and 2 of weights for each parameter, on disk once more where they are swapped.
func TestDiskOfTraining(t *testing.T) {
	const params = 70553706496
	for _, c := range []struct {
		name string
		r    memwall.Request
		swap unit.Bytes
	}{
		{"zero3", memwall.Request{Training: plan.Training{Framework: "deepspeed", Sharding: "zero3"}}, 0},
		{"ZeRO-Infinity", memwall.Request{Plan: plan.Plan{Offload: &plan.Offload{Optimizer: "nvme", Params: "nvme"}},
			Training: plan.Training{Framework: "deepspeed", Sharding: "zero3"}}, 14 * params},
		{"tensor parallelism and stages", memwall.Request{Plan: plan.Plan{TP: 8, PP: 4},
			Training: plan.Training{Framework: "megatron", Sharding: "zero1", Accumulation: 32}}, 0},
	} {
		c.r.Model, c.r.Hardware = "llama-3.1-70b", "64xh100"
		d := trains(t, &c.r).Disk
		var sum unit.Bytes
		for _, it := range d.Ledger {
			sum += it.Bytes
		}
		if len(d.Ledger) == 0 || sum != d.Needed || sum != d.Checkpoint+d.OptimizerCheckpoint+d.Swap {
			t.Errorf("%s: items sum to %d, needed are %d = %d + %d + %d", c.name, sum, d.Needed, d.Checkpoint, d.OptimizerCheckpoint,
				d.Swap)
		}
		for _, x := range []struct {
			what      string
			got, want unit.Bytes
		}{{"checkpoint", d.Checkpoint, 2 * params}, {"states to go on from", d.OptimizerCheckpoint, 12 * params},
			{"swap files", d.Swap, c.swap}} {
			if off := float64(x.got-x.want) / params; off < -0.001 || off > 0.02 { // norms lie on each rank of a tensor group
				t.Errorf("%s: %d bytes of %s, want %d", c.name, x.got, x.what, x.want)
			}
		}
	}
}

// TestCriticOfPPO: PPO has a critic unless none is asked for, by default the policy's network with a head of one number.
func TestCriticOfPPO(t *testing.T) {
	critic := func(objective, name string) (weights unit.Bytes, named string) {
		a := trains(t, &memwall.Request{Model: "llama-3.1-8b", Hardware: "h200",
			Training: plan.Training{Objective: objective, CriticModel: name}})
		for _, it := range a.Devices[0].Ledger {
			if it.ID == "critic.weights" {
				weights += it.Bytes
			}
		}
		return weights, a.Plan.CriticModel
	}
	const own, small = 2 * (8030261248 - 128256*4096 + 4096), 2 * (1235814400 + 2048)
	for _, c := range []struct {
		objective, name, says string
		want                  unit.Bytes
	}{{"ppo", "", "llama-3.1-8b", own}, {"ppo", "llama-3.2-1b", "llama-3.2-1b", small}, {"ppo", "none", "none", 0}, {"grpo", "", "", 0},
		{"sft", "", "", 0}} {
		if got, says := critic(c.objective, c.name); got < c.want || got > c.want+1<<10 ||
			says != c.says { // tables of rotary positions beside
			t.Errorf("%s, critic %q: %d bytes of %q, want %d of %q", c.objective, c.name, got, says, c.want, c.says)
		}
	}
	_, err := memwall.Ask(&memwall.Request{Ask: "train", Model: "llama-3.1-8b", Hardware: "h200",
		Training: plan.Training{Objective: "ppo", CriticModel: "lama"}})
	if e, ok := errors.AsType[*memwall.Error](err); !ok || e.Field != "critic_model" || e.Hint == "" {
		t.Errorf("a critic of no known name: %v", err)
	}
}

// TestStoredBase: adapters train beside what the repository stores where frameworks can, and a model of floats of 8 bits is loaded in 16.
func TestStoredBase(t *testing.T) {
	for _, c := range []struct{ model, weights, note string }{
		{"Qwen/Qwen2.5-7B-Instruct-AWQ", "awq", ""},
		{"unsloth/Qwen2.5-7B-Instruct-bnb-4bit", "nf4", ""},
		{"Qwen/Qwen3-8B-FP8", "bf16", "weights_widened"},
	} {
		a := trains(t, &memwall.Request{Model: c.model, Hardware: "a100", Training: plan.Training{Method: "lora"}})
		found := ""
		for _, n := range a.Notes {
			if n.Code == "weights_widened" {
				found = n.Code
			}
		}
		if a.Plan.Weights != c.weights || found != c.note {
			t.Errorf("%s: weights %s, want %s; note %q, want %q", c.model, a.Plan.Weights, c.weights, found, c.note)
		}
	}
	_, err := memwall.Ask(&memwall.Request{Ask: "train", Model: "Qwen/Qwen2.5-7B-Instruct-AWQ", Hardware: "a100", Training: plan.Training{Method: "full"}})
	if err == nil {
		t.Error("a model of packed integers trains whole")
	}
}
