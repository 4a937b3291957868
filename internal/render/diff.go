package render

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/unit"
)

// Diff draws two plans beside each other: what is other, line by line, and what it buys.
func Diff(a *memwall.Answer, st Style) string {
	s := &screen{page: newPage(st), a: a}
	d := a.Diff
	s.page.para(join(say("B over A", bold), say("   ")), say(strings.Join(buys(d), ", "), bold))
	s.page.para(join(pad(gap), say("A  ", dim)), say(markOf(d.A.Verdict).word+": "+strings.Join(asked(d.A), " · "), dim))
	s.page.para(join(pad(gap), say("B  ", dim)), say(markOf(d.B.Verdict).word+": "+strings.Join(changes(d), " · "), dim))
	s.diffTable(d)
	s.page.blank()
	s.a = d.B
	s.commands()
	s.a = a
	s.notes()
	return s.page.String()
}

// buys says what the second plan has over the first: bytes, speed, users.
func buys(d *memwall.Diff) (out []string) {
	switch n := d.Needed.Change; {
	case n < 0:
		out = append(out, gib(-n, 1)+" GiB less per device")
	case n > 0:
		out = append(out, gib(n, 1)+" GiB more per device")
	}
	if r := d.DecodeRatio; r != nil {
		out = append(out, times(r)+" the speed")
	}
	if x, y := d.A.KV, d.B.KV; x != nil && y != nil && x.MaxSequences != nil && y.MaxSequences != nil && *x.MaxSequences != *y.MaxSequences {
		out = append(out, people(*y.MaxSequences)+" instead of "+unit.Count(*x.MaxSequences))
	}
	if len(out) == 0 {
		out = append(out, "the same")
	}
	return out
}

// changes says in words what differs.
func changes(d *memwall.Diff) (out []string) {
	if d.A.Model.ID != d.B.Model.ID {
		out = append(out, modelName(d.B.Model)+" instead of "+modelName(d.A.Model))
	}
	for _, f := range d.Fields {
		if f.Field != "model" && len(out) < 4 {
			out = append(out, fmt.Sprintf("%s %s → %s", f.Field, valueOf(f.A), valueOf(f.B)))
		}
	}
	if len(out) == 0 {
		out = append(out, "nothing differs")
	}
	return out
}

func valueOf(v any) string {
	if v == nil {
		return "—"
	}
	return fmt.Sprint(v)
}

// itemWords make words of the id of a ledger's item.
var itemWords = strings.NewReplacer("_", " ", "kv", "KV")

func (s *screen) diffTable(d *memwall.Diff) {
	tb := &table{sides: []side{left, decimal, decimal, decimal}}
	tb.row(say("GiB per device", dim), say("A", dim), say("B", dim), say("change", dim))
	for _, it := range d.Items {
		tb.row(say(itemWords.Replace(it.ID)), say(gib(it.A, 2)), say(gib(it.B, 2)), say(signed(it.Change), dim))
	}
	row := func(name string, it *memwall.ItemDiff, look ink) {
		tb.row(say(name, look), say(gib(it.A, 2), look), say(gib(it.B, 2), look), say(signed(it.Change), dim))
	}
	row("needed", &d.Needed, bold)
	if d.A.Devices[0].Usable > 0 && d.B.Devices[0].Usable > 0 {
		row("free", &d.Headroom, plain)
	}
	s.page.blank()
	s.page.add(tb)
	s.diffRates(d)
}

// diffRates are users, speeds and quality; narrow screens have no bands.
func (s *screen) diffRates(d *memwall.Diff) {
	tb := &table{sides: []side{left, left, left, left}}
	if x, y := d.A.KV, d.B.KV; x != nil && y != nil && x.MaxSequences != nil && y.MaxSequences != nil {
		tb.row(say("users at "+unit.Length(int64(d.A.Plan.Context))), say(unit.Count(*x.MaxSequences)), say(unit.Count(*y.MaxSequences)))
	}
	if x, y := d.A.Speed, d.B.Speed; x != nil && y != nil {
		s.rate(tb, "decode, tok/s", rated{x.Decode, x.DecodeLow, x.DecodeHigh}, rated{y.Decode, y.DecodeLow, y.DecodeHigh}, d.DecodeRatio)
		s.rate(tb, "first token, ms", rated{x.TTFT, x.TTFTLow, x.TTFTHigh}, rated{y.TTFT, y.TTFTLow, y.TTFTHigh}, d.FirstRatio)
		s.rate(tb, "$ per million", rated{x.USDPerMillion, x.USDPerMillionLow, x.USDPerMillionHigh}, rated{y.USDPerMillion, y.USDPerMillionLow, y.USDPerMillionHigh}, d.CostRatio)
	}
	if len(tb.rows) > 0 {
		s.page.blank()
		s.page.add(tb)
	}
	s.page.para(join(pad(gap), say("quality  ", dim)), say(qualityWords(d.Quality)))
}

// rated is a figure of speed or cost with its band.
type rated struct{ mid, low, high *float64 }

func (s *screen) rate(tb *table, name string, a, b rated, ratio *float64) {
	if a.mid != nil && b.mid != nil {
		tb.row(say(name), say(s.ranged(a)), say(s.ranged(b)), say(times(ratio)))
	}
}

// qualityWords say what B's formats change, and on what that was measured.
func qualityWords(q *memwall.Quality) string {
	if q == nil {
		return "nobody measured the difference, or there is none"
	}
	return qualityOf(q) + ", measured on " + q.MeasuredOn
}

// ranged is a figure with its band, where there is room for it.
func (s *screen) ranged(r rated) string {
	out := significant(*r.mid, 2)
	if s.page.st.width() < defaultWidth || r.low == nil || r.high == nil {
		return out
	}
	return out + " (" + significant(*r.low, 2) + "–" + significant(*r.high, 2) + ")"
}

// signed is a difference with its sign.
func signed(b unit.Bytes) string {
	switch {
	case b == 0:
		return "0.00"
	case b < 0:
		return "−" + gib(-b, 2)
	}
	return "+" + gib(b, 2)
}
