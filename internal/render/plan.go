package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// PlanOptions select what is shown beyond the default.
type PlanOptions struct {
	All   bool // all changes and plans
	If    bool // the effects of small variations
	Notes bool
}

// Plan draws what must change: how many ways there are, the first that fits, the ladder, and how to run it.
func Plan(a *memwall.Answer, opt PlanOptions, st term.Style) string {
	s := &screen{page: term.NewPage(st), a: a, opt: FitOptions{Notes: opt.Notes}}
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

// changed writes what must change.
func (s *screen) changed(opt PlanOptions) {
	s.planHead()
	s.planBest()
	if s.a.Plan.Hardware == "" {
		s.machines(opt.All || s.page.Style.Endless)
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

// planHead writes line 1: how many ways there are, and the request.
func (s *screen) planHead() {
	var close int64
	for i := range s.a.Ladder {
		if s.a.Ladder[i].Verdict == memwall.Tight {
			close++
		}
	}
	ways := term.Plural(waysOf(s.a), "way", "ways")
	if s.a.Plan.Hardware == "" {
		ways = "fits on " + term.Plural(int64(len(s.a.Candidates)), "kind of hardware", "kinds of hardware")
	}
	m := term.MarkOf(memwall.Fits)
	switch {
	case s.a.Verdict == memwall.Fits:
		ways = "fits as asked"
	case waysOf(s.a) == 0:
		m, ways = term.MarkOf(memwall.DoesNotFit), "no way"
	}
	if close > 0 && s.a.Verdict != memwall.Fits {
		ways += fmt.Sprintf(", %d close", close)
	}
	about := asked(s.a)
	if s.a.Plan.Hardware == "" && differ(s.a.Candidates) {
		about = []string{about[0], "each in a format that suits it"}
	}
	s.page.Dotted(term.Join(term.Say(string(m.Sign)+" "+ways, m.Ink), term.Say("   ")), about)
}

// waysOf counts the changes that make an answer's plan fit, alone or together.
func waysOf(a *memwall.Answer) (n int64) {
	alone := map[string]bool{}
	for i := range a.Ladder {
		if c := &a.Ladder[i]; c.Verdict == memwall.Fits {
			n++
			alone[c.Change] = true
		}
	}
	for i := range a.Candidates {
		if !alone[a.Candidates[i].Change] {
			n++
		}
	}
	return n
}

// planBest writes line 2: the shortage as requested, and the first change that fixes it.
func (s *screen) planBest() {
	if s.a.Plan.Hardware == "" {
		if b := s.a.Best; b != nil {
			s.page.Para(term.Pad(term.Gap), term.Join(term.Say(firstOfAny(s.a)+": "), term.Say(b.Change, term.Bold),
				term.Say(", "+s.buys(b))))
		}
		return
	}
	x := s.lack()
	if b := s.a.Best; b != nil && len(b.Patch) > 0 {
		name := "; first that fits: "
		if s.a.Verdict == memwall.Fits {
			name = "; better: "
		}
		x = term.Join(x, term.Say(name), term.Say(b.Change, term.Bold), term.Say(", "+s.buys(b)))
	}
	s.page.Para(term.Pad(term.Gap), x)
}

// firstOfAny describes what makes the first of all hardware best.
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

// lack returns "2.8 GiB short as asked", or the headroom.
func (s *screen) lack() term.Text {
	d := &s.a.Devices[0]
	n := term.Needed(d)
	switch s.a.Verdict {
	case memwall.DoesNotFit:
		if d.Headroom >= 0 {
			return term.Say("host memory short as asked", term.InkBad)
		}
		return term.Say(term.GiB(-d.Headroom, n.Decimals())+" GiB short as asked", term.InkBad)
	case memwall.Tight:
		return term.Say("tight as asked: "+term.GiB(d.Headroom, n.Decimals())+" GiB free, less than the band", term.InkTight)
	case memwall.Fits:
		return term.Say(term.GiB(d.Headroom, n.Decimals()) + " GiB free" + perUser(s.a))
	}
	return term.Say("what it needs is not known", term.InkUnknown)
}

// buys describes a plan's headroom and speed.
func (s *screen) buys(c *memwall.Candidate) string {
	out := term.GiB(c.Headroom, 1) + " GiB free"
	if c.Speed != nil && c.Speed.Decode != nil {
		out += ", " + term.Significant(*c.Speed.Decode, 2) + " tok/s"
	}
	return out
}

// usualRungs is the number of changes shown by default.
const usualRungs = 9

// shownRungs returns the cheapest changes; insufficient ones only if there is no other, or all are requested.
func (s *screen) shownRungs(all bool) (out []memwall.Candidate) {
	all = all || waysOf(s.a) == 0
	for _, c := range s.a.Ladder {
		if c.Verdict == memwall.DoesNotFit && !all {
			continue
		}
		if out = append(out, c); len(out) == usualRungs && !all {
			break
		}
	}
	return out
}

// ladder writes the table of changes; if the plan already fits, improvements.
func (s *screen) ladder(all bool) {
	shown := s.shownRungs(all)
	if len(shown) == 0 {
		return
	}
	head := "change"
	if s.a.Verdict == memwall.Fits {
		head = "could be better"
	}
	tb, judged, wide := rungTable(head), false, s.page.Style.Cells() > term.DefaultWidth && !s.page.Style.Endless
	if wide {
		tb.Sides, tb.Rows[0], tb.Remark = append(tb.Sides, term.Left), append(tb.Rows[0], term.Say("arguments", term.Dim)), true
	}
	for i := range shown {
		c := &shown[i]
		judged = judged || c.Quality != nil
		if tb.Picked == 0 && c.Verdict == memwall.Fits {
			tb.Picked = i + 1
		}
		to, speed := &term.Place{Patch: c.Patch, Flags: c.Arguments}, TokensEach(c.Speed)
		if c.Verdict == memwall.DoesNotFit {
			speed = "—" // it does not run
		}
		row := []term.Text{term.Say(fmt.Sprint(i+1), term.Dim), term.Say(c.Change).LinkTo(to),
			term.Say(term.GiB(c.Saves, 2)), s.headroomAfter(c), term.Say(speed), term.Say(qualityOf(c.Quality))}
		if wide {
			row = append(row, term.Say(c.Arguments, term.Dim))
		}
		tb.Wrapped(1, s.changeCells(), row...)
	}
	s.page.Blank()
	s.page.Add(tb)
	if rest := len(s.a.Ladder) - len(shown); rest > 0 {
		s.page.TerminalOnly(unit.Count(int64(rest)) + " more: --all")
	}
	if judged && s.page.Style.Cells() >= term.DefaultWidth {
		s.page.Para(term.Pad(term.Gap), term.Say("quality: how a published score changes; perplexity is worse where it rises, others "+
			"where they fall", term.Dim))
	}
}

// rungTable returns an empty table of changes. A narrow page drops quality, then speed and savings, but never the remaining
// headroom.
func rungTable(head string) *term.Table {
	tb := &term.Table{Sides: []term.Side{term.Right, term.Left, term.Decimal, term.Left, term.Decimal, term.Left}, Give: []int{5, 4, 2}}
	tb.Row(append([]term.Text{nil, term.Say(head, term.Bold)}, dimmed("saves", "then, GiB", "tok/s", "quality")...)...)
	return tb
}

// changeCells returns the width left for the column of changes.
func (s *screen) changeCells() int {
	switch width := s.page.Style.Cells(); {
	case s.page.Style.Endless:
		return width
	case width < term.Narrow:
		return width - 24
	case width < term.DefaultWidth:
		return width - 41
	}
	return 23
}

// headroomAfter formats the headroom, or the remaining shortage, after a change.
func (s *screen) headroomAfter(c *memwall.Candidate) term.Text {
	if c.Headroom < 0 {
		return term.Join(term.Sign(c.Verdict), term.Say(" "+term.GiB(-c.Headroom, 1)+" short"))
	}
	return term.Join(term.Sign(c.Verdict), term.Say(" "+term.GiB(c.Headroom, 1)+" free"))
}

// TokensEach formats the tokens per second per user; a dash if unknown.
func TokensEach(v *memwall.Speed) string {
	if mid, _, _ := rate(v); mid != nil {
		return term.Significant(*mid, 2)
	}
	return "—"
}

// rate returns the decode rate or, if only that is known, the prefill rate.
func rate(v *memwall.Speed) (mid, low, high *float64) {
	switch {
	case v == nil:
		return nil, nil, nil
	case v.Decode == nil:
		return v.Prefill, v.PrefillLow, v.PrefillHigh
	}
	return v.Decode, v.DecodeLow, v.DecodeHigh
}

// qualityOf returns "perplexity +0.7 %", or a dash if not measured.
func qualityOf(q *memwall.Quality) string {
	if q == nil {
		return "—"
	}
	return scoreName(q.Metric) + " " + percentOf(q.Mid) + " %"
}

// scoreName returns a metric's name without its corpus, which the JSON answer has.
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
		return "+" + term.Significant(x, 2)
	case x <= -least:
		return "−" + term.Significant(-x, 2)
	}
	return "±0"
}

// nearestMiss writes what comes nearest if nothing in the search space fits.
func (s *screen) nearestMiss() {
	c := s.a.NearestMiss
	if c == nil {
		return
	}
	s.page.Blank()
	words := c.Change
	if words == "" {
		words = "what was asked for"
	}
	kept := ""
	if s.a.Best != nil && len(s.a.Best.Relaxes) > 0 {
		kept = "; what fits changes " + strings.Join(s.a.Best.Relaxes, ", ")
	}
	lacks := " leaves " + term.GiB(c.Headroom, 1) + " GiB, less than the band"
	if c.Headroom < 0 {
		lacks = " is " + term.GiB(-c.Headroom, 1) + " GiB short"
	}
	s.page.Para(term.Join(term.Pad(term.Gap), term.Say("nearest  ", term.Dim)), term.Say("keeping all that was set, "+words+lacks+kept))
}

// differ reports whether plans store weights in different formats.
func differ(list []memwall.Candidate) bool {
	return slices.ContainsFunc(list, func(c memwall.Candidate) bool {
		return c.Plan != nil && list[0].Plan != nil && c.Plan.Weights != list[0].Plan.Weights
	})
}

// machines writes the smallest hardware of each kind that holds the plan.
func (s *screen) machines(all bool) {
	shown := s.a.Candidates
	if !all {
		shown = shown[:min(len(shown), usualRungs)]
	}
	if len(shown) == 0 {
		return
	}
	tb := &term.Table{Give: []int{1}, Sides: []term.Side{term.Left, term.Left, term.Decimal, term.Decimal, term.Decimal, term.Decimal}}
	tb.Row(append([]term.Text{term.Say("fits on", term.Bold)}, dimmed("format", "GiB in all", "free", "tok/s", "$ an hour")...)...)
	for i := range shown {
		c := &shown[i]
		to := &term.Place{Ask: "fit", Patch: c.Patch}
		tb.Wrapped(0, s.page.Style.Cells()-22, term.Say(c.Change).LinkTo(to), term.Say(c.Plan.Weights), term.Say(term.GiB(c.Capacity, 0)),
			term.Say(term.GiB(c.Headroom, 1)).LinkTo(to), term.Say(TokensEach(c.Speed)), term.Say(rentOf(c)))
	}
	if !differ(shown) {
		tb.Without(1)
	}
	s.page.Blank()
	s.page.Add(tb)
	if n := len(s.a.Candidates); n > len(shown) {
		s.page.TerminalOnly(fmt.Sprintf("%d of %d shown; all of them: --all", len(shown), n))
	}
}

// rentOf formats the rent of a plan's devices, or a dash.
func rentOf(c *memwall.Candidate) string {
	if c.USDPerHour == nil {
		return "—"
	}
	return term.Significant(*c.USDPerHour, 2) + rentedWhole(c.Speed)
}

// searched writes how many plans were evaluated.
func (s *screen) searched() {
	e := s.a.Evaluated
	if e == nil || e.Decided == 0 {
		return
	}
	s.page.Blank()
	s.page.Para(term.Pad(term.Gap),
		term.Say(unit.Count(int64(e.Decided))+" plans compared", term.Dim))
}

// whatIf writes the effects of variations: one line for the most helpful upgrade, or a table of all.
func (s *screen) whatIf(all bool) {
	if all {
		s.whatIfs("what if the plan had", s.a.Sensitivity)
		s.whatIfs("what if the hardware had", s.a.Upgrades)
		return
	}
	for i := range s.a.Upgrades {
		if u := &s.a.Upgrades[i]; u.HelpsMost {
			s.page.Blank()
			s.page.Para(term.Join(term.Pad(term.Gap), term.Say("upgrade  ", term.Dim)), term.Say(u.Change+" would help most: "+s.effect(u)))
		}
	}
}

// effect describes the effect of a variation.
func (s *screen) effect(u *memwall.WhatIf) string {
	var out []string
	if u.Verdict != s.a.Verdict {
		out = append(out, term.MarkOf(u.Verdict).Word)
	}
	if u.SpeedRatio != nil {
		out = append(out, times(u.SpeedRatio)+" the speed")
	}
	switch n := u.MaxSequences; {
	case n == nil, s.a.KV != nil && s.a.KV.Pictures:
	case *n == 0:
		out = append(out, "room for nobody")
	default:
		out = append(out, "room for "+term.Users(*n))
	}
	return strings.Join(out, ", ")
}

func (s *screen) whatIfs(head string, all []memwall.WhatIf) {
	if len(all) == 0 {
		return
	}
	width := s.page.Style.Cells()
	if width < term.DefaultWidth {
		head = strings.Replace(head, "what if the ", "", 1)
	}
	tb := &term.Table{Sides: []term.Side{term.Left, term.Decimal, term.Left, term.Right, term.Left, term.Left}, Give: []int{5, 4, 1}}
	tb.Row(append([]term.Text{term.Say(head, term.Bold)}, dimmed("GiB", "then", "users", "each", "together")...)...)
	for i := range all {
		w := &all[i]
		users, m := "any", term.MarkOf(w.Verdict)
		if w.MaxSequences != nil {
			users = unit.Count(*w.MaxSequences)
		}
		to := &term.Place{Ask: "fit", Patch: w.Patch}
		tb.Wrapped(0, max(13, width-52), term.Say(w.Change).LinkTo(to), term.Say(term.GiB(w.Needed, 1)),
			term.Say(string(m.Sign)+" "+m.Word, m.Ink), term.Say(users), term.Say(times(w.SpeedRatio)), term.Say(times(w.TotalRatio)))
	}
	s.page.Blank()
	s.page.Add(tb)
}
