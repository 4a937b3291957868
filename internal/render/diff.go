package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// Diff draws two plans side by side: the differences, line by line, and what they buy.
func Diff(a *memwall.Answer, st term.Style) string {
	s := &screen{page: term.NewPage(st), a: a}
	d := a.Diff
	s.page.Para(term.Join(term.Say("B over A", term.Bold), term.Say("   ")), term.Say(strings.Join(buys(d), ", "), term.Bold))
	s.page.Para(term.Join(term.Pad(term.Gap), term.Say("A  ", term.Dim)),
		term.Say(term.MarkOf(d.A.Verdict).Word+": "+strings.Join(asked(d.A), " · "), term.Dim))
	s.page.Para(term.Join(term.Pad(term.Gap), term.Say("B  ", term.Dim)),
		term.Say(term.MarkOf(d.B.Verdict).Word+": "+strings.Join(changes(d), " · "), term.Dim))
	s.diffTable(d)
	s.page.Blank()
	s.a = d.B
	s.commands()
	s.a = a
	s.notes()
	return s.page.String()
}

// buys returns the second plan's advantages over the first: memory, speed, users.
func buys(d *memwall.Diff) (out []string) {
	switch n := d.Needed.Change; {
	case n < 0:
		out = append(out, term.GiB(-n, 1)+" GiB less per device")
	case n > 0:
		out = append(out, term.GiB(n, 1)+" GiB more per device")
	}
	if r := d.DecodeRatio; r != nil {
		out = append(out, times(r)+" the speed")
	}
	if x, y, ok := usersOf(d); ok && x != y {
		out = append(out, term.Users(y)+lengthOf(d, d.B)+" instead of "+unit.Count(x)+lengthOf(d, d.A))
	}
	if len(out) == 0 {
		out = append(out, "the same")
	}
	return out
}

// usersOf returns the users that each plan has room for; ok is false if either is unbounded.
func usersOf(d *memwall.Diff) (a, b int64, ok bool) {
	x, y := d.A.KV, d.B.KV
	if x == nil || y == nil || x.MaxSequences == nil || y.MaxSequences == nil {
		return 0, 0, false
	}
	return *x.MaxSequences, *y.MaxSequences, true
}

// lengthOf returns " at 32k" if the two plans differ in length.
func lengthOf(d *memwall.Diff, a *memwall.Answer) string {
	if d.A.Plan.Context == d.B.Plan.Context {
		return ""
	}
	return " at " + unit.Length(int64(a.Plan.Context))
}

// follows maps fields to the field that they change with, if both have one value.
var follows = map[string]string{"devices": "hardware", "kv_v": "kv", "prompt_tokens": "context", "output_tokens": "context"}

// follower reports whether a field only follows another one shown; a field that only one plan has follows its engine.
func follower(d *memwall.Diff, f *memwall.FieldDiff) bool {
	lead := follows[f.Field]
	if f.A == nil || f.B == nil {
		lead = cmp.Or(lead, "engine")
	}
	return slices.ContainsFunc(d.Fields, func(o memwall.FieldDiff) bool { return o.Field == lead })
}

// changes describes the differences in words.
func changes(d *memwall.Diff) (out []string) {
	if d.A.Model.ID != d.B.Model.ID {
		out = append(out, ModelName(d.B.Model)+" instead of "+ModelName(d.A.Model))
	}
	for i := range d.Fields {
		if f := &d.Fields[i]; f.Field != "model" && !follower(d, f) {
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

// itemWords converts the id of a ledger item to words.
var itemWords = strings.NewReplacer("_", " ", "kv", "KV")

// diffTable writes the ledgers line by line; unused pool space is not a need, and is shown below as free.
func (s *screen) diffTable(d *memwall.Diff) {
	tb := &term.Table{Sides: []term.Side{term.Left, term.Decimal, term.Decimal, term.Decimal}}
	tb.Row(term.Say("GiB per device", term.Dim), term.Say("A", term.Dim), term.Say("B", term.Dim), term.Say("change", term.Dim))
	for _, it := range d.Items {
		if it.ID == "pool_unused" {
			continue
		}
		tb.Row(term.Say(itemWords.Replace(it.ID)), term.Say(term.GiB(it.A, 2)), term.Say(term.GiB(it.B, 2)),
			term.Say(signed(it.Change), term.Dim))
	}
	row := func(name string, it *memwall.ItemDiff, look term.Ink) {
		tb.Row(term.Say(name, look), term.Say(term.GiB(it.A, 2), look), term.Say(term.GiB(it.B, 2), look),
			term.Say(signed(it.Change), term.Dim))
	}
	row("needed", &d.Needed, term.Bold)
	if d.A.Devices[0].Usable > 0 && d.B.Devices[0].Usable > 0 {
		row("free", &d.Headroom, term.Plain)
	}
	s.page.Blank()
	s.page.Add(tb)
	s.diffRates(d)
}

// diffRates writes users, speeds and quality; narrow screens have no bands.
func (s *screen) diffRates(d *memwall.Diff) {
	tb := &term.Table{Sides: []term.Side{term.Left, term.Left, term.Left, term.Left}}
	if x, y, ok := usersOf(d); ok {
		name := "users at " + unit.Length(int64(d.A.Plan.Context))
		at, then := lengthOf(d, d.A), lengthOf(d, d.B)
		if at != "" {
			name = "users"
		}
		if s.page.Style.Cells() < term.Narrow {
			at, then = "", ""
		}
		tb.Row(term.Say(name), term.Say(unit.Count(x)+at), term.Say(unit.Count(y)+then))
	}
	if x, y := d.A.Speed, d.B.Speed; x != nil && y != nil {
		s.rate(tb, "decode, tok/s", rated{x.Decode, x.DecodeLow, x.DecodeHigh}, rated{y.Decode, y.DecodeLow, y.DecodeHigh}, d.DecodeRatio)
		s.rate(tb, "TTFT, ms", rated{x.TTFT, x.TTFTLow, x.TTFTHigh}, rated{y.TTFT, y.TTFTLow, y.TTFTHigh}, d.FirstRatio)
		s.rate(tb, "$ per million", rated{x.USDPerMillion, x.USDPerMillionLow, x.USDPerMillionHigh},
			rated{y.USDPerMillion, y.USDPerMillionLow, y.USDPerMillionHigh}, d.CostRatio)
	}
	if len(tb.Rows) > 0 {
		s.page.Blank()
		s.page.Add(tb)
	}
	s.page.Para(term.Join(term.Pad(term.Gap), term.Say("quality  ", term.Dim)), term.Say(qualityWords(d.Quality)))
}

// rated is a speed or cost with its band.
type rated struct{ mid, low, high *float64 }

func (s *screen) rate(tb *term.Table, name string, a, b rated, ratio *float64) {
	if a.mid != nil && b.mid != nil {
		tb.Row(term.Say(name), term.Say(s.ranged(a)), term.Say(s.ranged(b)), term.Say(times(ratio)))
	}
}

// qualityWords describes the quality change of B's formats, and what it was measured on.
func qualityWords(q *memwall.Quality) string {
	if q == nil {
		return "nobody measured the difference, or there is none"
	}
	return qualityOf(q) + ", measured on " + q.MeasuredOn
}

// ranged formats a figure with its band, if there is room.
func (s *screen) ranged(r rated) string {
	out := term.Significant(*r.mid, 2)
	if s.page.Style.Cells() < term.DefaultWidth || r.low == nil || r.high == nil {
		return out
	}
	return out + " (" + term.Significant(*r.low, 2) + "–" + term.Significant(*r.high, 2) + ")"
}

// signed formats a difference with its sign; one too small for its digits has none.
func signed(b unit.Bytes) string {
	s := term.GiB(max(b, -b), 2)
	switch {
	case b == 0 || strings.HasPrefix(s, "<"):
		return s
	case b < 0:
		return "−" + s
	}
	return "+" + s
}
