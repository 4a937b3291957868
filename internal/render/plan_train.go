package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/unit"
)

// trained draws the plans of a training run: the best one, the others with what they lose, what else may be chosen,
// what rules of thumb would choose, and the files that run it.
func (s *screen) trained(all bool) {
	s.trainHead()
	if s.a.Best == nil {
		s.trainMiss()
	} else {
		s.trainBest()
		s.trainTable(all)
		s.surprises()
		s.configNames()
	}
}

// trainHead is line 1.
func (s *screen) trainHead() {
	a, v := s.a, memwall.Fits
	word := plural(int64(len(a.Candidates)), "plan", "plans")
	if a.Best == nil {
		v, word = memwall.DoesNotFit, "no plan"
	}
	name := a.Plan.Model
	if a.Model != nil {
		name = modelName(a.Model)
	}
	asked := append([]string{name}, strings.Split(a.Plan.Hardware, ",")...)
	for _, w := range []string{a.Plan.Method, a.Plan.Framework} {
		if w != "" {
			asked = append(asked, strings.ReplaceAll(w, ",", ", "))
		}
	}
	if n := int64(a.Plan.Tokens); n > 0 {
		asked = append(asked, brief(n)+" tokens")
	}
	m := markOf(v)
	s.page.dotted(join(say(string(m.sign)+" "+word, m.ink), say("   ")), asked)
}

// leastWord is what the best plan has least of.
func (s *screen) leastWord() string {
	if g := s.a.Plan.Goal; g != nil {
		switch g.Minimize {
		case "cost":
			return "cheapest: "
		case "devices":
			return "fewest devices: "
		}
	}
	return "fastest: "
}

// trainBest is line 2, its figures, and what of a step it loses.
func (s *screen) trainBest() {
	b := s.a.Best
	s.page.para(pad(gap), join(say(s.leastWord()), say(changeOf(b), bold)))
	if b.Step == nil {
		s.page.para(pad(gap), say(b.Why))
		return
	}
	figures := []string{significant(b.Step.PerDevice, 3) + " tok/s per device", "MFU " + percent(b.Step.MFU), gib(b.Headroom, 1) + " GiB free"}
	if r := b.Run; r != nil {
		figures = append([]string{fmt.Sprintf("%s (%s–%s days)", took(r.Seconds), significant(r.DaysLow, 2), significant(r.DaysHigh, 2)), runCost(b)}, figures...)
	} else {
		figures = append([]string{"a step " + took(b.Step.Seconds)}, figures...)
	}
	s.page.para(pad(gap), say(strings.Join(slices.DeleteFunc(figures, func(s string) bool { return s == "" || s == "—" }), " · ")))
	s.page.para(pad(gap), say(b.Why, dim))
}

// changeOf a plan in words.
func changeOf(c *memwall.Candidate) string {
	if c.Change == "" {
		return "as asked"
	}
	return c.Change
}

// timeOf a plan: of the run, or of a step where nobody says how many tokens it has.
func timeOf(c *memwall.Candidate) string {
	switch {
	case c.Run != nil:
		return took(c.Run.Seconds)
	case c.Step != nil:
		return took(c.Step.Seconds)
	}
	return "—"
}

// runCost of a plan: of the run, or of a million tokens.
func runCost(c *memwall.Candidate) string {
	switch {
	case c.Run != nil && c.Run.USD != nil:
		return dollars(*c.Run.USD)
	case c.Run == nil && c.Cost != nil:
		return "$" + significant(*c.Cost, 2)
	}
	return "—"
}

// dollars are short: $420, $12.0K, $3.40M.
func dollars(x float64) string {
	if x < 10_000 {
		return "$" + significant(x, 3)
	}
	return "$" + brief(int64(x))
}

// trainColumns begin a table of plans.
func (s *screen) trainColumns() *table {
	tb := &table{sides: []side{right, left, right, right, decimal}}
	time, cost := "a step", "$/1M tok"
	if s.a.Best.Run != nil {
		time, cost = "run", "cost"
	}
	tb.row(s.fitting(nil, say("plan", bold), say(time, dim), say(cost, dim), say("free, GiB", dim))...)
	return tb
}

// fitting leaves out the columns that a narrow page has no room for: money and room.
func (s *screen) fitting(row ...text) []text {
	if s.page.st.width() < narrow {
		return row[:3]
	}
	return row
}

// trainRow adds a plan, and why it stands there below it.
func (s *screen) trainRow(tb *table, i int, why bool) {
	c := &s.a.Candidates[i]
	tb.wrapped(1, s.planCells(), s.fitting(say(fmt.Sprint(i+1), dim), say(changeOf(c)), say(timeOf(c)), say(runCost(c)), say(gib(c.Headroom, 1)))...)
	if !why {
		return
	}
	for _, l := range say(c.Why, dim).wrap(s.planCells()) {
		tb.row(nil, l)
	}
}

// planCells is the width of the column of plans: what the others leave.
func (s *screen) planCells() int {
	if width := s.page.st.width(); width < narrow {
		return max(12, width-20)
	}
	return s.page.st.width() - 41
}

// Plans that are shown unasked.
const (
	mostLayouts   = 6
	mostOthers    = 3
	mostTradeOffs = 4
)

// trainTable is the plans in order: of each layout the best, and then what else is on the front.
func (s *screen) trainTable(all bool) {
	shown, tb := s.shownPlans(all), s.trainColumns()
	for n, i := range shown {
		s.trainRow(tb, i, n > 0)
	}
	front := s.tradeOffs(shown)
	if len(front) > 0 {
		tb.row(nil)
		tb.row(nil, say("trade-offs", bold))
	}
	for _, i := range front {
		s.trainRow(tb, i, false)
	}
	s.page.blank()
	s.page.add(tb)
	if len(front) > 0 {
		s.page.para(pad(gap), say("a trade-off: nothing that was found takes less time, costs less and leaves more", dim))
	}
	if rest := len(s.a.Candidates) - len(shown) - len(front); rest > 0 {
		s.page.elsewhere(unit.Count(int64(rest)) + " more: --all")
	}
}

// shownPlans are indices of candidates: of each layout the best, and the best of machines, methods and frameworks that
// have none among these; all where all are asked for.
func (s *screen) shownPlans(all bool) (out []int) {
	var layouts, kinds []string
	others := 0
	for i := range s.a.Candidates {
		c := &s.a.Candidates[i]
		layout, kind := layoutKey(c), kindKey(c)
		isNew := !slices.Contains(kinds, kind)
		switch {
		case all:
		case slices.Contains(layouts, layout):
			continue
		case len(layouts) < mostLayouts:
		case isNew && others < mostOthers:
			others++
		default:
			continue
		}
		out, layouts, kinds = append(out, i), append(layouts, layout), append(kinds, kind)
	}
	return out
}

// kindKey tells what is trained where by what.
func kindKey(c *memwall.Candidate) string {
	return fmt.Sprint(c.Plan.Hardware, c.Plan.Devices, c.Plan.Method, c.Plan.Framework)
}

// layoutKey tells plans apart that are more than a micro-batch, chunks or recomputation from each other.
func layoutKey(c *memwall.Candidate) string {
	p := c.Plan
	return fmt.Sprint(p.Hardware, p.Devices, p.Method, p.Framework, p.Optimizer, p.Sharding, p.TP, p.PP, p.CP, p.EP)
}

// tradeOffs are other plans of the front: some of them, from the nearest to the best one to the farthest.
func (s *screen) tradeOffs(shown []int) (out []int) {
	var front []int
	for _, i := range s.a.Pareto {
		if !slices.Contains(shown, i) {
			front = append(front, i)
		}
	}
	if len(front) <= mostTradeOffs {
		return front
	}
	for k := range mostTradeOffs {
		out = append(out, front[k*(len(front)-1)/(mostTradeOffs-1)])
	}
	return out
}

// surprises are what rules of thumb would choose.
func (s *screen) surprises() {
	for i := range s.a.Surprises {
		c := &s.a.Surprises[i]
		if i == 0 {
			s.page.blank()
		}
		s.page.para(join(pad(gap), say("surprise ", dim)), join(say(changeOf(c)), say(": "+c.Why, dim)))
	}
}

// trainMiss is what comes nearest where nothing fits.
func (s *screen) trainMiss() {
	c := s.a.NearestMiss
	if c == nil {
		return
	}
	lacks := gib(c.Headroom, 1) + " GiB free on each device, less than the band; " + c.Why
	switch {
	case c.Headroom < 0:
		lacks = gib(-c.Headroom, 1) + " GiB short on a device: " + c.Why
	case c.HostHeadroom != nil && *c.HostHeadroom < 0:
		lacks = gib(-*c.HostHeadroom, 1) + " GiB short on the host: " + c.Why
	}
	s.page.para(pad(gap), say("nothing that was left open fits"))
	s.page.blank()
	s.page.para(join(pad(gap), say("nearest  ", dim)), join(say(changeOf(c), bold), say(": "+lacks)))
}
