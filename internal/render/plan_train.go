package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// trained draws the plans of a training run: the best, the others with their losses, further choices, what rules of thumb would
// choose, and the files that run it.
func (s *screen) trained(all bool) {
	s.trainHead()
	if s.a.Best == nil {
		s.trainMiss()
	} else {
		s.trainBest()
		s.trainTable(all)
		s.trainFront()
		s.surprises()
		s.configNames()
	}
}

// trainHead is line 1.
func (s *screen) trainHead() {
	a, v := s.a, s.a.Verdict
	word := term.Plural(int64(len(a.Candidates)), "plan", "plans")
	switch {
	case a.Best == nil:
		v, word = memwall.DoesNotFit, "no plan"
	case v == memwall.Tight:
		word += ", tight"
	}
	name := a.Plan.Model
	if a.Model != nil {
		name = ModelName(a.Model)
	}
	asked := append([]string{name}, strings.Split(a.Plan.Hardware, ",")...)
	for _, w := range []string{a.Plan.Method, a.Plan.Framework} {
		if w != "" {
			asked = append(asked, strings.ReplaceAll(w, ",", ", "))
		}
	}
	if n := int64(a.Plan.Tokens); n > 0 {
		asked = append(asked, term.Brief(n)+" tokens")
	}
	m := term.MarkOf(v)
	s.page.Dotted(term.Join(term.Say(string(m.Sign)+" "+word, m.Ink), term.Say("   ")), asked)
}

// leastWord returns the word for the best plan's objective.
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

// trainBest writes line 2, its figures, and its losses per step.
func (s *screen) trainBest() {
	b := s.a.Best
	s.page.Para(term.Pad(term.Gap), term.Join(term.Say(s.leastWord()), term.Say(changeOf(b), term.Bold)))
	if b.Step == nil {
		s.page.Para(term.Pad(term.Gap), term.Say(b.Why))
		return
	}
	figures := []string{term.Significant(b.Step.PerDevice, 3) + " tok/s per device", "MFU " + term.Percent(b.Step.MFU),
		term.GiB(b.Headroom, 1) + " GiB free"}
	if r := b.Run; r != nil {
		figures = append([]string{tookWithin(r.Seconds, r.Seconds*r.DaysLow/r.Days, r.Seconds*r.DaysHigh/r.Days), runCost(b)}, figures...)
	} else {
		figures = append([]string{"a step " + took(b.Step.Seconds)}, figures...)
	}
	s.page.Para(term.Pad(term.Gap), term.Say(strings.Join(slices.DeleteFunc(figures, func(s string) bool { return s == "" || s == "—" }),
		" · ")))
	s.page.Para(term.Pad(term.Gap), term.Say(b.Why, term.Dim))
}

// changeOf describes a plan.
func changeOf(c *memwall.Candidate) string {
	if c.Change == "" {
		return "as asked"
	}
	return c.Change
}

// timeOf formats the time of a run, or of a step if the number of tokens is unknown.
func timeOf(c *memwall.Candidate) string {
	switch {
	case c.Run != nil:
		return took(c.Run.Seconds)
	case c.Step != nil:
		return took(c.Step.Seconds)
	}
	return "—"
}

// runCost formats the cost of a run, or of a million tokens.
func runCost(c *memwall.Candidate) string {
	switch {
	case c.Run != nil && c.Run.USD != nil:
		return dollars(*c.Run.USD)
	case c.Run == nil && c.Cost != nil:
		return "$" + term.Significant(*c.Cost, 2)
	}
	return "—"
}

// dollars formats an amount compactly: $420, $12.0K, $3.40M.
func dollars(x float64) string {
	if x < 10_000 {
		return "$" + term.Significant(x, 3)
	}
	return "$" + term.Brief(int64(x))
}

// trainColumns returns an empty table of plans.
func (s *screen) trainColumns() *term.Table {
	tb := &term.Table{Sides: []term.Side{term.Right, term.Left, term.Right, term.Right, term.Decimal}}
	time, cost := "a step", "$/1M tok"
	if s.a.Best.Run != nil {
		time, cost = "run", "cost"
	}
	tb.Row(nil, term.Say("plan", term.Bold), term.Say(time, term.Dim), term.Say(cost, term.Dim),
		term.Say("free, GiB", term.Dim))
	return tb
}

// trainRow adds a plan, with the reason for its position below.
func (s *screen) trainRow(tb *term.Table, i int, why bool) {
	c := &s.a.Candidates[i]
	tb.Wrapped(1, s.planCells(), term.Say(fmt.Sprint(i+1), term.Dim), term.Say(changeOf(c)), term.Say(timeOf(c)),
		term.Say(runCost(c)), term.Say(term.GiB(c.Headroom, 1)))
	if !why {
		return
	}
	for _, l := range term.Say(c.Why, term.Dim).Wrap(s.planCells()) {
		tb.Row(nil, l)
	}
}

// planCells returns the width left for the column of plans.
func (s *screen) planCells() int {
	if width := s.page.Style.Cells(); width < term.Narrow {
		return max(12, width-20)
	}
	return s.page.Style.Cells() - 41
}

// Numbers of plans shown by default.
const (
	mostLayouts   = 6
	mostOthers    = 3
	mostTradeOffs = 4
)

// trainTable writes the plans in order: the best of each layout, then the rest of the front.
func (s *screen) trainTable(all bool) {
	shown, tb := s.shownPlans(all), s.trainColumns()
	for n, i := range shown {
		s.trainRow(tb, i, n > 0)
	}
	front := s.tradeOffs(shown)
	if len(front) > 0 {
		tb.Row(nil)
		tb.Row(nil, term.Say("trade-offs", term.Bold))
	}
	for _, i := range front {
		s.trainRow(tb, i, false)
	}
	s.page.Blank()
	s.page.Add(tb)
	if len(front) > 0 {
		s.page.Para(term.Pad(term.Gap), term.Say("a trade-off: no plan found is faster, cheaper and leaves more memory",
			term.Dim))
	}
	if rest := len(s.a.Candidates) - len(shown) - len(front); rest > 0 {
		s.page.TerminalOnly(unit.Count(int64(rest)) + " more: --all")
	}
}

// trainFront draws plans by time and cost: Pareto-optimal ones in front, by number if that is short.
func (s *screen) trainFront() {
	var front, others []term.Dot
	for i := range s.a.Candidates {
		d, ok := trainDot(&s.a.Candidates[i])
		switch {
		case !ok:
		case !slices.Contains(s.a.Pareto, i):
			d.Mark, d.Ink, d.Behind = "·", term.Dim, true
			others = append(others, d)
		default:
			if d.Mark, d.Ink, d.Behind = "●", term.Bold, true; i < 9 {
				d.Mark, d.Behind = fmt.Sprint(i+1), false
			}
			front = append(front, d)
		}
	}
	x, y := "seconds a step", "$ a million tokens"
	if s.a.Best.Run != nil {
		x, y = "days of the run", "cost, $"
	}
	s.scatter(append(front, others...), x, y+" · ●, numbers: nothing found beats them")
}

// trainDot returns a plan's dot; false if its cost is unknown.
func trainDot(c *memwall.Candidate) (d term.Dot, ok bool) {
	switch {
	case c.Run != nil && c.Run.USD != nil:
		return term.Dot{X: c.Run.Days, Y: *c.Run.USD}, true
	case c.Run == nil && c.Step != nil && c.Cost != nil:
		return term.Dot{X: c.Step.Seconds, Y: *c.Cost}, true
	}
	return d, false
}

// shownPlans returns the indices of candidates to show: the best of each layout, and the best of machines, methods and frameworks
// that have none among these; all if requested.
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

// kindKey returns the key of a plan's method, machine and framework.
func kindKey(c *memwall.Candidate) string {
	return fmt.Sprint(c.Plan.Hardware, c.Plan.Devices, c.Plan.Method, c.Plan.Framework)
}

// layoutKey returns a key shared by plans that differ only in micro-batch, virtual stages or recomputation.
func layoutKey(c *memwall.Candidate) string {
	p := c.Plan
	return fmt.Sprint(p.Hardware, p.Devices, p.Method, p.Framework, p.Optimizer, p.Sharding, p.TP, p.PP, p.CP, p.EP)
}

// tradeOffs returns other plans of the front, from the nearest to the best to the farthest.
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

// surprises writes what rules of thumb would choose.
func (s *screen) surprises() {
	for i := range s.a.Surprises {
		c := &s.a.Surprises[i]
		if i == 0 {
			s.page.Blank()
		}
		s.page.Para(term.Join(term.Pad(term.Gap), term.Say("surprise ", term.Dim)),
			term.Join(term.Say(changeOf(c)), term.Say(": "+c.Why, term.Dim)))
	}
}

// trainMiss writes what comes nearest if nothing fits.
func (s *screen) trainMiss() {
	c := s.a.NearestMiss
	if c == nil {
		return
	}
	lacks := term.GiB(c.Headroom, 1) + " GiB free on each device, less than the band; " + c.Why
	switch {
	case c.Headroom < 0:
		lacks = term.GiB(-c.Headroom, 1) + " GiB short on a device: " + c.Why
	case c.HostHeadroom != nil && *c.HostHeadroom < 0:
		lacks = term.GiB(-*c.HostHeadroom, 1) + " GiB short on the host: " + c.Why
	}
	s.page.Para(term.Pad(term.Gap), term.Say("nothing that was left open fits"))
	s.page.Blank()
	s.page.Para(term.Join(term.Pad(term.Gap), term.Say("nearest  ", term.Dim)),
		term.Join(term.Say(changeOf(c), term.Bold), term.Say(": "+lacks)))
}
