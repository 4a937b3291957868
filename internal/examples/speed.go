package examples

import (
	"fmt"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/shard"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/speed/stream"
)

// stream is one user of a program that launches kernel by kernel on an NVIDIA card: what memwall predicts of an
// answer of 256 tokens to a prompt of 128.
func (c *calc) stream(id, engine, on string) (f stream.Figures) {
	m, d := c.model(id), c.device(on)
	table, err := stream.Fitted()
	if m == nil || err != nil {
		c.fail("%s of %s: %v", engine, id, err)
		return f
	}
	x, err := stream.Compile(stream.Input{Model: m, Weights: m.Store(dtype.FindRecipe("bf16")), Engine: engine,
		Stages: []stream.Stage{{Backend: "cuda", Device: &d, Dense: 1, Experts: 1, Head: 1}}})
	if err != nil {
		c.fail("%s on %s: %w", id, on, err)
		return f
	}
	return x.With(table).Predict(stream.Test{Prompt: 128, Generated: 256})
}

// served is the same with vLLM, on so many cards that share each layer.
func (c *calc) served(id, recipe, on string, cards int64) (f serving.Figures) {
	m, r, d := c.model(id), dtype.FindRecipe(recipe), c.device(on)
	if m == nil || r == nil {
		c.fail("no recipe %s", recipe)
		return f
	}
	ranks, err := engine.Place(m.Decoder(), &m.Store(r).Parts[0], shard.Parallel{TP: cards})
	if err == nil {
		var x *serving.Model
		x, err = serving.Compile(&serving.In{Model: m, Stages: ranks[:1], Device: &d, Engine: "vllm", Replicas: 1,
			Exec: model.Exec{ActBytes: 2, KVBytes: 2, StateBytes: 4}})
		if err == nil {
			return x.Closed(serving.Load{Users: 1, Prompt: 128, Output: 256})
		}
	}
	c.fail("%s on %s: %w", id, on, err)
	return f
}

// rate of a predicted time of a token.
func (c *calc) rate(seconds speed.Figure, what string) ledger.Num {
	if !seconds.Known() {
		return c.fail("nothing predicts %s", what)
	}
	return c.Div(c.Lit(1), c.In("seconds_per_token", seconds.Mid, "predicted for one user of "+what))
}

// streamed and serves are tokens a second of one user.
func (c *calc) streamed(id, engine, on string) ledger.Num {
	return c.rate(c.stream(id, engine, on).Decode, id+" with "+engine+" on "+on)
}

func (c *calc) serves(id, recipe, on string, cards int64) ledger.Num {
	return c.rate(c.served(id, recipe, on, cards).PerToken, fmt.Sprintf("%s in %s with vLLM on %d %s", id, recipe, cards, on))
}

// waiting is the share of a step that is none of its kernels' work: launches, and what the host does.
func (c *calc) waiting(parts []speed.Part, what string) ledger.Num {
	var host, all float64
	for _, p := range parts {
		all += p.Seconds
		if p.Bound == speed.Host {
			host += p.Seconds
		}
	}
	if all == 0 {
		return c.fail("%s has no parts", what)
	}
	return c.Div(c.In("host_seconds", host, "predicted for "+what), c.In("step_seconds", all, "predicted for "+what))
}

func streamParts(c *calc, id, engine, on string) []speed.Part { return c.stream(id, engine, on).Parts }

func servedParts(c *calc, id, recipe, on string, cards int64) []speed.Part {
	return c.served(id, recipe, on, cards).Parts
}

// computeBound is how many sequences of no context take the arithmetic of a device as long as its memory.
func (c *calc) computeBound(id, on string) ledger.Num {
	r, err := (&memwall.Asker{}).Roof(&memwall.Request{Model: id, Hardware: on})
	if err != nil || r.BatchShort == nil {
		return c.fail("roofs of %s on %s: %v", id, on, err)
	}
	return c.In("sequences", r.BatchShort.Value, "memwall hardware "+on+" --for "+id)
}

// attention is one layer's attention over a prompt of n tokens: operations, bytes of what goes in and out, and
// bytes of the scores each time that they are written or read.
type attention struct{ flop, inOut, scores ledger.Num }

// attend counts a layer of a dense model, in 16 bits. Scores are of all pairs: kernels that write them out
// compute the masked half too.
func (c *calc) attend(id string, n float64) attention {
	m := c.model(id)
	if m == nil {
		return attention{c.Lit(1), c.Lit(1), c.Lit(1)}
	}
	a := firstAttention(m)
	if a == nil {
		c.fail("%s has no attention", id)
		a = &model.Attn{Heads: 1, KVHeads: 1, DimK: 1, DimV: 1}
	}
	tokens, heads, two := c.given("tokens", n), c.Int("heads", a.Heads, id), c.element(dtype.F16)
	perToken := c.Int("numbers_per_token", (a.Heads+a.KVHeads)*(a.DimK+a.DimV), "queries, keys, values and results of a layer of "+id)
	return attention{
		flop:   c.Mul(c.Lit(2), heads, tokens, tokens, c.Int("head_dims", a.DimK+a.DimV, "of keys and values, "+id)),
		inOut:  c.Mul(tokens, perToken, two),
		scores: c.Mul(heads, tokens, tokens, two),
	}
}

func firstAttention(m *model.Model) *model.Attn {
	for i := range m.Decoder().Kinds {
		for _, o := range m.Decoder().Kinds[i].Ops {
			if o.Attn != nil {
				return o.Attn
			}
		}
	}
	return nil
}

// passes of the scores through memory: written by the first product, read and written by softmax, read by the
// second product.
const passes = 4

// trafficShare is what writing scores out moves, over what a fused kernel does.
func (c *calc) trafficShare(id string, n float64) ledger.Num {
	a := c.attend(id, n)
	return c.Div(c.Add(a.inOut, c.Mul(c.given("passes", passes), a.scores)), a.inOut)
}

// flashGain is how many times a fused kernel that reaches a share of the peak is as fast as kernels that write
// scores out and move them at the full rate of the memory. Both compute all pairs.
func (c *calc) flashGain(id string, n float64, share ledger.Num) ledger.Num {
	a := c.attend(id, n)
	written := c.Div(c.Add(a.inOut, c.Mul(c.given("passes", passes), a.scores)), c.bandwidth(h100))
	return c.Div(written, c.Div(a.flop, c.Mul(share, c.peak(h100, "fp16"))))
}
