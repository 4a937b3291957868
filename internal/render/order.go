package render

import (
	"strconv"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/quality"
	"github.com/memwall/memwall/unit"
)

// Order draws the formats of a model, the least loss first.
func Order(o *card.Order, filter string, st Style) string {
	p := newPage(st)
	name := o.Name
	if name == "" {
		name = o.Model
	}
	p.heading(name, plural(int64(len(o.Formats)), "format", "formats")+", the least loss first", matching(filter))
	p.para(pad(gap), say("change: of perplexity on wikitext-2 from 16 bits, by published rows; memwall formats NAME has their sources. by bits: "+quality.ByBits+", between the neighbours that have one", dim))
	tb := &table{sides: []side{left, decimal, decimal, decimal, left}, remark: true}
	tb.row(nil, say("GiB", dim), say("bits", dim), say("change", dim), nil)
	for i := range o.Formats {
		f := &o.Formats[i]
		tb.row(say(f.Recipe), say(gib(f.Bytes, 2)), say(unit.Fixed(f.Bits, 2)), say(ranked(f)), say(rankedOn(f), dim))
	}
	p.blank()
	p.add(tb)
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
		return joined([]string{band(f.Perplexity), measuredOn(f.Perplexity)}, ", ")
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
