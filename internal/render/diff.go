package render

import (
	"cmp"
	"fmt"
	"slices"
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
	if x, y, ok := usersOf(d); ok && x != y {
		out = append(out, people(y)+lengthOf(d, d.B)+" instead of "+unit.Count(x)+lengthOf(d, d.A))
	}
	if len(out) == 0 {
		out = append(out, "the same")
	}
	return out
}

// usersOf are those that both plans have room for; ok is false where either has no bound.
func usersOf(d *memwall.Diff) (a, b int64, ok bool) {
	x, y := d.A.KV, d.B.KV
	if x == nil || y == nil || x.MaxSequences == nil || y.MaxSequences == nil {
		return 0, 0, false
	}
	return *x.MaxSequences, *y.MaxSequences, true
}

// lengthOf is " at 32k" where the two plans differ in it.
func lengthOf(d *memwall.Diff, a *memwall.Answer) string {
	if d.A.Plan.Context == d.B.Plan.Context {
		return ""
	}
	return " at " + unit.Length(int64(a.Plan.Context))
}

// follows are fields that change with another, where both have one value.
var follows = map[string]string{"devices": "hardware", "kv_v": "kv", "prompt_tokens": "context", "output_tokens": "context"}

// follower reports whether a field only follows another that is told: one that only one plan has follows its engine.
func follower(d *memwall.Diff, f *memwall.FieldDiff) bool {
	lead := follows[f.Field]
	if f.A == nil || f.B == nil {
		lead = cmp.Or(lead, "engine")
	}
	return slices.ContainsFunc(d.Fields, func(o memwall.FieldDiff) bool { return o.Field == lead })
}

// changes says in words what differs.
func changes(d *memwall.Diff) (out []string) {
	if d.A.Model.ID != d.B.Model.ID {
		out = append(out, modelName(d.B.Model)+" instead of "+modelName(d.A.Model))
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

// itemWords make words of the id of a ledger's item.
var itemWords = strings.NewReplacer("_", " ", "kv", "KV")

// diffTable is the ledgers line by line; what a pool leaves unused is no need, and stands below as free.
func (s *screen) diffTable(d *memwall.Diff) {
	tb := &table{sides: []side{left, decimal, decimal, decimal}}
	tb.row(say("GiB per device", dim), say("A", dim), say("B", dim), say("change", dim))
	for _, it := range d.Items {
		if it.ID == "pool_unused" {
			continue
		}
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
	if x, y, ok := usersOf(d); ok {
		name := "users at " + unit.Length(int64(d.A.Plan.Context))
		at, then := lengthOf(d, d.A), lengthOf(d, d.B)
		if at != "" {
			name = "users"
		}
		if s.page.st.width() < narrow {
			at, then = "", ""
		}
		tb.row(say(name), say(unit.Count(x)+at), say(unit.Count(y)+then))
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

// signed is a difference with its sign; one too small for its digits has none.
func signed(b unit.Bytes) string {
	s := gib(max(b, -b), 2)
	switch {
	case b == 0 || strings.HasPrefix(s, "<"):
		return s
	case b < 0:
		return "−" + s
	}
	return "+" + s
}
