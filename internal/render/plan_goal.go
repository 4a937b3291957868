package render

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// aimed draws the fleets that serve a load within bounds: the best, a table of all, the reason for each position, what was expected
// to be better, and how to run the best.
func (s *screen) aimed(all bool) {
	s.goalTitle()
	switch {
	case s.a.Verdict == memwall.Unknown:
		s.goalStopped(all)
	case s.a.Best == nil:
		s.goalMiss()
	default:
		s.goalBest()
		s.fleets(all)
		s.front()
		s.fleetFacts()
		s.loads(s.a.Best.Fleet)
	}
	s.goalSurprises()
	s.dayPlan()
}

// goalTitle writes line 1: how many fleets hold, the load, the bounds.
func (s *screen) goalTitle() {
	m, words := term.MarkOf(memwall.Fits), term.Plural(s.fleetsHeld(), "fleet works", "fleets work")
	switch {
	case s.a.Verdict == memwall.Unknown:
		m, words = term.Mark{Sign: '?', Word: "", Ink: term.InkUnknown}, "stopped"
	case s.a.Best == nil:
		m, words = term.MarkOf(memwall.DoesNotFit), "no fleet works"
	}
	rest := []string{s.a.Plan.Model}
	if s.a.Model != nil {
		rest = []string{ModelName(s.a.Model)}
	}
	switch {
	case !s.a.Plan.Goal.MostUsers:
		rest = append(rest, loadWords(s.a))
	case s.a.Best != nil:
		words = "holds " + usersWords(s.a.Best.Fleet)
	case s.a.Verdict != memwall.Unknown:
		words = "holds no user"
	}
	rest = append(rest, s.boundWords()...)
	s.page.Dotted(term.Join(term.Say(string(m.Sign)+" "+words, m.Ink), term.Say("   ")), rest)
}

// usersWords returns "412 users (350–470)": the users a fleet holds, over its band.
func usersWords(f *memwall.Fleet) string {
	if f == nil || f.HoldsUsers == nil {
		return "—"
	}
	return term.Users(*f.HoldsUsers) + overBand(f.HoldsUsersLow, f.HoldsUsersHigh)
}

// overBand returns " (350–470)"; "" if the band is unknown.
func overBand(low, high *int64) string {
	if low == nil || high == nil || *low == *high {
		return ""
	}
	return fmt.Sprintf(" (%s–%s)", unit.Count(*low), unit.Count(*high))
}

// fleetsHeld counts the fleets that hold in simulation.
func (s *screen) fleetsHeld() (n int64) {
	for i := range s.a.Candidates {
		if meetsGoal(s.a.Candidates[i].Fleet) {
			n++
		}
	}
	return n
}

// boundWords returns "TTFT p99 ≤ 500 ms" for each bound, exactly as given; defaults are marked.
func (s *screen) boundWords() (out []string) {
	g := s.a.Plan.Goal
	var assumed []string
	for _, b := range []struct {
		what, field string
		by          map[string]float64
	}{{"TTFT", "goal.ttft_ms", g.TTFT}, {"TPOT", "goal.tpot_ms", g.TPOT}} {
		if s.defaulted(b.field) {
			assumed = append(assumed, b.what)
		}
		for _, name := range slices.Sorted(maps.Keys(b.by)) {
			worth, label := timeScale(b.by[name])
			out = append(out, fmt.Sprintf("%s %s ≤ %s%s%s", b.what, name, strconv.FormatFloat(b.by[name]/worth, 'g', -1, 64), term.NoBreak,
				label))
		}
	}
	if len(assumed) == 2 {
		assumed = []string{"bounds"}
	}
	for _, what := range assumed {
		out = append(out, what+" assumed")
	}
	if g.Attainment > 0 {
		out = append(out, term.Percent(g.Attainment)+" within both")
	}
	if g.Sure {
		out = append(out, "at the slow edge too")
	}
	return out
}

// goalStopped writes the most promising fleets if no simulation finished.
func (s *screen) goalStopped(all bool) {
	if len(s.a.Candidates) == 0 {
		s.page.Para(term.Pad(term.Gap), term.Say("no server estimated can carry the load"))
		return
	}
	c := &s.a.Candidates[0]
	s.page.Para(term.Pad(term.Gap), term.Join(term.Say("most promising, estimated: "), term.Say(fleetWords(c), term.Bold),
		term.Say(", "+dollarsAnHour(c.Fleet))))
	s.fleets(all)
}

// defaulted reports whether the field was not given.
func (s *screen) defaulted(field string) bool {
	return slices.ContainsFunc(s.a.Notes, func(n memwall.Note) bool { return n.Code == "default_used" && n.Field == field })
}

// goalBest writes line 2.
func (s *screen) goalBest() {
	b := s.a.Best
	x := term.Join(term.Say(leastWords(s.a)+": "), term.Say(fleetWords(b), term.Bold))
	what := []string{dollarsAnHour(b.Fleet), millionWords(b.Fleet), meetsWords(b.Fleet)}
	if s.a.Plan.Goal.MostUsers {
		what = what[:2]
	}
	for _, words := range what {
		if words != "" {
			x = term.Join(x, term.Say(", "+words))
		}
	}
	s.page.Para(term.Pad(term.Gap), x)
}

// leastWords describes the best fleet's objective: devices if its price is unknown.
func leastWords(a *memwall.Answer) string {
	switch what := a.Plan.Goal.Minimize; {
	case a.Plan.Goal.MostUsers && what == "cost":
		return "least cost for each"
	case a.Plan.Goal.MostUsers:
		return "most users"
	case what == "latency":
		return "least time"
	case what == "quality_loss":
		return "least loss of quality"
	case what == "devices", a.Best.Fleet.USDPerHour == nil:
		return "fewest devices"
	}
	return "least cost" + OnWhich(a)
}

// OnWhich returns " to count on" if a less certain fleet costs less than the best.
func OnWhich(a *memwall.Answer) string {
	best := &a.Candidates[0]
	for i := range a.Candidates {
		f := a.Candidates[i].Fleet
		if meetsGoal(f) && f.USDPerHour != nil && best.Fleet.USDPerHour != nil && *f.USDPerHour < *best.Fleet.USDPerHour {
			return " to count on"
		}
	}
	return ""
}

// meetsGoal reports whether a fleet meets the goal in simulation, certainly or probably.
func meetsGoal(f *memwall.Fleet) bool { return f != nil && (f.Meets == "yes" || f.Meets == "likely") }

// fleetWords returns "3 × (2xh100-sxm-80gb, vllm 0.24, tp 2, fp8)".
func fleetWords(c *memwall.Candidate) string {
	if c.Fleet == nil || c.Fleet.Replicas == 1 {
		return c.Change
	}
	return fmt.Sprintf("%d%s×%s(%s)", c.Fleet.Replicas, term.NoBreak, term.NoBreak, c.Change)
}

func dollarsAnHour(f *memwall.Fleet) string {
	if f.USDPerHour == nil {
		return "price not known"
	}
	return "$" + cents(*f.USDPerHour) + " an hour"
}

// cents formats an amount, with cents below a thousand.
func cents(x float64) string {
	if x < 1000 {
		return fmt.Sprintf("%.2f", x)
	}
	return unit.Count(int64(x + 0.5))
}

func millionWords(f *memwall.Fleet) string {
	if f.USDPerMillion == nil {
		return ""
	}
	return "$" + term.Significant(*f.USDPerMillion, 3) + " a million tokens"
}

func meetsWords(f *memwall.Fleet) string {
	switch f.Meets {
	case "yes":
		return "works even at the slow edge of the band"
	case "likely":
		return "likely: not at the slow edge of the band"
	case "no":
		return "does not hold"
	}
	return "estimated, not simulated"
}

// fleets is the table.
func (s *screen) fleets(all bool) {
	shown := s.a.Candidates
	if !all {
		shown = shown[:min(len(shown), usualRungs)]
	}
	most, second, third, side := s.a.Plan.Goal.MostUsers, "$ an hour", "sure", term.Left
	if most {
		second, third, side = "users", "$ an hour", term.Decimal
	}
	tb := &term.Table{Picked: 1,
		Sides: []term.Side{term.Right, term.Left, term.Decimal, term.Decimal, term.Decimal, side, term.Right, term.Left}}
	tb.Row(append([]term.Text{nil, term.Say("fleet", term.Bold)}, dimmed(second, "TTFT p99", "TPOT p99", third, "runs", "quality")...)...)
	for i := range shown {
		c, to, other := &shown[i], fleetPlace(&shown[i]), meetsShort(shown[i].Fleet)
		if most {
			other = rentDollars(c)
		}
		tb.Wrapped(1, s.fleetCells(), term.Say(s.ranked(i), term.Dim), term.Say(fleetWords(c)).LinkTo(to), term.Say(secondCell(c, most)),
			term.Say(p99(c, true)).LinkTo(to), term.Say(p99(c, false)).LinkTo(to), term.Say(other),
			term.Say(runsWords(c.Fleet)), term.Say(qualityOf(c.Quality)))
	}
	s.page.Blank()
	s.page.Add(tb)
	words := "* Pareto front: no other is better in price, devices, times, quality and " +
		map[bool]string{false: "certainty", true: "users"}[most]
	if s.page.Style.Cells() >= term.Narrow {
		words = "times in ms, simulated; runs: how many measurements of this device, engine and layout there are; " + words
	}
	s.page.Para(term.Pad(term.Gap), term.Say(words, term.Dim))
	if rest := len(s.a.Candidates) - len(shown); rest > 0 {
		s.page.TerminalOnly(unit.Count(int64(rest)) + " more: --all")
	}
}

// front draws the fleets of the table by cost and time per token, or users held; Pareto-optimal ones are bold.
func (s *screen) front() {
	yName := "TPOT p99, ms"
	if s.a.Plan.Goal.MostUsers {
		yName = "users"
	}
	var dots []term.Dot
	for i := range s.a.Candidates[:min(len(s.a.Candidates), usualRungs)] {
		c := &s.a.Candidates[i]
		d := term.Dot{Mark: strconv.Itoa(i + 1), Ink: term.Dim}
		if slices.Contains(s.a.Pareto, i) {
			d.Ink = term.Bold
		}
		switch {
		case c.USDPerHour == nil:
			continue
		case s.a.Plan.Goal.MostUsers && c.Fleet != nil && c.Fleet.HoldsUsers != nil:
			d.X, d.Y = *c.USDPerHour, float64(*c.Fleet.HoldsUsers)
		case !s.a.Plan.Goal.MostUsers && c.Simulated != nil && c.Simulated.TPOT != nil:
			d.X, d.Y = *c.USDPerHour, c.Simulated.TPOT.P99
		default:
			continue
		}
		dots = append(dots, d)
	}
	s.scatter(dots, "$ an hour", yName)
}

// scatter draws points if the page has room for a picture.
func (s *screen) scatter(dots []term.Dot, xName, yName string) {
	if s.page.Style.Cells() < term.Narrow || s.page.Style.Endless {
		return
	}
	if lines := term.Scatter(dots, xName, yName, min(s.page.Style.Cells(), term.DefaultWidth)); lines != nil {
		s.page.Blank()
		for _, l := range lines {
			s.page.Line(l)
		}
	}
}

// secondCell formats what a fleet is judged by: its rent, or the users it holds.
func secondCell(c *memwall.Candidate, most bool) string {
	if !most || c.Fleet == nil || c.Fleet.HoldsUsers == nil {
		return rentDollars(c)
	}
	return unit.Count(*c.Fleet.HoldsUsers)
}

// fleetPlace returns the link to a fleet's simulation, which its times rest on.
func fleetPlace(c *memwall.Candidate) *term.Place { return &term.Place{Ask: "sim", Patch: c.Patch} }

// wideFleets is the width from which the table has a column of quality.
const wideFleets = term.DefaultWidth + 20

// fleetCells returns the width left for the column of fleets.
func (s *screen) fleetCells() int {
	switch width := s.page.Style.Cells(); {
	case width < term.Narrow:
		return width - 20
	case width < term.DefaultWidth:
		return width - 40
	case width < wideFleets:
		return width - 54
	default:
		return width - 74
	}
}

// ranked returns a rank, starred if on the front.
func (s *screen) ranked(i int) string {
	star := ""
	if slices.Contains(s.a.Pareto, i) {
		star = "*"
	}
	return star + fmt.Sprint(i+1)
}

func rentDollars(c *memwall.Candidate) string {
	if c.USDPerHour == nil {
		return "—"
	}
	return cents(*c.USDPerHour)
}

func p99(c *memwall.Candidate, first bool) string {
	if c.Simulated == nil {
		return "—"
	}
	p := c.Simulated.TPOT
	if first {
		p = c.Simulated.TTFT
	}
	if p == nil {
		return "—"
	}
	return term.Significant(p.P99, 3)
}

// runsWords describes the measured runs behind a fleet.
func runsWords(f *memwall.Fleet) string {
	if f == nil {
		return "—"
	}
	return unit.Count(f.Runs)
}

func meetsShort(f *memwall.Fleet) string {
	if f == nil {
		return "—"
	}
	return map[string]string{"estimated": "est."}[f.Meets] + map[string]string{"yes": "yes", "likely": "likely", "no": "no"}[f.Meets]
}

// fleetFacts writes further facts about the best: why, what it could hold, what makes it certain, energy, ownership.
func (s *screen) fleetFacts() {
	b := s.a.Best
	f := b.Fleet
	s.page.Blank()
	if b.Why != "" {
		s.labelled("why", term.Say(b.Why))
	}
	if !s.a.Plan.Goal.MostUsers {
		s.labelled("holds", term.Say(holdsWords(f)))
	}
	if n := f.Sure; n != nil && *n > f.Replicas {
		s.labelled("sure", term.Say(fmt.Sprintf("with %s also at the slow edge of the band", term.Plural(*n, "replica", "replicas"))))
	}
	if f.Watts != nil && f.JoulesPerToken != nil {
		s.labelled("power", term.Say(fmt.Sprintf("%s kW (%s–%s), %s J a token of an answer", term.Significant(*f.Watts/1000, 2),
			term.Significant(*f.WattsLow/1000, 2), term.Significant(*f.WattsHigh/1000, 2), term.Significant(*f.JoulesPerToken, 2))))
	}
	if f.Price != "" {
		s.labelled("price", term.Say(f.Price+"; from $"+cents(*f.USDPerHourLow)+" to $"+cents(*f.USDPerHourHigh)))
	}
	s.owned(f.Owned)
	if q := b.Quality; q != nil {
		s.labelled("quality", term.Say(qualityOf(q)+" against the published weights, measured on "+q.MeasuredOn))
	}
}

func holdsWords(f *memwall.Fleet) string {
	each := term.Significant(f.UsersEach, 2) + " requests at once in each replica"
	switch {
	case f.HoldsUsers != nil:
		return fmt.Sprintf("%s %s within the bounds; %s", upTo(f), term.Users(*f.HoldsUsers), each)
	case f.HoldsRate != nil:
		return fmt.Sprintf("%s %s requests/s within the bounds; %s", upTo(f), rateOf(*f.HoldsRate), each)
	}
	return each
}

// upTo notes that higher loads were not tried if the highest one simulated still holds.
func upTo(f *memwall.Fleet) string {
	if n := len(f.Curve); n > 0 && f.Curve[n-1].Met {
		return "at least"
	}
	return "up to"
}

// loads writes the best fleet at other loads, in one column each.
func (s *screen) loads(f *memwall.Fleet) {
	var shown []memwall.CurvePoint
	shares := []float64{0.25, 0.5, 1, 1.5, 2}
	if s.page.Style.Cells() < term.DefaultWidth {
		shares = []float64{0.5, 1, 2}
	}
	for _, p := range f.Curve {
		if slices.Contains(shares, p.Share) && p.TTFT != nil && p.TPOT != nil {
			shown = append(shown, p)
		}
	}
	if len(shown) < 2 || s.page.Style.Cells() < term.Narrow {
		return
	}
	tb := &term.Table{Sides: []term.Side{term.Left, term.Right, term.Right, term.Right, term.Right, term.Right}}
	rows := [][]term.Text{{term.Say("at other loads", term.Bold)}, {term.Say("TTFT p99, ms")}, {term.Say("TPOT p99, ms")},
		{term.Say("$ a million tokens")}}
	for i := range shown {
		p := &shown[i]
		sign := term.MarkOf(memwall.Fits)
		if !p.Met {
			sign = term.MarkOf(memwall.DoesNotFit)
		}
		rows[0] = append(rows[0], term.Join(term.Say(string(sign.Sign)+" ", sign.Ink),
			term.Say(fmt.Sprintf("%.0f %%", 100*p.Share), term.Dim)))
		rows[1], rows[2] = append(rows[1], term.Say(term.Significant(p.TTFT.P99, 3))),
			append(rows[2], term.Say(term.Significant(p.TPOT.P99, 3)))
		price := "—"
		if p.USDPerMillion != nil {
			price = term.Significant(*p.USDPerMillion, 3)
		}
		rows[3] = append(rows[3], term.Say(price))
	}
	for _, r := range rows {
		tb.Row(r...)
	}
	s.page.Blank()
	s.page.Add(tb)
}

// owned compares buying with renting.
func (s *screen) owned(o *memwall.Owned) {
	if o == nil || o.USDPerHour == nil {
		return
	}
	words := fmt.Sprintf("$%s, then $%s an hour with its share of the price", cents(o.Purchase), cents(*o.USDPerHour))
	if o.BreakEvenHours != nil {
		words += fmt.Sprintf("; dearer than rent for less than %s hours of use", unit.Count(int64(*o.BreakEvenHours+0.5)))
	}
	if o.Cheaper != "" {
		words += "; for its whole life: " + o.Cheaper
	}
	s.labelled("to own", term.Say(words))
}

// goalMiss writes what comes nearest.
func (s *screen) goalMiss() {
	c := s.a.NearestMiss
	if c == nil {
		return
	}
	s.page.Para(term.Pad(term.Gap), term.Join(term.Say("nearest: "), term.Say(fleetWords(c), term.Bold), term.Say(": "+c.Why)))
}

// goalSurprises writes losers that looked better than they are.
func (s *screen) goalSurprises() {
	if len(s.a.Surprises) == 0 {
		return
	}
	s.page.Blank()
	s.page.Line(term.Pad(term.Gap), term.Say("cheaper at first sight", term.Bold))
	for i := range s.a.Surprises {
		c := &s.a.Surprises[i]
		s.page.Para(term.Pad(term.Gap), term.Join(term.Say(fleetWords(c)), term.Say(": "+c.Why, term.Dim)))
	}
}

// dayPlan writes how the fleet scales over a day.
func (s *screen) dayPlan() {
	d := s.a.Day
	if d == nil {
		return
	}
	var rates, replicas []float64
	for _, p := range d.Parts {
		rates, replicas = append(rates, p.Rate), append(replicas, float64(p.Replicas))
	}
	s.page.Blank()
	s.page.Line(term.Pad(term.Gap), term.Say("over a day", term.Bold))
	s.labelled("load", term.Join(s.spark(rates, Peak(rates)*1.001, term.InkWorking),
		term.Say("up to "+rateOf(Peak(rates))+" requests/s; "+rateOf(d.Each)+" a replica")))
	s.labelled("replicas", term.Join(s.spark(replicas, Peak(replicas)*1.001, term.InkCache),
		term.Say(fmt.Sprintf("up to %d, %s on average", d.Peak, term.Significant(d.Mean, 3)))))
	s.labelled("headroom", term.Say(fmt.Sprintf("%s: the load grows so much while a replica starts (%s)", term.Percent(d.Headroom),
		unit.Seconds(d.StartS))))
	if d.USDFixed != nil && d.USDScaled != nil {
		s.labelled("a day", term.Say(fmt.Sprintf("rented, $%s with replicas that come and go, $%s with those of the peak all day",
			cents(*d.USDScaled), cents(*d.USDFixed))))
	}
}

// goalFiles writes how to run the best.
func (s *screen) goalFiles() {
	if s.a.Best == nil {
		return
	}
	s.bestCommand()
	if f := s.a.Best.Files; len(f) > 0 {
		s.page.Para(term.Pad(term.Gap), term.Say(strings.Join(slices.Sorted(maps.Keys(f)), ", ")+": --files DIR writes them", term.Dim))
	}
}

// searchedFor writes how many servers were sized.
func (s *screen) searchedFor() {
	e := s.a.Evaluated
	if e == nil {
		return
	}
	words := unit.Count(int64(e.Decided)) + " servers compared"
	if n := int64(s.a.Plan.Workload.Requests); s.a.Best != nil && n > 0 {
		words += fmt.Sprintf("; the best were simulated with %s requests", unit.Count(n))
	} else if s.a.Best != nil {
		words += "; the best were simulated with the whole recording"
	}
	if s.a.Best != nil {
		words += uncounted(s.a.Best.Simulated)
	}
	s.page.Blank()
	s.page.Para(term.Pad(term.Gap), term.Say(words, term.Dim))
}
