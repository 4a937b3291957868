package render

import (
	"fmt"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/unit"
)

// trainPlans draws the plans of a training run, the fastest first.
func (s *screen) trainPlans(all bool) {
	a := s.a
	v := memwall.Fits
	if a.Best == nil {
		v = memwall.DoesNotFit
	}
	name := a.Plan.Model
	if a.Model != nil {
		name = modelName(a.Model)
	}
	m := markOf(v)
	word := plural(int64(len(a.Candidates)), "plan", "plans")
	if a.Best == nil {
		word = "no plan"
	}
	s.page.dotted(join(say(string(m.sign)+" "+word, m.ink), say("   ")), []string{name, a.Plan.Hardware})
	if a.Best == nil {
		s.nearestMiss()
	} else {
		s.fastest()
		s.trainTable(all)
	}
	s.searched()
	s.notes()
}

// fastest is line 2.
func (s *screen) fastest() {
	b := s.a.Best
	x := join(say("fastest: "), say(b.Change, bold))
	if b.Step != nil {
		x = join(x, say(fmt.Sprintf(", %s tok/s per device, MFU %s, a step %s", significant(b.Step.PerDevice, 3), percent(b.Step.MFU), took(b.Step.Seconds))))
	}
	s.page.para(pad(gap), x)
}

func (s *screen) trainTable(all bool) {
	shown := s.a.Candidates
	if !all {
		shown = shown[:min(len(shown), usualRungs)]
	}
	tb := &table{sides: []side{left, decimal, decimal, left, right}, most: map[int]int{0: s.page.st.width() / 2}}
	tb.row(say("plan", bold), say("free, GiB", dim), say("tok/s", dim), say("(band)", dim), say("MFU", dim))
	for i := range shown {
		c := &shown[i]
		row := []text{say(c.Change), say(gib(c.Headroom, 1))}
		if t := c.Step; t != nil {
			row = append(row, say(significant(t.PerDevice, 3)), say(significant(t.Low, 2)+"–"+significant(t.High, 2), dim), say(percent(t.MFU)))
		}
		tb.row(row...)
	}
	s.page.blank()
	s.page.add(tb)
	if rest := len(s.a.Candidates) - len(shown); rest > 0 {
		s.page.line(pad(gap), say(unit.Count(int64(rest))+" more: --all", dim))
	}
}
