package svg

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// spot is a plan in a chart: what it costs, how long it takes, and the bands of both.
type spot struct {
	c          *memwall.Candidate
	at         int
	x, y       extent
	priced     bool
	best, meet bool
}

// extent is a figure with the edges of what it may be.
type extent struct{ mid, low, high float64 }

func (b extent) wide() bool { return b.low < b.mid || b.high > b.mid }

// front is a chart of plans.
type front struct {
	a      *memwall.Answer
	first  bool // the time is that to the first token
	steps  bool // plans that train
	paid   bool // of which money is compared
	spots  []spot
	xs, ys string
}

// read finds the plans that can be drawn.
func (f *front) read() {
	a := f.a
	if f.steps = a.Plan != nil && a.Plan.For == "train"; f.steps {
		f.xs, f.ys = "memory free of a device, GiB", "seconds of a step"
		if f.paid = f.machines() > 1; f.paid {
			f.xs = "$ per million tokens"
		}
	} else {
		g := goalDrawn(a)
		f.first = len(g.TTFT) > 0 && len(g.TPOT) == 0
		f.xs, f.ys = "$ an hour", "time per token, p99, ms"
		if f.first {
			f.ys = "TTFT p99, ms"
		}
	}
	for i := range a.Candidates {
		f.add(i, &a.Candidates[i])
	}
	if len(a.Candidates) == 0 && a.NearestMiss != nil {
		f.add(-1, a.NearestMiss)
	}
}

// machines counts the hardware of plans that train: on one, money is time, and memory is what plans differ in.
func (f *front) machines() int {
	seen := map[string]bool{}
	for i := range f.a.Candidates {
		if c := &f.a.Candidates[i]; c.Plan != nil && c.Cost != nil {
			seen[c.Plan.Hardware] = true
		}
	}
	return len(seen)
}

func goalDrawn(a *memwall.Answer) memwall.Goal {
	if a.Plan == nil || a.Plan.Goal == nil {
		return memwall.Goal{}
	}
	return *a.Plan.Goal
}

func (f *front) add(i int, c *memwall.Candidate) {
	s := spot{c: c, at: i, meet: i >= 0, priced: true}
	switch {
	case f.steps && c.Step != nil && f.paid:
		s.y = extent{c.Step.Seconds, c.Step.SecondsLow, c.Step.SecondsHigh}
		if s.priced = c.Cost != nil && *c.Cost > 0; s.priced {
			s.x = exactly(*c.Cost)
		}
	case f.steps && c.Step != nil:
		s.x, s.y = exactly(c.Headroom.GiB()), extent{c.Step.Seconds, c.Step.SecondsLow, c.Step.SecondsHigh}
	case !f.steps && c.Fleet != nil && c.Simulated != nil && f.time(c.Simulated.TTFT, c.Simulated.TPOT) > 0:
		s.meet = i >= 0 && c.Fleet.Meets != "no"
		s.y = f.waits(c.Simulated)
		if s.priced = c.Fleet.USDPerHour != nil && *c.Fleet.USDPerHour > 0; s.priced {
			s.x = banding(c.Fleet.USDPerHour, c.Fleet.USDPerHourLow, c.Fleet.USDPerHourHigh)
		}
	default:
		return
	}
	s.best = slices.Contains(f.a.Pareto, i) || i == 0
	f.spots = append(f.spots, s)
}

func exactly(x float64) extent { return extent{x, x, x} }

// banding is a figure of an answer; an edge that is not there is the figure itself.
func banding(mid, low, high *float64) extent {
	b := exactly(*mid)
	if low != nil && *low > 0 {
		b.low = min(b.mid, *low)
	}
	if high != nil {
		b.high = max(b.mid, *high)
	}
	return b
}

// time is the one of both that the chart shows.
func (f *front) time(first, token *memwall.Percentiles) float64 {
	p := token
	if f.first || p == nil {
		p = first
	}
	if p == nil {
		return 0
	}
	return p.P99
}

// waits is the time with both edges of the band of a step.
func (f *front) waits(s *memwall.Simulated) extent {
	b := exactly(f.time(s.TTFT, s.TPOT))
	for _, e := range []*memwall.Edge{s.Low, s.High} {
		if e != nil {
			x := f.time(e.TTFT, e.TPOT)
			b.low, b.high = min(b.low, cmp.Or(x, b.low)), max(b.high, x)
		}
	}
	return b
}

// title is the finding.
func (f *front) title() string {
	n := f.holding()
	switch {
	case len(f.a.Candidates) == 0:
		return fmt.Sprintf("No plan holds %s: %s", askers(f.a), render.ModelName(f.a.Model))
	case len(f.spots) == 0:
		return "No plan was played: " + render.ModelName(f.a.Model)
	case f.steps:
		return fmt.Sprintf("The best of %s trains %s at %s tokens/s a device", term.Plural(n, "plan", "plans"), render.ModelName(f.a.Model),
			unit.Rate(paceOf(&f.a.Candidates[0])))
	case n <= 1:
		return fmt.Sprintf("%s: the only plan found that holds %s", fleetDrawn(&f.a.Candidates[0]), askers(f.a))
	}
	rank := map[string]string{"latency": "the quickest", "devices": "the fewest devices",
		"quality_loss": "the least loss of quality"}[goalDrawn(f.a).Minimize]
	rank = cmp.Or(rank, "the cheapest"+render.OnWhich(f.a))
	return fmt.Sprintf("%s: %s of %d plans that hold %s", fleetDrawn(&f.a.Candidates[0]), rank, n,
		askers(f.a))
}

// paceOf a plan that trains, in tokens a second of a device.
func paceOf(c *memwall.Candidate) float64 {
	if c.Step == nil {
		return 0
	}
	return c.Step.PerDevice
}

// holding counts the plans that hold the load.
func (f *front) holding() (n int64) {
	for i := range f.spots {
		if f.spots[i].meet {
			n++
		}
	}
	return n
}

// fleetDrawn says how many devices of what kind a plan takes.
func fleetDrawn(c *memwall.Candidate) string {
	if c.Fleet == nil {
		return c.Change
	}
	return term.Counted(c.Fleet.Devices, c.Fleet.Hardware)
}

// askers say who asks.
func askers(a *memwall.Answer) string {
	if a.Plan == nil || a.Plan.Workload == nil {
		return "the load"
	}
	switch w := a.Plan.Workload; {
	case w.Concurrency > 0:
		return term.Users(int64(w.Concurrency))
	case w.Rate > 0:
		return term.Tick(w.Rate) + " requests/s"
	}
	return "the load"
}

func (f *front) subtitle() []string {
	if f.steps {
		return []string{"filled: no other is better in all that plans are compared by; whiskers: bands of the named"}
	}
	out := []string{strings.Join(append([]string{render.ModelName(f.a.Model)}, boundsDrawn(f.a)...), " · ")}
	if len(f.spots) == 0 {
		return append(out, "plans for a goal are played: bounds of the times, and who asks")
	}
	return append(out, "filled: no other is as good in money, devices, times, quality and sureness at once; × misses the goal; whiskers: "+
		"bands of the named")
}

// boundsDrawn are the goal's.
func boundsDrawn(a *memwall.Answer) (out []string) {
	g := goalDrawn(a)
	for _, b := range []struct {
		what   string
		bounds map[string]float64
	}{{"TTFT", g.TTFT}, {"TPOT", g.TPOT}} {
		for _, p := range percentilesOf(b.bounds) {
			out = append(out, fmt.Sprintf("%s %s within %s", b.what, p, timeWords(b.bounds[p])))
		}
	}
	return out
}

func percentilesOf(bounds map[string]float64) (names []string) {
	for name := range bounds {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func timeWords(ms float64) string {
	if ms >= 1000 {
		return term.Tick(ms/1000) + " s"
	}
	return term.Tick(ms) + " ms"
}

// names are the winner, the best of other kinds of hardware, and what else nothing beats and stands apart from these.
func (f *front) names() (out []*spot) {
	pick := func(want func(*spot) bool) {
		for i := range f.spots {
			if p := &f.spots[i]; len(out) < mostNamed && !slices.Contains(out, p) && want(p) {
				out = append(out, p)
			}
		}
	}
	pick(func(p *spot) bool { return p.at <= 0 })
	pick(func(p *spot) bool { return p.best && f.newKind(out, p) })
	pick(func(p *spot) bool { return p.meet && f.newKind(out, p) })
	pick(func(p *spot) bool { return p.best && distinct(out, p) })
	pick(func(p *spot) bool { return p.meet && f.steps && distinct(out, p) })
	return out
}

func (f *front) newKind(shown []*spot, p *spot) bool {
	return !slices.ContainsFunc(shown, func(q *spot) bool { return kindDrawn(q.c) == kindDrawn(p.c) })
}

// distinct: a plan differs from those that have a name by more than a tenth in money or time.
func distinct(shown []*spot, p *spot) bool {
	differ := func(a, b float64) bool { return math.Abs(a-b) > 0.1*max(a, b) }
	return !slices.ContainsFunc(shown, func(q *spot) bool { return !differ(p.x.mid, q.x.mid) && !differ(p.y.mid, q.y.mid) })
}

// kindDrawn is the hardware of a plan.
func kindDrawn(c *memwall.Candidate) string {
	switch {
	case c.Fleet != nil:
		return c.Fleet.Hardware
	case c.Plan != nil:
		return c.Plan.Hardware
	}
	return ""
}

// name of a plan: its devices, or how it trains.
func (f *front) name(p *spot) string {
	name := fleetDrawn(p.c)
	switch {
	case p.at == 0:
		return "winner: " + name
	case p.at < 0:
		return "nearest: " + name
	}
	return name
}

// lines are what else is said of a plan, and its figures.
func (f *front) lines(s *svgPage, p *spot) (out []string) {
	for _, words := range f.words(p) {
		out = append(out, s.broken(words, s.flags(), SvgLetter, 3)...)
	}
	return out
}

func (f *front) words(p *spot) []string {
	switch step := figures(p.y, term.Tick) + " s a step"; {
	case f.paid && p.priced:
		return []string{"$" + dollarsDrawn(p.x.mid) + " per million tokens", step}
	case f.paid:
		return []string{"no price known", step}
	case f.steps:
		return []string{term.Tick(p.x.mid) + " GiB free", step}
	}
	_, server, _ := strings.Cut(p.c.Change, ", ")
	if n := p.c.Fleet.Replicas; n > 1 {
		server = fmt.Sprintf("%d replicas: %s", n, server)
	}
	money := "no price known"
	if p.priced {
		money = "$" + figures(p.x, dollarsDrawn) + " an hour"
	}
	return []string{server, money, figures(p.y, term.Tick) + " ms"}
}

// dollarsDrawn has cents where these count.
func dollarsDrawn(x float64) string {
	switch {
	case x < 0.1:
		return term.Tick(x)
	case x < 10:
		return fmt.Sprintf("%.2f", x)
	}
	return term.Tick(x)
}

// figures of a band.
func figures(b extent, say func(float64) string) string {
	if !b.wide() {
		return say(b.mid)
	}
	return fmt.Sprintf("%s (%s–%s)", say(b.mid), say(b.low), say(b.high))
}

// describe says the numbers of the picture in words.
func (f *front) describe() string {
	var out []string
	for i := range f.spots {
		p := &f.spots[i]
		words := []string{p.c.Change}
		if p.c.Fleet != nil {
			words = append(words, term.Plural(p.c.Fleet.Replicas, "replica", "replicas"))
		}
		if p.priced {
			words = append(words, figures(p.x, term.Tick)+" "+f.xs)
		}
		words = append(words, f.ys+" "+figures(p.y, term.Tick))
		if p.best {
			words = append(words, "on the front")
		}
		out = append(out, strings.Join(words, ", "))
	}
	return strings.Join(out, ". ")
}
