package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/unit"
)

// PlanOptions say what of an answer is shown beyond the usual.
type PlanOptions struct {
	All   bool // all changes and plans
	If    bool // what follows from steps aside
	Notes bool
}

// Plan draws what must change: how many ways there are, the first that fits, the ladder, and how to run it.
func Plan(a *memwall.Answer, opt PlanOptions, st Style) string {
	s := &screen{page: newPage(st), a: a, opt: FitOptions{Notes: opt.Notes}}
	switch {
	case a.Plan.For == "train":
		s.trained(opt.All)
		s.searched()
	case a.Plan.Goal != nil && a.Plan.Workload != nil:
		s.aimed(opt.All)
		s.goalFiles()
		s.searchedFor()
	default:
		s.changed(opt)
		s.bestCommand()
		s.searched()
	}
	s.notes()
	return s.page.String()
}

// changed is what must change.
func (s *screen) changed(opt PlanOptions) {
	s.planHead()
	s.planBest()
	if s.a.Plan.Hardware == "" {
		s.machines(opt.All)
		return
	}
	s.ladder(opt.All)
	s.nearestMiss()
	s.whatIf(opt.If)
}

func (s *screen) bestCommand() {
	if s.a.Best != nil {
		(&screen{page: s.page, a: &memwall.Answer{Flags: s.a.Best.Flags}}).commands()
	}
}

// planHead is line 1: how many ways there are, and what was asked for.
func (s *screen) planHead() {
	var close int64
	for i := range s.a.Ladder {
		if s.a.Ladder[i].Verdict == memwall.Tight {
			close++
		}
	}
	ways := plural(int64(len(s.a.Candidates)), "way", "ways")
	if s.a.Plan.Hardware == "" {
		ways = plural(int64(len(s.a.Candidates)), "kind of hardware", "kinds of hardware")
	}
	m := markOf(memwall.Fits)
	switch {
	case s.a.Verdict == memwall.Fits:
		ways = "fits as asked"
	case len(s.a.Candidates) == 0:
		m, ways = markOf(memwall.DoesNotFit), "no way"
	}
	if close > 0 && s.a.Verdict != memwall.Fits {
		ways += fmt.Sprintf(", %d close", close)
	}
	about := asked(s.a)
	if s.a.Plan.Hardware == "" && differ(s.a.Candidates) {
		about = []string{about[0], "each in a format that suits it"}
	}
	s.page.dotted(join(say(string(m.sign)+" "+ways, m.ink), say("   ")), about)
}

// planBest is line 2: what the plan lacks as asked, and the first change that mends it.
func (s *screen) planBest() {
	if s.a.Plan.Hardware == "" {
		if b := s.a.Best; b != nil {
			s.page.para(pad(gap), join(say(firstOfAny(s.a)+": "), say(b.Change, bold), say(", "+s.buys(b))))
		}
		return
	}
	x := s.lack()
	if b := s.a.Best; b != nil && len(b.Patch) > 0 {
		name := "; first that fits: "
		if s.a.Verdict == memwall.Fits {
			name = "; better: "
		}
		x = join(x, say(name), say(b.Change, bold), say(", "+s.buys(b)))
	}
	s.page.para(pad(gap), x)
}

// firstOfAny is what the first of all hardware has most or least of.
func firstOfAny(a *memwall.Answer) string {
	minimize := ""
	if g := a.Plan.Goal; g != nil {
		minimize = g.Minimize
	}
	switch minimize {
	case "cost":
		return "cheapest to rent"
	case "latency":
		return "fastest"
	case "devices":
		return "fewest devices"
	}
	return "smallest"
}

// lack is "2.8 GiB short as asked", or what is free.
func (s *screen) lack() text {
	d := &s.a.Devices[0]
	n := needed(d)
	switch s.a.Verdict {
	case memwall.DoesNotFit:
		if d.Headroom >= 0 {
			return say("host memory short as asked", inkBad)
		}
		return say(gib(-d.Headroom, n.decimals())+" GiB short as asked", inkBad)
	case memwall.Tight:
		return say("tight as asked: "+gib(d.Headroom, n.decimals())+" GiB free, less than the band", inkTight)
	case memwall.Fits:
		return say(gib(d.Headroom, n.decimals()) + " GiB free" + perUser(s.a))
	}
	return say("what it needs is not known", inkUnknown)
}

// buys is what a plan leaves free, and its speed.
func (s *screen) buys(c *memwall.Candidate) string {
	out := gib(c.Headroom, 1) + " GiB free"
	if c.Speed != nil && c.Speed.Decode != nil {
		out += ", " + significant(*c.Speed.Decode, 2) + " tok/s"
	}
	return out
}

// usualRungs is how many changes are shown unasked.
const usualRungs = 9

// shownRungs are the cheapest changes: a third of the room for those that do not do it alone.
func (s *screen) shownRungs(all bool) (out []memwall.Candidate) {
	failing := 0
	for _, c := range s.a.Ladder {
		if c.Verdict == memwall.DoesNotFit {
			if failing++; failing > usualRungs/3 && !all {
				continue
			}
		}
		if out = append(out, c); len(out) == usualRungs && !all {
			break
		}
	}
	return out
}

// ladder is the table of changes: what would be better, where the plan fits as it is.
func (s *screen) ladder(all bool) {
	shown := s.shownRungs(all)
	if len(shown) == 0 {
		return
	}
	head := "change"
	if s.a.Verdict == memwall.Fits {
		head = "could be better"
	}
	tb, judged := &table{sides: []side{right, left, left}}, false
	tb.row(nil, say(head, bold), say("then, GiB", dim))
	for i := range shown {
		c := &shown[i]
		judged = judged || c.Quality != nil
		if tb.picked == 0 && c.Verdict == memwall.Fits {
			tb.picked = i + 1
		}
		tb.wrapped(1, s.changeCells(), say(fmt.Sprint(i+1), dim), say(c.Change).leads(&Place{Patch: c.Patch, Flags: c.Arguments}), s.then(c))
	}
	s.rungFigures(tb, shown)
	s.page.blank()
	s.page.add(tb)
	if rest := len(s.a.Ladder) - len(shown); rest > 0 {
		s.page.elsewhere(unit.Count(int64(rest)) + " more: --all")
	}
	if judged && s.page.st.width() >= defaultWidth {
		s.page.para(pad(gap), say("quality: how a published score changes; perplexity is worse where it rises, others where they fall", dim))
	}
}

// rungFigures adds the columns that the width has room for: bytes saved, speed, quality and arguments.
func (s *screen) rungFigures(tb *table, shown []memwall.Candidate) {
	width := s.page.st.width()
	if width < narrow {
		return
	}
	tb.column(2, decimal, say("saves", dim), func(i int) text { return say(gib(shown[i].Saves, 2)) })
	tb.column(4, decimal, say("tok/s", dim), func(i int) text { return say(tokensEach(shown[i].Speed)) })
	if width >= defaultWidth {
		tb.column(5, left, say("quality", dim), func(i int) text { return say(qualityOf(shown[i].Quality)) })
	}
	if width > defaultWidth && !s.page.st.endless {
		tb.column(6, left, say("arguments", dim), func(i int) text { return say(shown[i].Arguments, dim) })
		tb.remark = true
	}
}

// changeCells is the width of the column of changes: what the others leave.
func (s *screen) changeCells() int {
	switch width := s.page.st.width(); {
	case s.page.st.endless:
		return width
	case width < narrow:
		return width - 24
	case width < defaultWidth:
		return width - 41
	}
	return 23
}

// then is what a change leaves free, or still lacks.
func (s *screen) then(c *memwall.Candidate) text {
	if c.Headroom < 0 {
		return join(sign(c.Verdict), say(" "+gib(-c.Headroom, 1)+" short"))
	}
	return join(sign(c.Verdict), say(" "+gib(c.Headroom, 1)+" free"))
}

func tokensEach(v *memwall.Speed) string {
	if v == nil || v.Decode == nil {
		return "—"
	}
	return significant(*v.Decode, 2)
}

// qualityOf is "perplexity +0.7 %", or a dash where nobody measured.
func qualityOf(q *memwall.Quality) string {
	if q == nil {
		return "—"
	}
	return scoreName(q.Metric) + " " + percentOf(q.Mid) + " %"
}

// scoreName is a metric without the corpus on which it was taken, which the answer's JSON names.
func scoreName(metric string) string {
	name, _, _ := strings.Cut(metric, "-")
	if name == "ppl" {
		return "perplexity"
	}
	return name
}

// percentOf prints a change in percent with two digits and its sign.
func percentOf(x float64) string {
	const least = 0.05
	switch {
	case x >= least:
		return "+" + significant(x, 2)
	case x <= -least:
		return "−" + significant(-x, 2)
	}
	return "±0"
}

// nearestMiss is what comes nearest where nothing that was left open fits.
func (s *screen) nearestMiss() {
	c := s.a.NearestMiss
	if c == nil {
		return
	}
	s.page.blank()
	words := c.Change
	if words == "" {
		words = "what was asked for"
	}
	kept := ""
	if s.a.Best != nil && len(s.a.Best.Relaxes) > 0 {
		kept = "; what fits changes " + strings.Join(s.a.Best.Relaxes, ", ")
	}
	lacks := " leaves " + gib(c.Headroom, 1) + " GiB, less than the band"
	if c.Headroom < 0 {
		lacks = " is " + gib(-c.Headroom, 1) + " GiB short"
	}
	s.page.para(join(pad(gap), say("nearest  ", dim)), say("with all that was given kept, "+words+lacks+kept))
}

// differ reports whether plans store weights in different formats.
func differ(list []memwall.Candidate) bool {
	return slices.ContainsFunc(list, func(c memwall.Candidate) bool {
		return c.Plan != nil && list[0].Plan != nil && c.Plan.Weights != list[0].Plan.Weights
	})
}

// machines are the smallest hardware of each kind that holds the plan.
func (s *screen) machines(all bool) {
	shown := s.a.Candidates
	if !all {
		shown = shown[:min(len(shown), usualRungs)]
	}
	if len(shown) == 0 {
		return
	}
	tb := &table{sides: []side{left, decimal, decimal}}
	tb.row(say("fits on", bold), say("GiB in all", dim), say("free", dim))
	for i := range shown {
		c := &shown[i]
		to := &Place{Ask: "fit", Patch: c.Patch}
		tb.wrapped(0, s.page.st.width()-22, say(c.Change).leads(to), say(gib(c.Capacity, 0)), say(gib(c.Headroom, 1)).leads(to))
	}
	if s.page.st.width() >= narrow {
		tb.column(3, decimal, say("tok/s", dim), func(i int) text { return say(tokensEach(shown[i].Speed)) })
		tb.column(4, decimal, say("$ an hour", dim), func(i int) text { return say(rentOf(&shown[i])) })
	}
	if s.page.st.width() >= defaultWidth && differ(shown) {
		tb.column(1, left, say("format", dim), func(i int) text { return say(shown[i].Plan.Weights) })
	}
	s.page.blank()
	s.page.add(tb)
}

// rentOf is what the devices of a plan rent for, or a dash.
func rentOf(c *memwall.Candidate) string {
	if c.USDPerHour == nil {
		return "—"
	}
	return significant(*c.USDPerHour, 2)
}

// searched is how many plans were looked at.
func (s *screen) searched() {
	e := s.a.Evaluated
	if e == nil || e.Decided == 0 {
		return
	}
	s.page.blank()
	s.page.para(pad(gap), say(fmt.Sprintf("%s plans decided, %s of them sized in full", unit.Count(int64(e.Decided)), unit.Count(int64(e.Full))), dim))
}

// whatIf is what steps aside do: one line for the upgrade that helps most, or all of them as a table.
func (s *screen) whatIf(all bool) {
	if all {
		s.whatIfs("what if the plan had", s.a.Sensitivity)
		s.whatIfs("what if the hardware had", s.a.Upgrades)
		return
	}
	for i := range s.a.Upgrades {
		if u := &s.a.Upgrades[i]; u.HelpsMost {
			s.page.blank()
			s.page.para(join(pad(gap), say("upgrade  ", dim)), say(u.Change+" would help most: "+s.effect(u)))
		}
	}
}

// effect is what a step aside does, in words.
func (s *screen) effect(u *memwall.WhatIf) string {
	var out []string
	if u.Verdict != s.a.Verdict {
		out = append(out, markOf(u.Verdict).word)
	}
	if u.SpeedRatio != nil {
		out = append(out, times(u.SpeedRatio)+" the speed")
	}
	switch n := u.MaxSequences; {
	case n == nil:
	case *n == 0:
		out = append(out, "room for nobody")
	default:
		out = append(out, "room for "+people(*n))
	}
	return strings.Join(out, ", ")
}

func (s *screen) whatIfs(head string, all []memwall.WhatIf) {
	if len(all) == 0 {
		return
	}
	width := s.page.st.width()
	if width < defaultWidth {
		head = strings.Replace(head, "what if the ", "", 1)
	}
	tb := &table{sides: []side{left, left, right}}
	tb.row(say(head, bold), say("then", dim), say("users", dim))
	for i := range all {
		w := &all[i]
		users := "any"
		if w.MaxSequences != nil {
			users = unit.Count(*w.MaxSequences)
		}
		m := markOf(w.Verdict)
		tb.wrapped(0, max(13, width-52), say(w.Change).leads(&Place{Ask: "fit", Patch: w.Patch}), say(string(m.sign)+" "+m.word, m.ink), say(users))
	}
	if width >= narrow {
		tb.column(1, decimal, say("GiB", dim), func(i int) text { return say(gib(all[i].Needed, 1)) })
		tb.column(4, left, say("each", dim), func(i int) text { return say(times(all[i].SpeedRatio)) })
	}
	if width >= defaultWidth {
		tb.column(5, left, say("together", dim), func(i int) text { return say(times(all[i].TotalRatio)) })
	}
	s.page.blank()
	s.page.add(tb)
}
