package render

import (
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/unit"
)

// FitOptions say what of an answer is shown beyond the usual.
type FitOptions struct {
	Explain string // "" nothing, All, or a ledger id or JSON pointer
	Notes   bool   // all notes
	ByLife  bool   // the ledger in groups of equal life
	Layers  []memwall.LayerGroup
}

// All numbers are to be explained.
const All = "all"

// screen is an answer on its way to a page.
type screen struct {
	page *page
	a    *memwall.Answer
	opt  FitOptions
	foot footnotes
}

// Fit draws an answer to a fit question: verdict, the number that the user came for, picture, table,
// contexts, reasons, command, footnotes and notes. An answer with a single number to explain shows only that.
func Fit(a *memwall.Answer, opt FitOptions, st Style) string {
	s := &screen{page: newPage(st), a: a, opt: opt}
	if opt.Explain != "" && opt.Explain != All {
		s.explainOne(opt.Explain)
		return s.page.String()
	}
	s.page.title(a.Verdict, asked(a))
	s.page.headline(a)
	s.devices()
	s.host(a.Host, "host memory", "/host/ledger")
	s.host(a.Disk, "disk", "/disk/ledger")
	s.host(a.Pool, "memory pool", "/pool/ledger")
	s.also()
	s.outlook()
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

// devices draws the deciding group in full and, when ranks differ, all of them on one scale.
func (s *screen) devices() {
	if len(s.a.Devices) == 0 {
		return
	}
	if len(s.a.Devices) == 1 {
		s.page.picture(&s.a.Devices[0], who(s.a))
	} else {
		s.ranks()
	}
	if s.opt.ByLife {
		s.byLife(0)
		return
	}
	s.ledger(0)
}

// ranks draws one bar for each group of identical ranks, the deciding one first; of more than eight, the
// two extremes and a count.
func (s *screen) ranks() {
	shown := s.a.Devices
	if len(shown) > 8 {
		shown = []memwall.Device{shown[0], shown[len(shown)-1]}
	}
	names := make([]text, len(shown))
	values := make([]text, len(shown))
	for i := range shown {
		d := &shown[i]
		names[i] = say(rankName(d))
		if mixed(s.a) && s.page.st.width() >= defaultWidth {
			names[i] = join(names[i], pad(gap), say(d.Name, dim))
		}
		n := needed(d)
		values[i] = join(say(least1(d)+gib(n.v, n.decimals())), say(" of "+gib(d.Usable, n.decimals()), dim))
	}
	for _, list := range [][]text{names, values} {
		for i := range list {
			list[i] = list[i].clean(s.page.st.ASCII)
		}
	}
	column(names, left)
	column(values, decimal)
	s.page.blank()
	scale := unit.Bytes(0)
	for i := range shown {
		scale = max(scale, barOf(&shown[i]).whole)
	}
	for i := range shown {
		line := join(pad(gap), names[i], pad(gap))
		if w := s.page.st.width(); w >= narrow {
			n := s.page.barCells(line.cells() + values[i].cells() + gap)
			line = join(line, scaled(&shown[i], n, scale), pad(gap))
		}
		line = join(line, values[i])
		s.page.line(line)
		if i == 0 && len(s.a.Devices) > len(shown) {
			s.page.line(pad(gap), say(plural(int64(len(s.a.Devices)-2), "group", "groups")+" of ranks between", dim))
		}
	}
	s.page.line(pad(gap), say(rankName(&shown[0])+" decides: least room. GiB each.", dim))
}

// scaled is a bar of as many cells as its share of a common scale.
func scaled(d *memwall.Device, n int, scale unit.Bytes) text {
	b := barOf(d)
	m := max(2, share(n, []unit.Bytes{b.whole, scale - b.whole})[0])
	return join(b.draw(m).x, pad(n-m))
}

// column aligns cells that stand in one column without a table.
func column(list []text, how side) {
	refs := make([]*text, len(list))
	for i := range list {
		refs[i] = &list[i]
	}
	align(refs, how)
}

// also draws further models that share the hardware: their two lines and a bar each.
func (s *screen) also() {
	for _, a := range s.a.Also {
		s.page.blank()
		if a.Error != nil {
			s.page.para(join(say("✗ also", inkBad), say("   ")), say(a.Error.Message, bold))
			continue
		}
		s.page.title(a.Verdict, asked(a))
		s.page.headline(a)
		if len(a.Devices) > 0 {
			s.page.picture(&a.Devices[0], who(a))
		}
	}
}

// outlook is how many users fit at longer contexts, and beside it how fast the plan runs.
func (s *screen) outlook() {
	speed, rungs := s.speed(), s.rungs()
	if rungs != nil {
		s.page.blank()
		s.page.beside(s.page.block(rungs), speed)
	} else if speed != nil {
		s.page.blank()
		s.page.lines = append(s.page.lines, speed...)
	}
}

// rungs are the same plan at longer contexts.
func (s *screen) rungs() *table {
	if len(s.a.Rungs) == 0 {
		return nil
	}
	tb := &table{sides: []side{right, decimal, right, left}}
	tb.row(say("context", dim), say("KV, GiB", dim), say("users", dim), nil)
	for _, r := range s.a.Rungs {
		users := "any"
		if r.MaxUsers != nil {
			users = unit.Count(*r.MaxUsers)
		}
		verdict := sign(r.Verdict)
		if r.Short > 0 {
			verdict = join(verdict, say(" "+gib(r.Short, 1)+" short"))
		}
		tb.row(say(unit.Length(r.Context)), say(gib(r.KVBytes, 2)), say(users), verdict)
	}
	return tb
}

// fitsOn lists hardware that would do, when none was given.
func (s *screen) fitsOn() {
	if len(s.a.FitsOn) == 0 {
		return
	}
	tb := &table{sides: []side{left, decimal, decimal, left}, remark: true, most: map[int]int{0: max(20, s.page.st.width()-46)}}
	tb.row(say("fits on", bold), say("GiB each", dim), say("may use", dim), nil)
	for _, f := range s.a.FitsOn {
		tb.row(say(counted(f.Devices, f.Name)), say(gib(f.Needed, 1)), say(gib(f.Usable, 1)), say("--on "+on(&f), dim))
	}
	s.page.blank()
	s.page.add(tb)
}

// on is what --on takes.
func on(f *memwall.FitsOn) string { return strings.ReplaceAll(f.Hardware, " ", "") }

// usualChanges is how many suggestions stand under an answer.
const usualChanges = 4

// suggestions are changes that make it fit, cheapest first; when none does, those that help most cheaply.
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
	timed := s.page.st.width() >= narrow && slices.ContainsFunc(shown, func(c memwall.Suggestion) bool { return c.Speed != nil })
	tb := &table{sides: []side{left, decimal, left, left}, remark: true, most: map[int]int{0: s.page.st.width() * 9 / 20}}
	row := func(change, saves, then, speed, flags text) {
		cells := []text{change, saves, then, speed, flags}
		if !timed {
			cells = append(cells[:3], flags)
		}
		tb.row(cells...)
	}
	if timed {
		tb.sides = append(tb.sides, left)
	}
	row(say("change", bold), say("saves GiB", dim), say("then", dim), say("speed", dim), nil)
	for _, c := range shown[:min(len(shown), usualChanges)] {
		m := markOf(c.Verdict)
		row(say(c.Change), say(gib(c.Saves, 2)), say(string(m.sign)+" "+m.word, m.ink), say(times(c.Speed)), say(patchFlags(&c), dim))
	}
	s.page.blank()
	s.page.add(tb)
}

// times is "× 0.8"; nothing where nobody knows.
func times(ratio *float64) string {
	if ratio == nil {
		return ""
	}
	return "×" + hard + unit.Significant(*ratio, 2)
}

// who takes the device's memory.
func who(a *memwall.Answer) string {
	if a.Plan == nil {
		return ""
	}
	name, _, _ := strings.Cut(a.Plan.Engine, "@")
	return engineWord(name)
}

// reasons close every answer: what limits, what scales, what breaks.
func (s *screen) reasons() {
	r := s.a.Reasons
	if r == nil {
		return
	}
	s.page.blank()
	for _, x := range []struct{ name, why string }{{"limits", r.Limits}, {"scales", r.Scales}, {"breaks", r.Breaks}} {
		if x.why != "" {
			s.page.para(join(pad(gap), say(x.name, dim), pad(9-len(x.name))), say(x.why))
		}
	}
}

func (s *screen) footnotes() {
	for i, n := range s.foot.texts {
		if i == 0 {
			s.page.blank()
		}
		s.page.para(join(pad(gap), say(footnote(i+1)+" ", dim)), say(n, dim))
	}
}

// usualNotes is how many notes stand under an answer unasked.
const usualNotes = 3

var severities = map[string]int{"error": 0, "warn": 1}

// notes shows what decides or went otherwise than expected; plain defaults only when asked.
func (s *screen) notes() {
	if s.page.st.width() < narrow && !s.opt.Notes {
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
			s.page.blank()
		}
		word, look := "note", dim
		switch n.Severity {
		case "warn":
			word, look = "warning", inkTight
		case "error":
			word, look = "error", inkBad
		}
		s.page.para(join(pad(gap), say(word, look), pad(9-len(word))), say(n.Text, dim))
	}
	if rest > 0 {
		s.page.line(pad(gap), say(unit.Count(int64(rest))+" more: --notes", dim))
	}
}

// sorted gives the notes to show, in order of harm.
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
