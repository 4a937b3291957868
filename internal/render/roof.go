package render

import (
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/unit"
)

// Roof draws what a device allows a model at most: two sentences, then every figure with its formula.
func Roof(r *memwall.Roof, st Style) string {
	p := newPage(st)
	p.heading(r.Device, r.Model, r.Weights, "KV "+r.KV, unit.Length(r.Context))
	p.para(pad(gap), say(roofLine(r)))
	p.para(pad(gap), say("Roofs, not predictions: what must be read and multiplied at full rates, without speculation.", dim))
	for _, n := range r.Notes {
		p.para(pad(gap), say(n.Text))
	}
	at := unit.Length(r.Context)
	p.bounds("one token of one user", []bounded{
		{"weights read", r.WeightsRead, ""}, {"cache at " + at, r.Cache, ""}, {"bytes", r.Bytes, ""}, {"decodes", r.Decode, "at most "},
	})
	p.bounds("arithmetic", []bounded{
		{"a token at " + at, r.FLOPs, ""}, {"a token of a prompt of " + at, r.PromptFLOPs, ""}, {"reads a prompt", r.Prompt, "at most "},
	})
	p.bounds("users until arithmetic takes as long as memory", []bounded{{"with an empty cache", r.BatchShort, "from "}, {"at " + at, r.Batch, "from "}})
	if r.CacheBound {
		p.para(pad(gap), say("at "+at+" never at the "+r.Arithmetic+" peak: reading a user's cache takes longer than its arithmetic, so more users come no closer"))
	}
	return p.String()
}

// bounded is a figure with the words before it.
type bounded struct {
	name   string
	figure *memwall.Explain
	lead   string
}

func (p *page) bounds(title string, list []bounded) {
	p.blank()
	p.para(nil, say(title, bold))
	for _, b := range list {
		if b.figure == nil {
			continue
		}
		p.dropTo(join(pad(gap), say(b.name)), join(say(b.lead+quantity(b.figure), bold), pad(gap), say(b.figure.Basis.String(), dim)))
		(&screen{page: p}).formula(b.figure)
	}
}

// roofLine is line 2: both roofs, or what is not known.
func roofLine(r *memwall.Roof) string {
	var out []string
	if r.Decode != nil {
		out = append(out, "decodes at most "+quantity(r.Decode)+" for one user")
	}
	if r.Prompt != nil {
		out = append(out, "reads prompts at most at "+quantity(r.Prompt)+" in "+r.Arithmetic)
	}
	if len(out) == 0 {
		return "neither its bandwidth nor its arithmetic is known: no roof"
	}
	return strings.Join(out, "; ")
}

// quantity prints a figure in the unit that suits it.
func quantity(e *memwall.Explain) string {
	switch e.Unit {
	case "B":
		return size(unit.Bytes(e.Value))
	case "FLOP":
		return unit.FLOPs(e.Value).String()
	case "sequences":
		return plural(int64(e.Value), "user", "users")
	}
	return unit.Rate(e.Value) + " " + e.Unit
}

// Why draws what each figure of a device decides.
func Why(h *card.Hardware, st Style) string {
	p := newPage(st)
	p.heading(h.Name)
	p.para(pad(gap), say("what each figure decides"))
	tb := &table{sides: []side{left, right, left}, remark: true}
	for _, w := range h.Why {
		tb.row(say(w.Name), say(figure(w.Fact), bold), say(w.Text))
	}
	p.blank()
	p.add(tb)
	p.blank()
	p.para(pad(gap), say("memwall hardware "+h.ID+" --for MODEL puts a model under its roofs; — is a figure without a source", dim))
	return p.String()
}
