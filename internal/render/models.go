package render

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/unit"
)

// Models draws the list of models.
func Models(rows []card.ModelRow, filter string, st Style) string {
	p := newPage(st)
	p.models(rows, filter)
	return p.String()
}

func (p *page) models(rows []card.ModelRow, filter string) {
	p.heading(plural(int64(len(rows)), "model", "models"), matching(filter))
	p.elsewhere("memwall models ID shows one; memwall fit takes files and config.json too")
	tb := &table{sides: []side{left, right, right, right, decimal, left, left}, most: map[int]int{0: 26, 5: max(8, p.st.width()-55)}}
	tb.row(say("model", dim), say("params", dim), say("active", dim), say("context", dim), say("KV KiB", dim), say("attention", dim), p.onPages("released"))
	for _, r := range rows {
		active, kv := "", ""
		if r.Active != r.Parameters {
			active = brief(r.Active)
		}
		if r.KVPerToken > 0 {
			kv = commas(unit.Fixed(float64(r.KVPerToken)/float64(unit.KiB), 1))
		}
		context := ""
		if r.Context > 0 {
			context = unit.Length(r.Context)
		}
		tb.row(say(r.ID).leads(&Place{Page: "models/" + r.ID}), say(brief(r.Parameters)), say(active), say(context), say(kv), say(r.Short), p.onPages(r.Released))
	}
	p.blank()
	p.add(tb)
	p.blank()
	p.para(pad(gap), say("KV: one more token of a long sequence, in 16 bits. Windows, and the recurrent layers of hybrids, keep a fixed size beside it.", dim))
}

func matching(filter string) string {
	if strings.TrimSpace(filter) == "" {
		return ""
	}
	return "matching " + filter
}

// Model draws the card of a model.
func Model(m *card.Model, st Style) string {
	p := newPage(st)
	p.model(m)
	return p.String()
}

func (p *page) model(m *card.Model) {
	active := "all active"
	if m.Active != m.Parameters {
		active = brief(m.Active) + " active"
	}
	name := m.Name
	if name == "" {
		name = m.ID
	}
	p.heading(name, brief(m.Parameters)+" parameters", active, trained(m.Context), m.Released)
	p.para(pad(gap), say(remembers(m)))
	p.blank()
	p.labelled("layers", layerKinds(m))
	p.labelled("width", width(m))
	p.labelled("attention", attention(m))
	if s := m.Pass; s != nil {
		p.labelled("a step", fmt.Sprintf("%s for %s tokens of a picture and %s of text", s.FLOPs, unit.Count(s.Image), unit.Count(s.Text)))
	}
	if m.Experts > 0 {
		p.labelled("experts", fmt.Sprintf("%s routed, %s used by each token", unit.Count(m.Experts), unit.Count(m.ExpertsUsed)))
	}
	p.labelled("parameters", parameters(m))
	for _, x := range m.Towers {
		if x.Name != "mtp" {
			p.labelled(x.Name, unit.Count(x.Count)+" parameters of the total")
		}
	}
	p.labelled("architecture", strings.TrimSpace(m.Architecture+" ("+m.Family+")"))
	p.labelled("source", m.Source)
	p.labelled("also called", strings.Join(m.Aliases, ", "))
	p.storedIn(m.Weights)
	p.blank()
	p.goesOn("memwall fit " + cmp.Or(m.Reference, m.ID))
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
		at = append(at, size(c.Bytes)+" at "+unit.Length(c.Context))
	}
	s := "no KV cache that grows"
	if m.KVPerToken > 0 {
		s = size(m.KVPerToken) + " of KV cache per token in 16 bits"
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
		s += ", " + brief(m.Embeddings) + " in embeddings"
	}
	if m.Tied {
		s += ", head tied"
		if m.TiedHead > 0 {
			s += " (" + brief(m.TiedHead) + " more where a file stores it twice)"
		}
	}
	if m.MTP > 0 {
		s += "; " + unit.Count(m.MTP) + " more in MTP layers"
	}
	return s
}

// storedIn is the weights in common formats.
func (p *page) storedIn(list []card.StoredIn) {
	if len(list) == 0 {
		return
	}
	tb := &table{sides: []side{left, decimal, decimal, left}}
	tb.row(say("weights in", bold), say("GiB", dim), say("bits", dim), nil)
	for _, w := range list {
		remark := ""
		if w.Published {
			remark = "as published"
		}
		tb.row(say(w.Recipe), say(gib(w.Bytes, 2)), say(unit.Fixed(w.Bits, 2)), say(remark, dim))
	}
	p.blank()
	p.add(tb)
}
