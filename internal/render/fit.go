// Package render renders answers as screens: their content, order and wording.
//
// See fit.go for the main screen and the order of its blocks; every other question has its own file. internal/term has
// the building blocks; cards and lists are in render/cards, pictures in render/svg, live screens in render/tui.
package render

import (
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// FitOptions select what is shown beyond the default.
type FitOptions struct {
	Explain string // "" nothing, All, or a ledger id or JSON pointer
	Notes   bool   // all notes
	ByLife  bool   // the ledger grouped by lifetime
	Layers  []memwall.LayerGroup
}

// All explains all numbers.
const All = "all"

// screen is an answer being rendered on a page.
type screen struct {
	page *term.Page
	a    *memwall.Answer
	opt  FitOptions
	foot footnotes
}

// Fit draws an answer to a fit question: verdict, headline figure, picture, table, contexts, reasons, command, footnotes and notes.
// An answer with a single number to explain shows only that.
func Fit(a *memwall.Answer, opt FitOptions, st term.Style) string {
	s := &screen{page: term.NewPage(st), a: a, opt: opt}
	if opt.Explain != "" && opt.Explain != All {
		s.explainOne(opt.Explain)
		return s.page.String()
	}
	s.page.Title(a.Verdict, asked(a))
	writeHeadline(s.page, a)
	s.devices()
	s.host(a.Host, "host memory", "/host/ledger")
	s.host(a.Disk, "disk", "/disk/ledger")
	s.host(a.Pool, "memory pool", "/pool/ledger")
	s.also()
	s.outlook()
	s.page.Measured(a.Measured)
	s.fitsOn()
	s.suggestions()
	s.reasons()
	s.commands()
	s.footnotes()
	s.notes()
	s.layers()
	if opt.Explain == All {
		s.explainAll()
	}
	return s.page.String()
}

// devices draws the deciding group in full and, if ranks differ, all of them on one scale.
func (s *screen) devices() {
	if len(s.a.Devices) == 0 {
		return
	}
	if len(s.a.Devices) == 1 {
		s.page.Picture(&s.a.Devices[0], who(s.a))
	} else {
		s.ranks()
	}
	if s.opt.ByLife {
		s.byLife(0)
		return
	}
	s.ledger(0)
}

// ranks draws one bar for each group of identical ranks, the deciding one first; of more than eight, the two extremes and a count.
func (s *screen) ranks() {
	shown := s.a.Devices
	if len(shown) > 8 {
		shown = []memwall.Device{shown[0], shown[len(shown)-1]}
	}
	names := make([]term.Text, len(shown))
	values := make([]term.Text, len(shown))
	for i := range shown {
		d := &shown[i]
		names[i] = term.Say(RankName(d))
		if mixed(s.a) && s.page.Style.Cells() >= term.DefaultWidth {
			names[i] = term.Join(names[i], term.Pad(term.Gap), term.Say(d.Name, term.Dim))
		}
		n := term.Needed(d)
		values[i] = term.Join(term.Say(least1(d)+term.GiB(n.Mid, n.Decimals())),
			term.Say(" of "+term.GiB(d.Usable, n.Decimals()), term.Dim))
	}
	for _, list := range [][]term.Text{names, values} {
		for i := range list {
			list[i] = list[i].Clean(s.page.Style.ASCII)
		}
	}
	term.Column(names, term.Left)
	term.Column(values, term.Decimal)
	s.page.Blank()
	scale := unit.Bytes(0)
	for i := range shown {
		scale = max(scale, term.BarOf(&shown[i]).Scale)
	}
	for i := range shown {
		line := term.Join(term.Pad(term.Gap), names[i], term.Pad(term.Gap))
		if w := s.page.Style.Cells(); w >= term.Narrow {
			n := s.page.BarCells(line.Cells() + values[i].Cells() + term.Gap)
			line = term.Join(line, scaled(&shown[i], n, scale), term.Pad(term.Gap))
		}
		line = term.Join(line, values[i])
		s.page.Line(line)
		if i == 0 && len(s.a.Devices) > len(shown) {
			s.page.Line(term.Pad(term.Gap), term.Say(term.Plural(int64(len(s.a.Devices)-2), "group", "groups")+" of ranks between",
				term.Dim))
		}
	}
	s.page.Line(term.Pad(term.Gap), term.Say(RankName(&shown[0])+" decides: least room. GiB each.", term.Dim))
}

// scaled returns a bar whose cells are its share of a common scale.
func scaled(d *memwall.Device, n int, scale unit.Bytes) term.Text {
	b := term.BarOf(d)
	m := max(2, term.Apportion(n, []unit.Bytes{b.Scale, scale - b.Scale})[0])
	return term.Join(b.Draw(m).Cells, term.Pad(n-m))
}

// also draws further models that share the hardware, with two lines and a bar each.
func (s *screen) also() {
	for _, a := range s.a.Also {
		s.page.Blank()
		if a.Error != nil {
			s.page.Para(term.Join(term.Say("✗ also", term.InkBad), term.Say("   ")), term.Say(a.Error.Message, term.Bold))
			continue
		}
		s.page.Title(a.Verdict, asked(a))
		writeHeadline(s.page, a)
		if len(a.Devices) > 0 {
			s.page.Picture(&a.Devices[0], who(a))
		}
	}
}

// outlook writes how many users fit at longer contexts, next to the plan's speed.
func (s *screen) outlook() {
	speed, rungs := s.speed(), s.rungs()
	if rungs != nil {
		s.page.Blank()
		writeBeside(s.page, block(s.page, rungs), speed)
	} else if speed != nil {
		s.page.Blank()
		s.page.Lines = append(s.page.Lines, speed...)
	}
}

// rungs returns the same plan at longer contexts.
func (s *screen) rungs() *term.Table {
	if len(s.a.Rungs) == 0 {
		return nil
	}
	tb := &term.Table{Sides: []term.Side{term.Right, term.Decimal, term.Right, term.Left}}
	tb.Row(term.Say("context", term.Dim), term.Say("KV, GiB", term.Dim), term.Say("users", term.Dim), nil)
	for _, r := range s.a.Rungs {
		users := "any"
		if r.MaxUsers != nil {
			users = unit.Count(*r.MaxUsers)
		}
		verdict := term.Sign(r.Verdict)
		if r.Short > 0 {
			verdict = term.Join(verdict, term.Say(" "+term.GiB(r.Short, 1)+" short"))
		}
		tb.Row(term.Say(unit.Length(r.Context)), term.Say(term.GiB(r.KVBytes, 2)), term.Say(users), verdict)
	}
	return tb
}

// fitsOn lists hardware that suffices, if none was given.
func (s *screen) fitsOn() {
	if len(s.a.FitsOn) == 0 {
		return
	}
	tb := &term.Table{Sides: []term.Side{term.Left, term.Decimal, term.Decimal, term.Left}, Remark: true,
		Most: map[int]int{0: max(20, s.page.Style.Cells()-46)}}
	tb.Row(term.Say("fits on", term.Bold), term.Say("GiB each", term.Dim), term.Say("may use", term.Dim), nil)
	for _, f := range s.a.FitsOn {
		tb.Row(term.Say(term.Counted(f.Devices, f.Name)), term.Say(term.GiB(f.Needed, 1)), term.Say(term.GiB(f.Usable, 1)),
			term.Say("--on "+on(&f), term.Dim))
	}
	s.page.Blank()
	s.page.Add(tb)
}

// on returns the value for --on.
func on(f *memwall.FitsOn) string { return strings.ReplaceAll(f.Hardware, " ", "") }

// usualChanges is the number of suggestions shown by default.
const usualChanges = 4

// suggestions writes changes that make the plan fit, cheapest first; if there are none, those that help most cheaply.
func (s *screen) suggestions() {
	var shown []memwall.Suggestion
	for _, c := range s.a.Suggestions {
		if c.Verdict == memwall.Fits || c.Verdict == memwall.Tight && s.a.Verdict == memwall.DoesNotFit {
			shown = append(shown, c)
		}
	}
	if len(shown) == 0 {
		shown = s.a.Suggestions
	}
	if len(shown) == 0 {
		return
	}
	timed := slices.ContainsFunc(shown, func(c memwall.Suggestion) bool { return rungSpeed(s.a, &c) != "" })
	tb := &term.Table{Sides: []term.Side{term.Left, term.Decimal, term.Left, term.Left}, Remark: true}
	row := func(change, saves, then, speed, flags term.Text) {
		cells := []term.Text{change, saves, then, speed, flags}
		if !timed {
			cells = append(cells[:3], flags)
		}
		tb.Wrapped(0, max(s.page.Style.Cells()/2, 22), cells...)
	}
	if tb.Give = []int{1}; timed {
		tb.Sides, tb.Give = append(tb.Sides, term.Left), []int{3, 1} // the verdict stays
	}
	saves := "saves GiB"
	if s.page.Style.Cells() < term.DefaultWidth {
		saves = "saves" // leaves room for the names of changes
	}
	row(term.Say("change", term.Bold), term.Say(saves, term.Dim), term.Say("then", term.Dim), term.Say("speed", term.Dim), nil)
	for _, c := range shown[:min(len(shown), usualChanges)] {
		m := term.MarkOf(c.Verdict)
		row(term.Say(c.Change), term.Say(term.GiB(c.Saves, 2)), term.Say(string(m.Sign)+" "+m.Word, m.Ink), term.Say(rungSpeed(s.a, &c)),
			term.Say(patchFlags(&c), term.Dim))
	}
	s.page.Blank()
	s.page.Add(tb)
}

// rungSpeed describes the speed of a change: relative to the plan, or in tokens per second per user if the plan itself does not
// run.
func rungSpeed(a *memwall.Answer, c *memwall.Suggestion) string {
	switch {
	case !runsNowhere(a) || c.Decode == nil:
		return times(c.Speed)
	case c.Verdict == memwall.DoesNotFit:
		return ""
	}
	return term.Significant(*c.Decode, 2) + term.NoBreak + "tok/s"
}

// times returns "× 0.8"; "" if unknown.
func times(ratio *float64) string {
	if ratio == nil {
		return ""
	}
	return "×" + term.NoBreak + unit.Significant(*ratio, 2)
}

// who returns what limits the device's memory.
func who(a *memwall.Answer) string {
	if a.Plan == nil {
		return ""
	}
	name, _, _ := strings.Cut(a.Plan.Engine, "@")
	return engineWord(name)
}

// reasons writes the end of every answer: what limits, what scales, what breaks.
func (s *screen) reasons() {
	r := s.a.Reasons
	if r == nil {
		return
	}
	s.page.Blank()
	for _, x := range []struct{ name, why string }{{"limits", r.Limits}, {"scales", r.Scales}, {"breaks", r.Breaks}} {
		if x.why != "" {
			s.page.Para(term.Join(term.Pad(term.Gap), term.Say(x.name, term.Dim), term.Pad(9-len(x.name))), term.Say(x.why))
		}
	}
}

func (s *screen) footnotes() {
	for i, n := range s.foot.texts {
		if i == 0 {
			s.page.Blank()
		}
		s.page.Para(term.Join(term.Pad(term.Gap), term.Say(term.Footnote(i+1)+" ", term.Dim)), term.Say(n, term.Dim))
	}
}

// usualNotes is the number of notes shown by default.
const usualNotes = 3

var severities = map[string]int{"error": 0, "warn": 1}

// notes writes notes that matter or are unexpected; plain defaults only on request.
func (s *screen) notes() {
	if s.page.Style.Cells() < term.Narrow && !s.opt.Notes {
		return
	}
	shown := s.sorted()
	rest := 0
	if !s.opt.Notes && len(shown) > usualNotes {
		rest = len(shown) - usualNotes
		shown = shown[:usualNotes]
	}
	for i, n := range shown {
		if i == 0 {
			s.page.Blank()
		}
		word, look := "note", term.Dim
		switch n.Severity {
		case "warn":
			word, look = "warning", term.InkTight
		case "error":
			word, look = "error", term.InkBad
		}
		s.page.Para(term.Join(term.Pad(term.Gap), term.Say(word, look), term.Pad(9-len(word))), term.Say(n.Text, term.Dim))
	}
	if rest > 0 {
		s.page.Line(term.Pad(term.Gap), term.Say(unit.Count(int64(rest))+" more: --notes", term.Dim))
	}
}

// sorted returns the notes to show, most severe first.
func (s *screen) sorted() (out []memwall.Note) {
	for want := range 3 {
		for _, n := range s.a.Notes {
			level, ok := severities[n.Severity]
			if !ok {
				level = 2
			}
			usual := n.Code == "default_used" && n.Field != "hardware"
			if level == want && (s.opt.Notes || !usual) {
				out = append(out, n)
			}
		}
	}
	return out
}
