package examples

import (
	"fmt"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/speed/stream"
)

// stream is one user of an NVIDIA card: what memwall predicts of an answer of 256 tokens to a prompt of 128.
func (c *calc) stream(id, recipe, engine, on string) (f stream.Figures) {
	m, r, d := c.model(id), dtype.FindRecipe(recipe), c.device(on)
	table, err := stream.Fitted()
	if m == nil || r == nil || err != nil {
		c.fail("%s of %s in %s: %v", engine, id, recipe, err)
		return f
	}
	x, err := stream.Compile(stream.Input{Model: m, Weights: m.Store(r), Engine: engine, Stages: []stream.Stage{{Backend: "cuda", Device: &d, Dense: 1, Experts: 1, Head: 1}}})
	if err != nil {
		c.fail("%s on %s: %w", id, on, err)
		return f
	}
	return x.With(table).Predict(stream.Test{Prompt: 128, Generated: 256})
}

// decodes is its tokens a second.
func (c *calc) decodes(id, recipe, engine, on string) ledger.Num {
	f := c.stream(id, recipe, engine, on)
	if !f.Decode.Known() {
		return c.fail("nothing predicts %s with %s on %s", id, engine, on)
	}
	return c.Div(c.Lit(1), c.In("seconds_per_token", f.Decode.Mid, fmt.Sprintf("predicted for one stream of %s in %s with %s on %s", id, recipe, engine, on)))
}

// waitsFor is the share of a token's time that is not its work: launches of kernels and steps of the host.
func (c *calc) waitsFor(id, recipe, engine, on string) ledger.Num {
	f := c.stream(id, recipe, engine, on)
	var host, all float64
	for _, p := range f.Parts {
		all += p.Seconds
		if p.Bound == "host" {
			host += p.Seconds
		}
	}
	if all == 0 {
		return c.fail("%s with %s has no parts", id, engine)
	}
	from := fmt.Sprintf("predicted for %s with %s on %s", id, engine, on)
	return c.Div(c.In("host_seconds", host, from), c.In("seconds_per_token", all, from))
}

// speedRow is a claim of tokens a second on an H100, beside a program that launches each kernel from Python
// and one that replays them, with what the memory allows above both.
func speedRow(id, claim, m string, s Said, why string) Row {
	return Row{ID: id, Claim: claim, Verdict: Depends, Why: why, Find: func(c *calc) []Finding {
		return []Finding{c.when("transformers", s, c.decodes(m, "bf16", "transformers", h100)), c.when("vLLM", s, c.decodes(m, "bf16", "vllm", h100)),
			c.beside("bandwidth allows", tokps, c.Div(c.bandwidth(h100), c.stored(m, "bf16")))}
	}}
}

// users is how many sequences of no context take the arithmetic of a device as long as its memory.
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
