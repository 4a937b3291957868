package render

import (
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// Roof draws a device's upper bounds for a model: two sentences, then every figure with its formula.
func Roof(r *memwall.Roof, st term.Style) string {
	p := term.NewPage(st)
	p.Heading(r.Device, r.Model, r.Weights, "KV "+r.KV, unit.Length(r.Context))
	p.Para(term.Pad(term.Gap), term.Say(roofLine(r)))
	p.Para(term.Pad(term.Gap), term.Say("Roofs, not predictions: what must be read and multiplied at full rates, without speculation.",
		term.Dim))
	for _, n := range r.Notes {
		p.Para(term.Pad(term.Gap), term.Say(n.Text))
	}
	at := unit.Length(r.Context)
	writeBounds(p, "one token of one user", []bounded{
		{"weights read", r.WeightsRead, ""}, {"cache at " + at, r.Cache, ""}, {"bytes", r.Bytes, ""}, {"decodes", r.Decode, "at most "},
	})
	writeBounds(p, "arithmetic", []bounded{
		{"a token at " + at, r.FLOPs, ""}, {"a token of a prompt of " + at, r.PromptFLOPs, ""}, {"reads a prompt", r.Prompt, "at most "},
	})
	writeBounds(p, "users until arithmetic takes as long as memory",
		[]bounded{{"with an empty cache", r.BatchShort, "from "}, {"at " + at, r.Batch, "from "}})
	if r.CacheBound {
		p.Para(term.Pad(term.Gap), term.Say("at "+at+" never at the "+r.Arithmetic+" peak: reading a user's cache takes longer than its "+
			"arithmetic, so more users come no closer"))
	}
	return p.String()
}

// bounded is a figure with its introduction.
type bounded struct {
	name   string
	figure *memwall.Explain
	lead   string
}

func writeBounds(p *term.Page, title string, list []bounded) {
	p.Blank()
	p.Para(nil, term.Say(title, term.Bold))
	for _, b := range list {
		if b.figure == nil {
			continue
		}
		writeDropTo(p, term.Join(term.Pad(term.Gap), term.Say(b.name)),
			term.Join(term.Say(b.lead+quantity(b.figure), term.Bold), term.Pad(term.Gap), term.Say(b.figure.Basis.String(), term.Dim)))
		(&screen{page: p}).formula(b.figure)
	}
}

// roofLine writes line 2: both roofs, or what is unknown.
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

// quantity formats a figure in a suitable unit.
func quantity(e *memwall.Explain) string {
	switch e.Unit {
	case "B":
		return term.Size(unit.Bytes(e.Value))
	case "FLOP":
		return unit.FLOPs(e.Value).String()
	case "sequences":
		return term.Plural(int64(e.Value), "user", "users")
	}
	return unit.Rate(e.Value) + " " + e.Unit
}

// Why draws what each figure of a device determines.
func Why(h *card.Hardware, st term.Style) string {
	p := term.NewPage(st)
	p.Heading(h.Name)
	p.Para(term.Pad(term.Gap), term.Say("what each figure decides"))
	tb := &term.Table{Sides: []term.Side{term.Left, term.Right, term.Left}, Remark: true}
	for _, w := range h.Why {
		tb.Row(term.Say(w.Name), term.Say(Figure(w.Fact), term.Bold), term.Say(w.Text))
	}
	p.Blank()
	p.Add(tb)
	p.Blank()
	p.Para(term.Pad(term.Gap), term.Say("memwall hardware "+h.ID+
		" --for MODEL puts a model under its roofs; — is a figure without a source", term.Dim))
	return p.String()
}

// Figure formats a fact in a suitable unit; unknown is a dash.
func Figure(f *card.Fact) string {
	if f == nil {
		return "—"
	}
	switch f.Unit {
	case "B":
		return term.Size(unit.Bytes(f.Value))
	case "B/s":
		return unit.ByteRate(f.Value).String()
	case "FLOP/s":
		return unit.FLOPRate(f.Value).String()
	case "s":
		return unit.Seconds(f.Value).String()
	case "W":
		return unit.Rate(f.Value) + " W"
	}
	return strings.TrimSpace(unit.Rate(f.Value) + " " + f.Unit)
}
