package examples

import (
	"fmt"
	"strings"
)

// tuned is what a document says of hardware to train a model on.
type tuned struct {
	advice
	method string
	// then and now are models that such a name stood for and stands for.
	then, now subject
	// ways to train it: each is asked in every place.
	ways []way
}

// way is a recipe that a text leaves open.
type way struct {
	name string
	run
}

// Ways that decide: whether blocks are computed again, and what is kept in FP32.
var (
	kept      = way{"all kept", run{Recompute: "none"}}
	again     = way{"again", run{}}
	allBF16   = way{"BF16", run{}}
	withCopy  = way{"FP32 copies", run{Framework: "deepspeed", Sharding: "zero1"}}
	shareBF16 = way{"FSDP, BF16", run{Framework: "transformers", Sharding: "fsdp", Precision: "bf16"}}
	shareCopy = way{"ZeRO-3", run{Framework: "deepspeed", Sharding: "zero3"}}
)

// tuning is what the documents say of training.
var tuning = []tuned{
	{advice: advice{doc: 3, model: "7B, full", says: "80 GB and more: A100 80GB", on: []spot{{name: "A100", id: a100}},
		why: "On the recipe: in mixed precision the states alone are more than the card."},
		then: seven, now: eight, ways: []way{allBF16, withCopy}},
	{advice: advice{doc: 3, model: "7B, LoRA", says: "20 GB and more: RTX 4090, A10",
		on:  []spot{{name: "RTX 4090", id: "rtx-4090"}, {name: "A10", id: "a10"}},
		why: "With blocks computed again a 7B fits with room. All kept, 2k are too much."},
		method: "lora", then: seven, now: eight, ways: []way{again, kept}},
	{advice: advice{doc: 3, model: "13B, LoRA", says: "30 GB and more: A100 40GB, A6000",
		on:  []spot{{name: "A100 40GB", id: a100half}, {name: "A6000", id: "rtx-a6000"}},
		why: "As the 7B: recomputation decides, and the vocabulary of a newer model."},
		method: "lora", then: thirteen, now: fourteen, ways: []way{again, kept}},
	{advice: advice{doc: 4, model: "70B, full, with checkpoints", says: "eight H100 in place of 16",
		on: []spot{{name: "8 × H100", id: "8x" + h100}}, why: "States, not activations, are what is too much for eight."},
		then: seventy, ways: []way{shareBF16, shareCopy}},
	{advice: advice{doc: 5, model: "7B, full", says: "two A100 40GB with ZeRO", on: []spot{{name: "2 × A100 40GB", id: "2x" + a100half}},
		why: "All in BF16 two hold it; ZeRO keeps FP32 copies, and those they do not."},
		then: seven, now: eight, ways: []way{shareBF16, shareCopy}},
	{advice: advice{doc: 5, model: "70B, full", says: "nine A100 80GB or more",
		on:  []spot{{name: "9 × A100", id: "9x" + a100}, {name: "16 × A100", id: "16x" + a100}},
		why: "Nine are enough only all in BF16, and sixteen for either."},
		then: seventy2, now: seventy, ways: []way{shareBF16, shareCopy}},
}

// asks trains a model in every place and way, one sequence of 2k a step.
func (t *tuned) asks(c *calc, s subject) (out []outcome) {
	for _, p := range t.on {
		for _, w := range t.ways {
			q := w.run
			q.Model, q.On, q.Method = s.id, p.id, t.method
			p := spot{name: p.name + ", " + w.name, id: p.id}
			out = append(out, outcome{p, c.train(q)})
		}
	}
	return out
}

// outcomes of the models of then and now.
func (t *tuned) outcomes(c *calc) (then, now []outcome) {
	then = t.asks(c, t.then)
	if t.now.id != "" {
		now = t.asks(c, t.now)
	}
	return then, now
}

// modelOnly is a subject without its length, which is the training's own.
func (s subject) modelOnly() string {
	name, _, _ := strings.Cut(s.name, ",")
	return name
}

const selectionTraining = `
## Training

One sequence of 2,048 tokens a step; "again" computes every block a second time in backward, and so do all but "all kept".
BF16 keeps weights, gradients and moments in 16 bits; ZeRO and "FP32 copies" are DeepSpeed's, with masters and moments in
FP32. Figures are GiB for each device, as ` + "`memwall train`" + ` gives them.

`

// writeTuning asks for what the documents say of training and judges it.
func writeTuning(b *strings.Builder, c *calc) {
	var t table
	below := &strings.Builder{}
	t.add("text", "model", "says", "then", "now", "verdict")
	for i := range tuning {
		a := &tuning[i]
		then, now := a.outcomes(c)
		shown := "—"
		if now != nil {
			shown = a.now.modelOnly() + ": " + cell(now)
		}
		t.add(fmt.Sprint(a.doc), a.model, a.says, a.then.modelOnly()+": "+cell(then), shown, string(a.verdict(then, now)))
		if a.why != "" {
			fmt.Fprintf(below, "- %s\n", wrap(fmt.Sprintf("**%d, %s, %s:** %s", a.doc, a.model, a.says, a.why), textWidth-2, "  "))
		}
	}
	t.write(b)
	b.WriteString("\n" + below.String())
}
