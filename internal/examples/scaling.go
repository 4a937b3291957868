package examples

import (
	"fmt"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/shard"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/serving"
)

// promptScaling and tokenScaling are of a prompt of 8k tokens and of one token of one user at 1k.
func promptScaling(c *calc, id, on string) ledger.Num {
	return c.scaling(id, on, speed.Batch{Prefill: 8192, Prompts: 1, Finished: 1})
}

func tokenScaling(c *calc, id, on string) ledger.Num {
	return c.scaling(id, on, speed.Batch{Decodes: 1, Context: 1024})
}

// scaling is the share of eight cards' worth that a model in bf16 gets of eight that share each layer: the
// predicted step of one card over eight times that of eight. One card is taken to hold it.
func (c *calc) scaling(id, on string, b speed.Batch) ledger.Num {
	const cards = 8
	one, err1 := c.step(id, on, 1, b)
	all, err2 := c.step(id, on, cards, b)
	if err1 != nil || err2 != nil {
		return c.fail("%s on %s: %v, %v", id, on, err1, err2)
	}
	n := c.given("cards", cards)
	return c.Div(c.In("step_of_one", one, "predicted, seconds, "+id+" on one of "+on),
		c.Mul(n, c.In("step_of_all", all, fmt.Sprintf("predicted, seconds, on %s", on))))
}

// step is the predicted time of a batch in seconds, with vLLM on some cards of a machine.
func (c *calc) step(id, on string, cards int64, b speed.Batch) (float64, error) {
	machine, _, err := hardware.Parse(on, 0)
	if err != nil {
		return 0, err
	}
	m := c.model(id)
	if m == nil {
		return 0, c.err
	}
	ranks, err := engine.Place(m.Decoder(), &m.Store(dtype.FindRecipe("bf16")).Parts[0], shard.Parallel{TP: cards})
	if err != nil {
		return 0, err
	}
	x, err := serving.Compile(&serving.In{Model: m, Stages: ranks[:1], Device: &machine.Groups[0].Device, Link: machine.Intra,
		Engine: "vllm", Replicas: 1, Exec: model.Exec{ActBytes: 2, KVBytes: 2, StateBytes: 4}})
	if err != nil {
		return 0, err
	}
	return x.Step(b), nil
}
