package render

import (
	"math"
	"strconv"
	"strings"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/unit"
)

// rowsShown is how many measured rows a card draws; JSON has all.
const rowsShown = 10

// quality draws measured changes against 16 bits, with the sources below.
func (p *page) quality(head, asked string, rows []card.Quality) {
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
	tb := &table{sides: []side{left, decimal, left, right, left}, remark: true, most: map[int]int{0: 24}}
	tb.row(say(head, bold), say("change", dim), say("of", dim), nil, nil)
	var sources []string
	for _, q := range drawn {
		n := cited(&sources, q.Source)
		tb.row(say(q.Model), say(change(*q.Percent)), say(q.Metric), say("["+strconv.Itoa(n)+"]", dim), say(made(q, asked), dim))
	}
	p.blank()
	p.add(tb)
	p.qualitySources(sources, len(rows)-len(drawn))
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

func (p *page) qualitySources(sources []string, more int) {
	for i, s := range sources {
		p.para(join(pad(gap), say("["+strconv.Itoa(i+1)+"] ", dim)), say(s, dim))
	}
	if more > 0 {
		p.para(pad(gap), say(plural(int64(more), "more row", "more rows")+" with --json", dim))
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
	return joined(parts, "; ")
}

// method draws when to use a format.
func (p *page) method(of string, m *card.Method) {
	if m == nil {
		return
	}
	p.blank()
	p.para(pad(gap), join(say("when to use it", bold), say(after(of), dim)))
	p.methodFields(m)
}

func after(of string) string {
	if of == "" {
		return ""
	}
	return ", " + of
}

func (p *page) methodFields(m *card.Method) {
	p.labelled("use", m.When)
	p.labelled("prefill", m.Prefill)
	p.labelled("decode", m.Decode)
	p.labelled("calibration", calibrations[string(m.Calibration)])
	p.labelled("computes in", computes(m))
	p.labelled("engines", strings.Join(m.Engines, ", "))
	p.labelled("source", m.Source)
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
			more = "; " + plural(int64(len(m.On)-i), "more vendor", "more vendors")
			break
		}
		vendors = append(vendors, v.Vendor+" "+strings.Join(v.Architectures, ", "))
	}
	return arithmetics[m.ComputesIn] + " on " + strings.Join(vendors, "; ") + more + "; all else stores it and widens"
}

// Methods draws the guidance: a table, or all that is told of one method.
func Methods(list []*card.Method, filter string, st Style) string {
	p := newPage(st)
	if len(list) == 1 {
		m := list[0]
		p.heading(m.Name, methodBits(m), strings.Join(m.Formats, ", "))
		p.methodFields(m)
		return p.String()
	}
	p.heading(plural(int64(len(list)), "way to quantise", "ways to quantise"), matching(filter))
	p.para(pad(gap), say("bits with scales; data: what making it takes; in: what multiplies where hardware can, else 16 bits; memwall formats --methods NAME shows one", dim))
	p.methodTable("weights", list)
	p.methodTable("kv", list)
	return p.String()
}

func (p *page) methodTable(target string, list []*card.Method) {
	tb := &table{sides: []side{left, left, left, left, left}, remark: true}
	tb.row(say(map[string]string{"weights": "weights", "kv": "KV cache"}[target], bold), say("bits", dim), say("data", dim), say("in", dim), say("use it for", dim))
	for _, m := range list {
		if string(m.Target) == target {
			tb.row(say(m.ID), say(methodBits(m)), say(string(m.Calibration)), say(arithmetics[m.ComputesIn]), say(m.When, dim))
		}
	}
	if len(tb.rows) > 1 {
		p.blank()
		p.add(tb)
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

// measuredOnly draws formats that publications measure and memwall sizes none of; without a filter, how many.
func (p *page) measuredOnly(list []*card.Published, filter string) {
	if len(list) == 0 {
		return
	}
	p.blank()
	if filter == "" && !p.st.endless {
		p.para(pad(gap), say(plural(int64(len(list)), "more name has", "more names have")+" published quality alone: memwall formats WORD finds them (aqlm, hqq, exl2, kv-turbo).", dim))
		return
	}
	tb := &table{sides: []side{left, left, left, right}}
	tb.row(say("measured only", bold), say("of", dim), say("bits", dim), say("models", dim))
	for _, m := range list {
		tb.row(formatName(m.Name), say(string(m.Target)), say(publishedBits(m)), say(strconv.Itoa(m.Models)))
	}
	p.add(tb)
}

func publishedBits(m *card.Published) string {
	if m.Most == 0 {
		return ""
	}
	return methodBits(&card.Method{Least: m.Least, Most: m.Most})
}

// Published draws a name that publications alone use.
func Published(m *card.Published, st Style) string {
	p := newPage(st)
	p.published(m)
	return p.String()
}

func (p *page) published(m *card.Published) {
	facts := []string{m.Note}
	if b := publishedBits(m); b != "" {
		facts = append(facts, b+" bits as published")
	}
	p.heading(m.Name, append(facts, plural(int64(m.Models), "model", "models"))...)
	p.para(pad(gap), say(standsFor(m)))
	p.quality("quality against 16 bits", m.Name, m.Quality)
	if !shows(m.Quality) {
		p.blank()
		p.elsewhere("its sources print no value without the format: --json has theirs")
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
