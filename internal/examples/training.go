package examples

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// run is a train request in short.
type run struct {
	model, on, framework, method, precision, weights, optimizer, sharding, recompute, attention string

	seq, micro, accumulation, tp, pp int64
	dropout                          float64
}

// train asks memwall. Where nothing else is said a sequence of 2,048 tokens is a step, and each block is computed again.
func (c *calc) train(q run) answer {
	if q.seq == 0 {
		q.seq = 2048
	}
	if q.recompute == "" {
		q.recompute = "full"
	}
	q.micro = max(1, q.micro)
	r := &memwall.Request{Ask: "train", Model: q.model, Hardware: q.on,
		Plan: plan.Plan{Weights: q.weights, Attention: q.attention, TP: q.tp, PP: q.pp},
		Training: plan.Training{Framework: q.framework, Method: q.method, Precision: q.precision, Optimizer: q.optimizer,
			Sharding: q.sharding, Recompute: q.recompute,
			SequenceLength: plan.Int(q.seq), MicroBatch: plan.Int(q.micro), Accumulation: plan.Int(q.accumulation)}}
	if q.dropout > 0 {
		r.Masks = &q.dropout
	}
	a, err := memwall.Ask(r)
	if err != nil {
		c.fail("%s: %w", q.command(), err)
		a = &memwall.Answer{}
	}
	return answer{a, c, q.command()}
}

// command is the same question in the terminal.
func (q *run) command() string {
	words := []string{"memwall train", q.model}
	add := func(flag, value string) {
		if value != "" && value != "0" {
			words = append(words, "--"+flag, value)
		}
	}
	add("method", q.method)
	add("on", q.on)
	add("framework", q.framework)
	add("tp", fmt.Sprint(q.tp))
	add("pp", fmt.Sprint(q.pp))
	add("sharding", q.sharding)
	add("precision", q.precision)
	add("weights", q.weights)
	add("optimizer", q.optimizer)
	add("attention", q.attention)
	add("dropout", fmt.Sprint(q.dropout))
	add("seq", strings.ReplaceAll(unit.Length(q.seq), ",", ""))
	add("micro-batch", fmt.Sprint(q.micro))
	add("accumulation", fmt.Sprint(q.accumulation))
	add("recompute", q.recompute)
	return strings.Join(words, " ")
}

// kinds of what training keeps from step to step, by the items of a ledger.
var kinds = []string{"weights", "lora", "master_weights", "gradients", "optimizer"}

// inStep is what a rank holds of one kind while the optimizer steps, on the device and on the host, in bytes.
func (a answer) inStep(kind string) (n unit.Bytes) {
	for _, p := range a.first().Phases {
		if p.Name == "optimizer step" {
			n += ofKind(p.Ledger, kind)
		}
	}
	if a.Host != nil {
		n += ofKind(a.Host.Ledger, kind)
	}
	return n
}

func ofKind(items []memwall.Item, kind string) (n unit.Bytes) {
	for _, it := range items {
		if it.ID == kind {
			n += it.Bytes
		}
	}
	return n
}

// memoryHeld is all that training keeps from step to step, on one rank, in bytes.
func (a answer) memoryHeld() ledger.Num {
	var all []ledger.Num
	for _, kind := range kinds {
		if n := a.inStep(kind); n > 0 {
			all = append(all, a.c.Size(kind, n, a.command))
		}
	}
	if len(all) == 0 {
		return a.c.fail("%s: nothing is kept", a.command)
	}
	return a.c.Add(all[0], all[1:]...)
}

// each is what that makes for one parameter of the model.
func (a answer) each() ledger.Num {
	if a.Model == nil {
		return a.c.fail("%s: no model", a.command)
	}
	return a.c.Div(a.memoryHeld(), a.c.Int("parameters", a.Model.Parameters, "counted"))
}

// inPhase is one item of a phase of the rank that holds most.
func (a answer) inPhase(phase, name string) ledger.Num {
	for _, p := range a.first().Phases {
		for _, it := range p.Ledger {
			if p.Name == phase && it.Name == name {
				return a.c.Size(strings.ReplaceAll(name, " ", "_"), it.Bytes, a.command)
			}
		}
	}
	return a.c.fail("%s: no %s at %s", a.command, name, phase)
}

// again is the arithmetic of a step over that of the model alone: HFU over MFU.
func (a answer) again() ledger.Num {
	if a.Step == nil {
		return a.c.fail("%s: no time", a.command)
	}
	return a.c.Div(a.c.In("hfu", a.Step.HFU, a.command), a.c.In("mfu", a.Step.MFU, a.command))
}

// saves is what a stage of ZeRO leaves of the states of one rank, over plain data parallelism. One rank under ZeRO-1 keeps
// what each rank of plain data parallelism would, in the same formats.
func (c *calc) saves(stage string, ranks int64) ledger.Num {
	alone := c.train(run{model: l7, on: a100, framework: "deepspeed", sharding: "zero1"}).memoryHeld()
	sharded := c.train(run{model: l7, on: fmt.Sprintf("%dx%s", ranks, a100), framework: "deepspeed", sharding: stage})
	return c.Div(alone, sharded.memoryHeld())
}

// Recipes that many rows speak of, for one step of Llama 2 7B: all in BF16; FP32 moments over it; FP32 copies as well;
// and FP32 gradients with them.
func (c *calc) allBF16() answer { return c.train(run{model: l7, on: a100}) }
func (c *calc) wideMoments() answer {
	return c.train(run{model: l7, on: a100, optimizer: "paged-adamw"})
}
func (c *calc) withCopy() answer {
	return c.train(run{model: l7, on: a100, framework: "deepspeed", sharding: "zero1"})
}
func (c *calc) wideGradients() answer {
	return c.train(run{model: l7, on: a100, framework: "megatron"})
}

// perSecond is the predicted pace of a device in tokens per second.
func (a answer) perSecond() ledger.Num {
	if a.Step == nil {
		return a.c.fail("%s: no time", a.command)
	}
	return a.c.In("tokens_per_s", a.Step.PerDevice, a.command)
}
