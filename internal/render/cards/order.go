package cards

import (
	"strconv"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/quality"
	"github.com/memwall/memwall/unit"
)

// Order draws the formats of a model, the least loss first.
func Order(o *card.Order, filter string, st term.Style) string {
	p := term.NewPage(st)
	name := o.Name
	if name == "" {
		name = o.Model
	}
	p.Heading(name, term.Plural(int64(len(o.Formats)), "format", "formats")+", the least loss first", matching(filter))
	p.Para(term.Pad(term.Gap), term.Say("change: of perplexity on wikitext-2 from 16 bits, by published rows; memwall formats NAME has "+
		"their sources. by bits: "+quality.ByBits+", between the neighbours that have one", term.Dim))
	tb := &term.Table{Sides: []term.Side{term.Left, term.Decimal, term.Decimal, term.Decimal, term.Left}, Remark: true}
	tb.Row(nil, term.Say("GiB", term.Dim), term.Say("bits", term.Dim), term.Say("change", term.Dim), nil)
	for i := range o.Formats {
		f := &o.Formats[i]
		tb.Row(term.Say(f.Recipe), term.Say(term.GiB(f.Bytes, 2)), term.Say(unit.Fixed(f.Bits, 2)), term.Say(ranked(f)),
			term.Say(rankedOn(f), term.Dim))
	}
	p.Blank()
	p.Add(tb)
	return p.String()
}

// ranked is the change that placed a format; unknown is a dash.
func ranked(f *card.Ranked) string {
	if f.Guess != "" || f.Perplexity == nil {
		return "—"
	}
	return change(f.Perplexity.Mid)
}

// rankedOn says what is behind a place.
func rankedOn(f *card.Ranked) string {
	switch {
	case f.Published:
		return "as published"
	case f.Guess == "" && f.Perplexity != nil:
		return term.Joined([]string{band(f.Perplexity), measuredOn(f.Perplexity)}, ", ")
	case f.Perplexity != nil:
		return guess(f) + aside(f.Perplexity)
	case f.Accuracy != nil:
		return guess(f) + aside(f.Accuracy)
	}
	return guess(f)
}

func guess(f *card.Ranked) string {
	if f.Guess == quality.ByBits {
		return "by bits"
	}
	return f.Guess
}

// aside is a change that decides no place, for it is of another metric.
func aside(m *card.Moved) string {
	return "; " + change(m.Mid) + " " + m.Metric + ", " + measuredOn(m)
}

// band is the range of a change, where rows differ.
func band(m *card.Moved) string {
	if m.Rows < 2 || change(m.Low) == change(m.High) {
		return ""
	}
	return change(m.Low) + " to " + change(m.High)
}

func measuredOn(m *card.Moved) string {
	if m.Models > 1 && m.Level != quality.Exact.String() {
		return strconv.Itoa(m.Models) + " models of its " + m.Level
	}
	return m.On
}
