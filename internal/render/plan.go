package render

import (
	"fmt"
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
	s.planHead()
	s.planBest()
	if a.Plan.Hardware == "" {
		s.machines(opt.All)
	} else {
		s.ladder(opt.All)
		s.nearestMiss()
		s.whatIf(opt.If)
	}
	if a.Best != nil {
		s.a = &memwall.Answer{Flags: a.Best.Flags}
		s.commands()
		s.a = a
	}
	s.searched()
	s.footnotes()
	s.notes()
	return s.page.String()
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
	s.page.dotted(join(say(string(m.sign)+" "+ways, m.ink), say("   ")), asked(s.a))
}

// planBest is line 2: what the plan lacks as asked, and the first change that mends it.
func (s *screen) planBest() {
	if s.a.Plan.Hardware == "" {
		if b := s.a.Best; b != nil {
			s.page.para(pad(gap), join(say("first: "), say(b.Change, bold), say(", "+s.buys(b))))
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

// ladder is the table of changes.
func (s *screen) ladder(all bool) {
	shown := s.shownRungs(all)
	if len(shown) == 0 {
		return
	}
	wide := s.page.st.width() > defaultWidth
	tb := &table{sides: []side{right, left, decimal, left, decimal, left, left}, remark: true, most: map[int]int{1: s.page.st.width() * 2 / 5}}
	tb.row(nil, say("change", bold), say("saves", dim), say("then, GiB", dim), say("tok/s", dim), say("quality", dim), nil)
	for i := range shown {
		c := &shown[i]
		flags := text(nil)
		if wide {
			flags = say(c.Arguments, dim)
		}
		tb.row(say(fmt.Sprint(i+1), dim), say(c.Change), say(gib(c.Saves, 2)), s.then(c), say(tokensEach(c.Speed)), say(qualityOf(c.Quality)), flags)
	}
	s.page.blank()
	s.page.add(tb)
	if rest := len(s.a.Ladder) - len(shown); rest > 0 {
		s.page.line(pad(gap), say(unit.Count(int64(rest))+" more: --all", dim))
	}
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

// qualityOf is "+0.07 % ppl", or a dash where nobody measured.
func qualityOf(q *memwall.Quality) string {
	if q == nil {
		return "—"
	}
	what, _, _ := strings.Cut(q.Metric, "-")
	return fmt.Sprintf("%+.2g %% %s", q.Mid, what)
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

// machines are the smallest hardware of each kind that holds the plan.
func (s *screen) machines(all bool) {
	shown := s.a.Candidates
	if !all {
		shown = shown[:min(len(shown), usualRungs)]
	}
	if len(shown) == 0 {
		return
	}
	tb := &table{sides: []side{left, decimal, decimal, decimal, decimal}, most: map[int]int{0: s.page.st.width() * 2 / 5}}
	tb.row(say("fits on", bold), say("GiB in all", dim), say("free", dim), say("tok/s", dim), say("$ an hour", dim))
	for i := range shown {
		c := &shown[i]
		price := "—"
		if c.USDPerHour != nil {
			price = significant(*c.USDPerHour, 2)
		}
		tb.row(say(c.Change), say(gib(c.Capacity, 0)), say(gib(c.Headroom, 1)), say(tokensEach(c.Speed)), say(price))
	}
	s.page.blank()
	s.page.add(tb)
}

// searched is how many plans were looked at.
func (s *screen) searched() {
	e := s.a.Evaluated
	if e == nil || e.Decided == 0 {
		return
	}
	s.page.blank()
	s.page.line(pad(gap), say(fmt.Sprintf("%s plans decided, %s of them sized in full", unit.Count(int64(e.Decided)), unit.Count(int64(e.Full))), dim))
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
	if n := u.MaxSequences; n != nil {
		out = append(out, "room for "+people(*n))
	}
	return strings.Join(out, ", ")
}

func (s *screen) whatIfs(head string, all []memwall.WhatIf) {
	if len(all) == 0 {
		return
	}
	tb := &table{sides: []side{left, decimal, left, right, left, left}}
	tb.row(say(head, bold), say("GiB", dim), say("then", dim), say("users", dim), say("each", dim), say("together", dim))
	for i := range all {
		w := &all[i]
		users := "any"
		if w.MaxSequences != nil {
			users = unit.Count(*w.MaxSequences)
		}
		m := markOf(w.Verdict)
		tb.row(say(w.Change), say(gib(w.Needed, 1)), say(string(m.sign)+" "+m.word, m.ink), say(users), say(times(w.SpeedRatio)), say(times(w.TotalRatio)))
	}
	s.page.blank()
	s.page.add(tb)
}
