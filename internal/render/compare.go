package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/unit"
)

// Compare draws what an engine printed beside what memwall says.
func Compare(a *memwall.Answer, all bool, st Style) string {
	p := newPage(st)
	p.compareHead(a)
	for _, u := range unitsOf(a.Compare) {
		p.blank()
		p.compareTable(a.Compare, u, a.ComparedWith)
	}
	p.operators(a.Operators)
	p.unprinted(a.Compare)
	p.compareNotes(a, all)
	return p.String()
}

// compareHead is how many figures are equal, and what the log was taken for.
func (p *page) compareHead(a *memwall.Answer) {
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
	m := mark{'✓', "", bold}
	switch {
	case both == 0:
		m = mark{'?', "", inkUnknown}
	case good < both:
		m = mark{'~', "", inkTight}
	}
	words := fmt.Sprintf("%d of %s equal to the last printed digit", equal, plural(int64(both), "figure", "figures"))
	switch {
	case both == 0:
		words = "nothing to compare with: " + plural(int64(len(a.Compare)), "figure", "figures") + " of the " + cmp.Or(tellers[a.ComparedWith], "log") + " alone"
	case ran:
		words = fmt.Sprintf("%d of %s inside memwall's bands", inside, plural(int64(both), "figure", "figures"))
	case within > 0:
		words += fmt.Sprintf(", %d inside the band", within)
	}
	p.dotted(say(string(m.sign)+" ", m.ink), []string{words})
	p.para(pad(gap), say(a.ReadAs))
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

// tellers are what the measured figures are of.
var tellers = map[string]string{"server": "server", "trace": "trace", "memory_summary": "summary", "memory_stats": "statistics", "memory_snapshot": "snapshot"}

// columnOf is the head of the measured figures.
var columnOf = map[string]string{"server": "server", "trace": "trace", "memory_summary": "torch", "memory_stats": "torch", "memory_snapshot": "held"}

func (p *page) compareTable(lines []memwall.Line, u, with string) {
	tb := &table{sides: []side{left, decimal, decimal, decimal, left}, remark: true, most: map[int]int{0: 34}}
	head := u
	if head == "" {
		head = "figures"
	}
	tb.row(say(head, dim), say(cmp.Or(columnOf[with], "log"), dim), say("ours", dim), say("off", dim), say(""))
	for i := range lines {
		if l := &lines[i]; l.Printed != nil && l.Unit == u {
			tb.compared(l)
		}
	}
	p.add(tb)
}

func (tb *table) compared(l *memwall.Line) {
	printed := inDigits(*l.Printed, l.Digits)
	if l.Ours == nil {
		tb.row(say(figureName(l)), say(printed), say("—", dim), say(""), say(l.Why, dim))
		return
	}
	off, remark := difference(*l.Difference, l.Digits), text(nil)
	from := "from the printed "
	switch {
	case l.Equal && l.Given != "" && unit.Fixed(*l.Ours, l.Digits) != unit.Fixed(*l.Printed, l.Digits):
		from = "inside the rounding of "
	case l.Equal:
		off = unit.Fixed(0, l.Digits)
	case l.Within:
		remark = say("inside the band ", dim)
	default:
		remark = say("✗ ", inkBad)
	}
	if l.Given != "" {
		remark = join(remark, say(from+l.Given, dim))
	}
	tb.row(say(figureName(l)), say(printed), say(inDigits(*l.Ours, l.Digits)), say(off), remark)
}

func figureName(l *memwall.Line) string {
	if l.Device == "" || strings.Contains(l.Name, l.Device) {
		return l.Name
	}
	return l.Device + " " + l.Name
}

// inDigits is a number in the engine's own digits.
func inDigits(v float64, digits int) string {
	return strings.Replace(commas(unit.Fixed(v, digits)), "-", "−", 1)
}

func difference(d float64, digits int) string {
	s := commas(unit.Fixed(max(d, -d), digits))
	if d < 0 {
		return "−" + s
	}
	return "+" + s
}

// unprinted lists what memwall knows and the log does not say.
func (p *page) unprinted(lines []memwall.Line) {
	var out []string
	for i := range lines {
		if l := &lines[i]; l.Printed == nil && l.Ours != nil {
			out = append(out, fmt.Sprintf("%s %s %s", figureName(l), inDigits(*l.Ours, l.Digits), l.Unit))
		}
	}
	if len(out) > 0 {
		p.blank()
		p.para(pad(gap), join(say("not printed  ", dim), say(strings.Join(out, ", "))))
	}
}

func (p *page) compareNotes(a *memwall.Answer, all bool) {
	notes := slices.Clone(a.Notes)
	slices.SortStableFunc(notes, func(x, y memwall.Note) int { return cmp.Compare(harm(y.Severity), harm(x.Severity)) })
	shown := 0
	for _, n := range notes {
		if !all && (shown == 3 || n.Code == "default_used") {
			continue
		}
		if shown++; shown == 1 {
			p.blank()
		}
		p.para(say("  note     ", dim), say(n.Text))
	}
	if rest := len(notes) - shown; rest > 0 && !all {
		p.para(say("           "), say(fmt.Sprintf("%d more: --notes", rest), dim))
	}
}

func harm(severity string) int {
	return slices.Index([]string{"info", "warn", "error"}, severity)
}
