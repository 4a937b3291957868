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
	Model, On, Framework, Method, Precision, Weights, Optimizer, Sharding, Recompute, Attention string

	Seq, Micro, Accumulation, TP, PP int64
	Dropout                          float64
}

// train asks memwall. Where nothing else is said a sequence of 2,048 tokens is a step, and each block is computed again.
func (c *calc) train(q run) answer {
	if q.Seq == 0 {
		q.Seq = 2048
	}
	if q.Recompute == "" {
		q.Recompute = "full"
	}
	q.Micro = max(1, q.Micro)
	r := &memwall.Request{Ask: "train", Model: q.Model, Hardware: q.On,
		Plan: plan.Plan{Weights: q.Weights, Attention: q.Attention, TP: q.TP, PP: q.PP},
		Training: plan.Training{Framework: q.Framework, Method: q.Method, Precision: q.Precision, Optimizer: q.Optimizer,
			Sharding: q.Sharding, Recompute: q.Recompute,
			SequenceLength: plan.Int(q.Seq), MicroBatch: plan.Int(q.Micro), Accumulation: plan.Int(q.Accumulation)}}
	if q.Dropout > 0 {
		r.Masks = &q.Dropout
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
	words := []string{"memwall train", q.Model}
	add := func(flag, value string) {
		if value != "" && value != "0" {
			words = append(words, "--"+flag, value)
		}
	}
	add("method", q.Method)
	add("on", q.On)
	add("framework", q.Framework)
	add("tp", fmt.Sprint(q.TP))
	add("pp", fmt.Sprint(q.PP))
	add("sharding", q.Sharding)
	add("precision", q.Precision)
	add("weights", q.Weights)
	add("optimizer", q.Optimizer)
	add("attention", q.Attention)
	add("dropout", fmt.Sprint(q.Dropout))
	add("seq", strings.ReplaceAll(unit.Length(q.Seq), ",", ""))
	add("micro-batch", fmt.Sprint(q.Micro))
	add("accumulation", fmt.Sprint(q.Accumulation))
	add("recompute", q.Recompute)
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
	alone := c.train(run{Model: l7, On: a100, Framework: "deepspeed", Sharding: "zero1"}).memoryHeld()
	sharded := c.train(run{Model: l7, On: fmt.Sprintf("%dx%s", ranks, a100), Framework: "deepspeed", Sharding: stage})
	return c.Div(alone, sharded.memoryHeld())
}

// perSecond is the predicted pace of a device in tokens per second.
func (a answer) perSecond() ledger.Num {
	if a.Step == nil {
		return a.c.fail("%s: no time", a.command)
	}
	return a.c.In("tokens_per_s", a.Step.PerDevice, a.command)
}
