package cards

import (
	"math"
	"strconv"
	"strings"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// rowsShown is how many measured rows a card draws; JSON has all.
const rowsShown = 10

// writeQuality draws measured changes against 16 bits, with the sources below.
func writeQuality(p *term.Page, head, asked string, rows []card.Quality) {
	var drawn []card.Quality
	for _, q := range rows {
		if q.Shown {
			drawn = append(drawn, q)
		}
	}
	if len(drawn) == 0 {
		return
	}
	drawn = drawn[:min(len(drawn), rowsShown)]
	tb := &term.Table{Sides: []term.Side{term.Left, term.Decimal, term.Left, term.Right, term.Left}, Remark: true, Most: map[int]int{0: 24}}
	tb.Row(term.Say(head, term.Bold), term.Say("change", term.Dim), term.Say("of", term.Dim), nil, nil)
	var sources []string
	for _, q := range drawn {
		n := cited(&sources, q.Source)
		tb.Row(term.Say(q.Model), term.Say(change(*q.Percent)), term.Say(q.Metric), term.Say("["+strconv.Itoa(n)+"]", term.Dim),
			term.Say(made(q, asked), term.Dim))
	}
	p.Blank()
	p.Add(tb)
	writeQualitySources(p, sources, len(rows)-len(drawn))
}

// cited gives the number of a source among those cited.
func cited(sources *[]string, s string) int {
	for i, have := range *sources {
		if have == s {
			return i + 1
		}
	}
	*sources = append(*sources, s)
	return len(*sources)
}

func writeQualitySources(p *term.Page, sources []string, more int) {
	for i, s := range sources {
		p.Para(term.Join(term.Pad(term.Gap), term.Say("["+strconv.Itoa(i+1)+"] ", term.Dim)), term.Say(s, term.Dim))
	}
	if more > 0 {
		p.Para(term.Pad(term.Gap), term.Say(term.Plural(int64(more), "more row", "more rows")+" with --json", term.Dim))
	}
}

// change prints percent in three digits, with its sign.
func change(percent float64) string {
	digits := 2
	switch a := math.Abs(percent); {
	case a >= 100:
		digits = 0
	case a >= 10:
		digits = 1
	}
	s := unit.Fixed(math.Abs(percent), digits)
	sign := "+"
	if percent < 0 {
		sign = "−"
	}
	if strings.Trim(s, "0.") == "" {
		sign = ""
	}
	return sign + s + " %"
}

// made says what sets a row's format apart from the one that was asked.
func made(q card.Quality, asked string) string {
	parts := []string{q.Note}
	if q.Format != asked && (q.How != "same" || q.Target == "kv") {
		parts = []string{q.Format, q.Note}
	}
	if q.Activations > 0 {
		parts = append(parts, strconv.Itoa(q.Activations)+"-bit activations")
	}
	return term.Joined(parts, "; ")
}

// writeMethod draws when to use a format.
func writeMethod(p *term.Page, of string, m *card.Method) {
	if m == nil {
		return
	}
	p.Blank()
	p.Para(term.Pad(term.Gap), term.Join(term.Say("when to use it", term.Bold), term.Say(after(of), term.Dim)))
	writeMethodFields(p, m)
}

func after(of string) string {
	if of == "" {
		return ""
	}
	return ", " + of
}

func writeMethodFields(p *term.Page, m *card.Method) {
	p.Labelled("use", m.When)
	p.Labelled("prefill", m.Prefill)
	p.Labelled("decode", m.Decode)
	p.Labelled("calibration", calibrations[string(m.Calibration)])
	p.Labelled("computes in", computes(m))
	p.Labelled("engines", strings.Join(m.Engines, ", "))
	p.Labelled("source", m.Source)
}

// calibrations are what methods ask for, in words.
var calibrations = map[string]string{
	"none": "none", "optional": "not needed; sample text makes it better", "data": "needs sample text", "training": "needs training",
}

// vendorsShown is how many vendors a card names, in the order of the catalog; JSON has all.
const vendorsShown = 4

// computes lists the hardware that multiplies in the format.
func computes(m *card.Method) string {
	if m.ComputesIn == "" {
		return ""
	}
	var vendors []string
	more := ""
	for i, v := range m.On {
		if i == vendorsShown {
			more = "; " + term.Plural(int64(len(m.On)-i), "more vendor", "more vendors")
			break
		}
		vendors = append(vendors, v.Vendor+" "+strings.Join(v.Architectures, ", "))
	}
	return arithmetics[m.ComputesIn] + " on " + strings.Join(vendors, "; ") + more + "; all else stores it and widens"
}

// Methods draws the guidance: a table, or all that is told of one method.
func Methods(list []*card.Method, filter string, st term.Style) string {
	p := term.NewPage(st)
	if len(list) == 1 {
		m := list[0]
		p.Heading(m.Name, methodBits(m), strings.Join(m.Formats, ", "))
		writeMethodFields(p, m)
		return p.String()
	}
	p.Heading(term.Plural(int64(len(list)), "way to quantise", "ways to quantise"), matching(filter))
	p.Para(term.Pad(term.Gap), term.Say("bits with scales; data: what making it takes; in: what multiplies where hardware can, else 16 "+
		"bits; memwall formats --methods NAME shows one", term.Dim))
	writeMethodTable(p, "weights", list)
	writeMethodTable(p, "kv", list)
	return p.String()
}

func writeMethodTable(p *term.Page, target string, list []*card.Method) {
	tb := &term.Table{Sides: []term.Side{term.Left, term.Left, term.Left, term.Left, term.Left}, Remark: true}
	tb.Row(term.Say(map[string]string{"weights": "weights", "kv": "KV cache"}[target], term.Bold), term.Say("bits", term.Dim),
		term.Say("data", term.Dim), term.Say("in", term.Dim), term.Say("use it for", term.Dim))
	for _, m := range list {
		if string(m.Target) == target {
			tb.Row(term.Say(m.ID), term.Say(methodBits(m)), term.Say(string(m.Calibration)), term.Say(arithmetics[m.ComputesIn]),
				term.Say(m.When, term.Dim))
		}
	}
	if len(tb.Rows) > 1 {
		p.Blank()
		p.Add(tb)
	}
}

// arithmetics are short names of what hardware multiplies in.
var arithmetics = map[string]string{"": "16", "i8": "int8", "fp8_e4m3": "fp8", "fp4_e2m1": "fp4"}

func methodBits(m *card.Method) string {
	switch {
	case m.Most == 0:
		return "any"
	case bitsShort(m.Least) == bitsShort(m.Most):
		return bitsShort(m.Least)
	}
	return bitsShort(m.Least) + "–" + bitsShort(m.Most)
}

func bitsShort(x float64) string {
	return strings.TrimSuffix(strings.TrimSuffix(unit.Fixed(x, 2), "0"), ".0")
}

// only says in a heading how many names a filter leaves that are measured alone.
func only(list []*card.Published, filter string) string {
	if filter == "" || len(list) == 0 {
		return ""
	}
	return strconv.Itoa(len(list)) + " measured only"
}

// writeMeasuredOnly draws formats that publications measure and memwall sizes none of; without a filter, how many.
func writeMeasuredOnly(p *term.Page, list []*card.Published, filter string) {
	if len(list) == 0 {
		return
	}
	p.Blank()
	if filter == "" && !p.Style.Endless {
		p.Para(term.Pad(term.Gap), term.Say(term.Plural(int64(len(list)), "more name has", "more names have")+
			" published quality alone: memwall formats WORD finds them (aqlm, hqq, exl2, kv-turbo).", term.Dim))
		return
	}
	tb := &term.Table{Sides: []term.Side{term.Left, term.Left, term.Left, term.Right}}
	tb.Row(term.Say("measured only", term.Bold), term.Say("of", term.Dim), term.Say("bits", term.Dim), term.Say("models", term.Dim))
	for _, m := range list {
		tb.Row(formatName(m.Name), term.Say(string(m.Target)), term.Say(publishedBits(m)), term.Say(strconv.Itoa(m.Models)))
	}
	p.Add(tb)
}

func publishedBits(m *card.Published) string {
	if m.Most == 0 {
		return ""
	}
	return methodBits(&card.Method{Least: m.Least, Most: m.Most})
}

// Published draws a name that publications alone use.
func Published(m *card.Published, st term.Style) string {
	p := term.NewPage(st)
	writePublished(p, m)
	return p.String()
}

func writePublished(p *term.Page, m *card.Published) {
	facts := []string{m.Note}
	if b := publishedBits(m); b != "" {
		facts = append(facts, b+" bits as published")
	}
	p.Heading(m.Name, append(facts, term.Plural(int64(m.Models), "model", "models"))...)
	p.Para(term.Pad(term.Gap), term.Say(standsFor(m)))
	writeQuality(p, "quality against 16 bits", m.Name, m.Quality)
	if !shows(m.Quality) {
		p.Blank()
		p.TerminalOnly("its sources print no value without the format: --json has theirs")
	}
}

func standsFor(m *card.Published) string {
	if m.As == "" {
		return "a name of publications: no recipe of memwall stores it"
	}
	return "rows of " + m.As + ": memwall formats " + strings.Split(m.As, "/")[0]
}

func shows(rows []card.Quality) bool {
	for _, q := range rows {
		if q.Shown {
			return true
		}
	}
	return false
}
