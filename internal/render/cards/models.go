package cards

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// Models draws the list of models.
func Models(rows []card.ModelRow, filter string, st term.Style) string {
	p := term.NewPage(st)
	writeModels(p, rows, filter)
	return p.String()
}

func writeModels(p *term.Page, rows []card.ModelRow, filter string) {
	p.Heading(term.Plural(int64(len(rows)), "model", "models"), matching(filter))
	p.TerminalOnly("memwall models ID shows one; memwall fit takes files and config.json too")
	tb := &term.Table{Sides: []term.Side{term.Left, term.Right, term.Right, term.Right, term.Decimal, term.Left, term.Left},
		Most: map[int]int{0: 26, 5: max(8, p.Style.Cells()-64)}}
	tb.Row(term.Say("model", term.Dim), term.Say("params", term.Dim), term.Say("active", term.Dim), term.Say("context", term.Dim),
		term.Say("KV KiB", term.Dim), term.Say("attention", term.Dim), onPages(p, "released"))
	for _, r := range rows {
		active, kv := "", ""
		if r.Active != r.Parameters {
			active = term.Brief(r.Active)
		}
		if r.KVPerToken > 0 {
			kv = term.Commas(unit.Fixed(float64(r.KVPerToken)/float64(unit.KiB), 1))
		}
		context := ""
		if r.Context > 0 {
			context = shortLength(r.Context)
		}
		tb.Row(term.Say(r.ID).LinkTo(&term.Place{Page: "models/" + r.ID}), term.Say(term.Brief(r.Parameters)), term.Say(active),
			term.Say(context), term.Say(kv), term.Say(r.Short), onPages(p, r.Released))
	}
	p.Blank()
	p.Add(tb)
	p.Blank()
	p.Para(term.Pad(term.Gap), term.Say("KV: one more token of a long sequence, in 16 bits. Windows, and the recurrent layers of "+
		"hybrids, keep a fixed size beside it.", term.Dim))
}

// shortLength is a context in a column: 128k, and 10.2M of what is not a power of two.
func shortLength(n int64) string {
	if s := unit.Length(n); term.Cells(s) <= len("context") {
		return s
	}
	return term.Brief(n)
}

func matching(filter string) string {
	if strings.TrimSpace(filter) == "" {
		return ""
	}
	return "matching " + filter
}

// Model draws the card of a model.
func Model(m *card.Model, st term.Style) string {
	p := term.NewPage(st)
	writeModel(p, m)
	return p.String()
}

func writeModel(p *term.Page, m *card.Model) {
	active := "all active"
	if m.Active != m.Parameters {
		active = term.Brief(m.Active) + " active"
	}
	name := m.Name
	if name == "" {
		name = m.ID
	}
	p.Heading(name, term.Brief(m.Parameters)+" parameters", active, trained(m.Context), m.Released)
	p.Para(term.Pad(term.Gap), term.Say(remembers(m)))
	p.Blank()
	p.Labelled("layers", layerKinds(m))
	p.Labelled("width", width(m))
	p.Labelled("attention", attention(m))
	if s := m.Pass; s != nil {
		p.Labelled("a step", fmt.Sprintf("%s for %s tokens of a picture and %s of text", s.FLOPs, unit.Count(s.Image), unit.Count(s.Text)))
	}
	if m.Experts > 0 {
		p.Labelled("experts", fmt.Sprintf("%s routed, %s used by each token", unit.Count(m.Experts), unit.Count(m.ExpertsUsed)))
	}
	p.Labelled("parameters", parameters(m))
	for _, x := range m.Towers {
		if x.Name != "mtp" {
			p.Labelled(x.Name, unit.Count(x.Count)+" parameters of the total")
		}
	}
	p.Labelled("architecture", strings.TrimSpace(m.Architecture+" ("+m.Family+")"))
	p.Labelled("source", m.Source)
	p.Labelled("also called", strings.Join(m.Aliases, ", "))
	writeStoredIn(p, m.Weights)
	p.Blank()
	writeGoesOn(p, "memwall fit "+cmp.Or(m.Reference, m.ID))
}

func trained(context int64) string {
	if context == 0 {
		return ""
	}
	return "trained to " + unit.Length(context)
}

// remembers is line 2 of a model's card: its cache.
func remembers(m *card.Model) string {
	var at []string
	for _, c := range m.Caches {
		at = append(at, term.Size(c.Bytes)+" at "+unit.Length(c.Context))
	}
	s := "no KV cache that grows"
	if m.KVPerToken > 0 {
		s = term.Size(m.KVPerToken) + " of KV cache per token in 16 bits"
	}
	if len(at) > 0 {
		s += ": " + strings.Join(at, ", ")
	}
	return s
}

func width(m *card.Model) string {
	s := "hidden " + unit.Count(m.Hidden)
	if m.Vocabulary > 0 {
		s += ", vocabulary " + unit.Count(m.Vocabulary)
	}
	return s
}

func layerKinds(m *card.Model) string {
	var out []string
	n := int64(0)
	for _, k := range m.Layers {
		n += k.Count
		out = append(out, unit.Count(k.Count)+" × "+k.Name)
	}
	switch len(out) {
	case 0:
		return "none"
	case 1:
		return unit.Count(n) + ": " + m.Layers[0].Name
	}
	return unit.Count(n) + ": " + strings.Join(out, ", ")
}

func attention(m *card.Model) string {
	if m.HeadDim == 0 {
		return m.Attention
	}
	return m.Attention + ", head dimension " + unit.Count(m.HeadDim)
}

func parameters(m *card.Model) string {
	s := unit.Count(m.Parameters)
	if m.Embeddings > 0 {
		s += ", " + term.Brief(m.Embeddings) + " in embeddings"
	}
	if m.Tied {
		s += ", head tied"
		if m.TiedHead > 0 {
			s += " (" + term.Brief(m.TiedHead) + " more where a file stores it twice)"
		}
	}
	if m.MTP > 0 {
		s += "; " + unit.Count(m.MTP) + " more in MTP layers"
	}
	return s
}

// writeStoredIn is the weights in common formats.
func writeStoredIn(p *term.Page, list []card.StoredIn) {
	if len(list) == 0 {
		return
	}
	tb := &term.Table{Sides: []term.Side{term.Left, term.Decimal, term.Decimal, term.Left}}
	tb.Row(term.Say("weights in", term.Bold), term.Say("GiB", term.Dim), term.Say("bits", term.Dim), nil)
	for _, w := range list {
		remark := ""
		if w.Published {
			remark = "as published"
		}
		tb.Row(term.Say(w.Recipe), term.Say(term.GiB(w.Bytes, 2)), term.Say(unit.Fixed(w.Bits, 2)), term.Say(remark, term.Dim))
	}
	p.Blank()
	p.Add(tb)
}
