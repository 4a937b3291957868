package timing

import (
	"fmt"
	"sort"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/unit"
)

// Roof returns the upper bounds on the speed of a model on one device of the request's hardware. Weights, KV cache
// format and context come from the request, or from the defaults of a fit without an engine. The error is an *Error.
func Roof(a *question.Env, r *api.Request) (*api.Roof, error) {
	d, notes, err := hardware.One(r.Hardware)
	if err != nil {
		return nil, api.AsError(err)
	}
	ask := *r
	ask.Ask, ask.Hardware, ask.Devices, ask.Engine = "fit", "", 0, "generic"
	q, err := a.Prepare(&ask)
	if err != nil {
		return nil, api.AsError(err)
	}
	if err := generates(q); err != nil {
		return nil, err
	}
	b := newBound(q, d)
	for _, n := range notes {
		b.note(n.Code, "info", "%s", n.Text)
	}
	b.fill()
	return &b.Roof, nil
}

// generates rejects models that do not generate tokens, and those with unknown operators.
func generates(q *question.Question) error {
	m := q.Job.Model
	switch {
	case q.Resolved.UnknownArch != "":
		return &api.Error{Code: api.Unsupported, Field: "model", Value: q.Request.Model,
			Message: "no family reads the architecture of " + q.Request.Model + ", so nobody knows what a token reads",
			Hint:    "memwall fit gives its weights"}
	case !m.Samples() || !m.Remembers():
		return &api.Error{Code: api.Unsupported, Field: "model", Value: q.Request.Model, Message: q.Request.Model + " generates no tokens",
			Hint: "a model that decodes, such as llama-3.1-8b"}
	}
	return nil
}

// bound is a Roof under construction.
type bound struct {
	api.Roof
	book           ledger.Book
	device         *hardware.Device
	job            *question.Question
	decode, prompt model.Work
	peak           hardware.Fact[unit.FLOPRate]
}

func newBound(q *question.Question, d *hardware.Device) *bound {
	b := &bound{device: d, job: q}
	p := q.Job.Plan
	b.Device, b.Model, b.Weights, b.KV, b.Context = d.Name, q.Job.Model.ID, q.Request.Weights, p.KV, int64(p.Context)
	if q.Resolved.Name != "" {
		b.Model = q.Resolved.Name
	}
	e := exec(q)
	b.prompt = q.Job.Model.Work(q.Job.Weights, e)
	e.Absorb = true // fewer operations for long contexts: decoding
	b.decode = q.Job.Model.Work(q.Job.Weights, e)
	b.Arithmetic, b.peak = speed.Arithmetic(d, largest(q))
	return b
}

// largest returns the scheme that stores most of the decoder's bytes.
func largest(q *question.Question) (most *dtype.Scheme) {
	sums := map[*dtype.Scheme]unit.Bytes{}
	q.Job.Weights.Parts[0].Each(func(_ int, stored []model.Stored, count int64) {
		for i := range stored {
			s := stored[i].Scheme
			if sums[s] += unit.Bytes(count) * stored[i].Bytes; most == nil || sums[s] > sums[most] {
				most = s
			}
		}
	})
	return most
}

// step is one token for each of the given sequences, with the given cached tokens.
func (b *bound) step(sequences, cached int64) model.Step {
	return model.Step{Tokens: sequences, Seqs: sequences, Outputs: sequences, Context: cached}
}

func (b *bound) fill() {
	k := &b.book
	one := b.step(1, max(0, b.Context-1))
	weights := k.Name("weights_read", b.sum("weights", b.decode.Weights(one)))
	cache := k.Name("cache", b.sum("cache", b.decode.Cache(one)))
	bytes := k.Name("bytes_per_token", k.Add(weights, cache))
	flops := k.Name("flops_per_token", b.sum("flops", b.decode.FLOPs(one)))
	b.WeightsRead, b.Cache = b.figure(weights, "B", ledger.Derived), b.figure(cache, "B", ledger.Derived)
	b.Bytes, b.FLOPs = b.figure(bytes, "B", ledger.Derived), b.figure(flops, "FLOP", ledger.Derived)
	whole := model.Step{Tokens: b.Context, Seqs: 1, Outputs: 1}
	tokens := k.Int("prompt_tokens", b.Context, "the whole context as one prompt")
	prompt := k.Name("flops_per_prompt_token", k.Div(b.sum("flops", b.prompt.FLOPs(whole)), tokens))
	b.PromptFLOPs = b.figure(prompt, "FLOP", ledger.Derived)
	rate, peak := b.rates()
	if b.device.Bandwidth.Known {
		b.Decode = b.figure(k.Div(rate, bytes), "tok/s", max(ledger.Derived, b.device.Bandwidth.Basis))
	}
	if b.peak.Known {
		b.Prompt = b.figure(k.Div(peak, prompt), "tok/s", max(ledger.Derived, b.peak.Basis))
	}
	if b.device.Bandwidth.Known && b.peak.Known {
		b.batches(k.Name("ridge", k.Div(peak, rate)))
	}
	b.remarks(weights.Bytes())
}

func (b *bound) rates() (rate, peak ledger.Num) {
	rate = b.book.In("bandwidth", float64(b.device.Bandwidth.Value), "B/s, "+b.device.Name+", "+b.device.Bandwidth.Basis.String())
	peak = b.book.In("peak", float64(b.peak.Value), "FLOP/s dense in "+b.Arithmetic+", "+b.peak.Basis.String())
	return rate, peak
}

// sum books terms: counts times costs.
func (b *bound) sum(what string, terms []model.Term) ledger.Num {
	k := &b.book
	var total ledger.Num
	for i, t := range terms {
		n := k.In(what+"_per_"+t.Per, t.Each, "all layers together")
		if t.Count != 1 {
			n = k.Mul(k.In(t.Per+"s", t.Count, counted[t.Per]), n)
		}
		if i == 0 {
			total = n
		} else {
			total = k.Add(total, n)
		}
	}
	if len(terms) == 0 {
		return k.Lit(0)
	}
	return total
}

// counted names the units that the terms of a step count.
var counted = map[string]string{
	"token": "new in this step", "output": "rows with logits", "sequence": "in the batch", "pair": "of a token and what it attends to",
	"position": "in the cache, the new ones among them", "expert": "expected to be chosen, N (1 - (1 - used/N)^tokens)",
	"window_pair": "inside the window", "window_position": "inside the window", "window_2_pair": "inside the second window",
	"window_2_position": "inside the second window",
}

func (b *bound) figure(n ledger.Num, unitName string, basis ledger.Basis) *api.Explain {
	e := question.Explanation(b.book.Formula(n), n.V, basis)
	e.Unit, e.Source = unitName, "docs/formulas.md#roofs"
	return &e
}

// batches finds the batch at which arithmetic takes as long as memory: sequences × flops / peak >= (weights + sequences
// × cache) / bandwidth. Weight traffic grows more slowly than the batch, so there is one such point.
func (b *bound) batches(ridge ledger.Num) {
	b.BatchShort, _ = b.batch(ridge, 0)
	if b.decode.Sparse {
		return // cache traffic is unknown
	}
	b.Batch, b.CacheBound = b.batch(ridge, max(0, b.Context-1))
}

// batch returns the smallest number of sequences for which that holds; never reports that there is none.
func (b *bound) batch(ridge ledger.Num, cached int64) (n *api.Explain, never bool) {
	k := &b.book
	one := b.step(1, cached)
	flops, cache := k.Name("flops_per_token", b.sum("flops", b.decode.FLOPs(one))), k.Name("cache", b.sum("cache", b.decode.Cache(one)))
	spare := k.Sub(k.Div(flops, ridge), cache) // bytes of weights that can be read while one sequence is computed, beyond its cache
	weights := func(n int) []model.Term { return b.decode.Weights(b.step(int64(n), cached)) }
	const most = 1 << 40
	if spare.V*most < float64(b.job.Job.Weights.Bytes()) {
		return nil, true
	}
	found := 1 + sort.Search(most, func(i int) bool { return model.Total(weights(i+1)) <= float64(i+1)*spare.V })
	read := k.Name("weights_read", b.sum("weights", weights(found)))
	return b.figure(k.Ceil(k.Div(read, spare)), "sequences", max(ledger.Derived, b.peak.Basis, b.device.Bandwidth.Basis)), false
}

func (b *bound) note(code, severity, format string, args ...any) {
	b.Notes = append(b.Notes, api.Note{Code: code, Severity: severity, Text: fmt.Sprintf(format, args...)})
}

// remarks notes where a bound is of another device or is not binding.
func (b *bound) remarks(read unit.Bytes) {
	all, d := b.job.Job.Weights.Bytes(), b.device
	if d.Usable.Known && all > d.Usable.Value {
		b.note("does_not_fit", "warn", "the weights are %s and a program sees %s: these are the roofs of such a device with more memory",
			all, d.Usable.Value)
	}
	if d.L2.Known && read <= d.L2.Value {
		b.note("cached_weights", "warn", "the weights fit into the last-level cache of %s: they need not be read from memory, and "+
			"decoding may pass its roof", d.L2.Value)
	}
	if b.decode.Sparse {
		b.note("sparse_attention", "info", "layers choose what they read of the cache, and how much is not known: its reading and its "+
			"attention are left out, so the roofs are higher than need be")
	}
}
