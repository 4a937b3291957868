package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// Compare draws what an engine printed next to the prediction.
func Compare(a *memwall.Answer, all bool, st term.Style) string {
	p := term.NewPage(st)
	Compared(p, a, all)
	return p.String()
}

// Compared writes what Compare draws; all includes every note.
func Compared(p *term.Page, a *memwall.Answer, all bool) {
	writeCompareHead(p, a)
	for _, u := range unitsOf(a.Compare) {
		p.Blank()
		writeCompareTable(p, a.Compare, u, a.ComparedWith)
	}
	writeOperators(p, a.Operators)
	writeUnprinted(p, a.Compare)
	writeCompareNotes(p, a, all)
}

// writeCompareHead writes how many figures are equal, and how the log was interpreted.
func writeCompareHead(p *term.Page, a *memwall.Answer) {
	equal, within, inside, both := 0, 0, 0, 0
	for i := range a.Compare {
		if l := &a.Compare[i]; l.Printed != nil && l.Ours != nil {
			both++
			if l.Within {
				inside++
			}
			switch {
			case l.Equal:
				equal++
			case l.Within:
				within++
			}
		}
	}
	ran := a.ComparedWith == "trace" || strings.HasPrefix(a.ComparedWith, "memory_")
	good := equal
	if ran || a.ComparedWith == "server" {
		good = inside
	}
	m := term.Mark{Sign: '✓', Word: "", Ink: term.Bold}
	switch {
	case both == 0:
		m = term.Mark{Sign: '?', Word: "", Ink: term.InkUnknown}
	case good < both:
		m = term.Mark{Sign: '~', Word: "", Ink: term.InkTight}
	}
	words := fmt.Sprintf("%d of %s equal to the last printed digit", equal, term.Plural(int64(both), "figure", "figures"))
	switch {
	case both == 0:
		words = "nothing to compare with: " + term.Plural(int64(len(a.Compare)), "figure", "figures") + " of the " +
			cmp.Or(tellers[a.ComparedWith], "log") + " alone"
	case ran:
		words = fmt.Sprintf("%d of %s inside memwall's bands", inside, term.Plural(int64(both), "figure", "figures"))
	case within > 0:
		words += fmt.Sprintf(", %d inside the band", within)
	}
	p.Dotted(term.Say(string(m.Sign)+" ", m.Ink), []string{words})
	p.Para(term.Pad(term.Gap), term.Say(a.ReadAs))
}

// unitsOf lists the units of figures in the order of the log.
func unitsOf(lines []memwall.Line) (out []string) {
	for i := range lines {
		if l := &lines[i]; l.Printed != nil && !slices.Contains(out, l.Unit) {
			out = append(out, l.Unit)
		}
	}
	return out
}

// tellers are the sources of the measured figures.
var tellers = map[string]string{"server": "server", "trace": "trace", "memory_summary": "summary", "memory_stats": "statistics",
	"memory_snapshot": "snapshot"}

// columnOf maps sources to the head of the measured column.
var columnOf = map[string]string{"server": "server", "trace": "trace", "memory_summary": "torch", "memory_stats": "torch",
	"memory_snapshot": "held"}

func writeCompareTable(p *term.Page, lines []memwall.Line, u, with string) {
	tb := &term.Table{Sides: []term.Side{term.Left, term.Decimal, term.Decimal, term.Decimal, term.Left}, Remark: true,
		Most: map[int]int{0: 34}}
	head := u
	if head == "" {
		head = "figures"
	}
	tb.Row(term.Say(head, term.Dim), term.Say(cmp.Or(columnOf[with], "log"), term.Dim), term.Say("ours", term.Dim),
		term.Say("off", term.Dim), term.Say(""))
	for i := range lines {
		if l := &lines[i]; l.Printed != nil && l.Unit == u {
			writeCompared(tb, l)
		}
	}
	p.Add(tb)
}

func writeCompared(tb *term.Table, l *memwall.Line) {
	printed := inDigits(*l.Printed, l.Digits)
	if l.Ours == nil {
		tb.Row(term.Say(figureName(l)), term.Say(printed), term.Say("—", term.Dim), term.Say(""), term.Say(l.Why, term.Dim))
		return
	}
	off, remark := difference(*l.Difference, l.Digits), term.Text(nil)
	from := "from the printed "
	switch {
	case l.Equal && l.Given != "" && unit.Fixed(*l.Ours, l.Digits) != unit.Fixed(*l.Printed, l.Digits):
		from = "inside the rounding of "
	case l.Equal:
		off = unit.Fixed(0, l.Digits)
	case l.Within:
		remark = term.Say("inside the band ", term.Dim)
	default:
		remark = term.Say("✗ ", term.InkBad)
	}
	if l.Given != "" {
		remark = term.Join(remark, term.Say(from+l.Given, term.Dim))
	}
	tb.Row(term.Say(figureName(l)), term.Say(printed), term.Say(inDigits(*l.Ours, l.Digits)), term.Say(off), remark)
}

func figureName(l *memwall.Line) string {
	if l.Device == "" || strings.Contains(l.Name, l.Device) {
		return l.Name
	}
	return l.Device + " " + l.Name
}

// inDigits formats a number with the engine's own number of digits.
func inDigits(v float64, digits int) string {
	return strings.Replace(term.Commas(unit.Fixed(v, digits)), "-", "−", 1)
}

func difference(d float64, digits int) string {
	s := term.Commas(unit.Fixed(max(d, -d), digits))
	if d < 0 {
		return "−" + s
	}
	return "+" + s
}

// writeUnprinted lists predictions that the log does not mention.
func writeUnprinted(p *term.Page, lines []memwall.Line) {
	var out []string
	for i := range lines {
		if l := &lines[i]; l.Printed == nil && l.Ours != nil {
			out = append(out, fmt.Sprintf("%s %s %s", figureName(l), inDigits(*l.Ours, l.Digits), l.Unit))
		}
	}
	if len(out) > 0 {
		p.Blank()
		p.Para(term.Pad(term.Gap), term.Join(term.Say("not printed  ", term.Dim), term.Say(strings.Join(out, ", "))))
	}
}

func writeCompareNotes(p *term.Page, a *memwall.Answer, all bool) {
	notes := slices.Clone(a.Notes)
	stable.Sort(notes, func(x, y memwall.Note) int { return cmp.Compare(harm(y.Severity), harm(x.Severity)) })
	shown := 0
	for _, n := range notes {
		if !all && (shown == 3 || n.Code == "default_used") {
			continue
		}
		if shown++; shown == 1 {
			p.Blank()
		}
		p.Para(term.Say("  note     ", term.Dim), term.Say(n.Text))
	}
	if rest := len(notes) - shown; rest > 0 && !all {
		p.Para(term.Say("           "), term.Say(fmt.Sprintf("%d more: --notes", rest), term.Dim))
	}
}

func harm(severity string) int {
	return slices.Index([]string{"info", "warn", "error"}, severity)
}
