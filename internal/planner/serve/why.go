package serve

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/deploy"
	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/unit"
)

// A plan's position is explained by the deciding term: for dollars per hour, the price of a device or their number; for the number
// of devices, what a replica runs into first; and for that, the largest part of a token's time.

// why explains the position of a contender's fleet relative to the winner.
func (w *report) why(c, winner *contender) string {
	var words []string
	if w.goal.MostUsers {
		words = append(words, whyNoMore(c))
	} else if c != winner {
		words = append(words, against(c, winner))
	}
	words = append(words, runsInto(c))
	if p := largestPart(c); p != "" {
		words = append(words, p)
	}
	if w.guarded && !c.measured() {
		words = append(words, "no measured run of this device, engine and layout: ranked by the slow edge of its band")
	}
	return strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), "; ")
}

// against compares with the winner by rent or number of devices, whichever contributes more to the difference.
func against(c, winner *contender) string {
	if c.task.minimize() == "latency" {
		if x := c.requestSeconds(c.fleet.replicas) / winner.requestSeconds(winner.fleet.replicas); x > 1.005 {
			return fmt.Sprintf("answers take %s times as long", unit.Significant(x, 3))
		}
		return ""
	}
	a, b := c.money(c.fleet.replicas).PerHour.Mid, winner.money(winner.fleet.replicas).PerHour.Mid
	n, m := float64(c.fleet.replicas*c.devices), float64(winner.fleet.replicas*winner.devices)
	if a == 0 || b == 0 {
		return devicesWords(n, m)
	}
	if math.Abs(math.Log((a/n)/(b/m))) > math.Abs(math.Log(n/m)) {
		return fmt.Sprintf("$%s an hour for a device against $%s", unit.Significant(a/n, 3), unit.Significant(b/m, 3))
	}
	return devicesWords(n, m)
}

func devicesWords(n, m float64) string {
	if n == m {
		return ""
	}
	return fmt.Sprintf("%.0f devices against %.0f", n, m)
}

// runsInto describes what keeps a fleet from being smaller: what happens with one replica, or one device, less.
func runsInto(c *contender) string {
	n := c.fleet.replicas
	if n == 1 {
		return ""
	}
	less := c.played[n-1]
	if less == nil {
		return ""
	}
	if less = less.finished(); less.err != nil || less.res.Finished == 0 {
		return ""
	}
	return fmt.Sprintf("with %s %s", deploy.ReplicasWords(n-1), less.breaks())
}

// breaks describes the bound that a round exceeds by most.
func (r *round) breaks() string {
	if r.meets {
		return "a bound is broken at the slow edge of the band alone"
	}
	if l := simulate.LoadOf(r.res); !l.Holds && !simulate.Served(r.res) {
		return "too many are refused"
	} else if !l.Holds {
		return "the queue grows without bound"
	}
	worst, words := 1.0, "too few keep within the bounds"
	for _, t := range []struct {
		bounds map[string]float64
		at     func(q float64) float64
		what   string
	}{{r.task.goal.TTFT, func(q float64) float64 { return 1000 * r.res.First.Quantile(q).Seconds() }, "the first token"},
		{r.task.goal.TPOT, func(q float64) float64 { return 1000 * r.res.PerToken.Quantile(q).Seconds() }, "a token"}} {
		for _, name := range slices.Sorted(maps.Keys(t.bounds)) {
			p, err := api.Percentile(name)
			if err != nil {
				continue
			}
			if x := t.at(p) / t.bounds[name]; x > worst {
				worst, words = x, fmt.Sprintf("%s takes %s at %s", t.what, milliseconds(t.at(p)), name)
			}
		}
	}
	return words
}

// milliseconds formats a time with three digits, so that a figure slightly over a bound does not look equal to it.
func milliseconds(ms float64) string {
	if ms >= 1000 {
		return unit.Significant(ms/1000, 3) + " s"
	}
	return unit.Significant(ms, 3) + " ms"
}

// largestPart describes the largest part of a token's time at the load.
func largestPart(c *contender) string {
	users := c.usersOf(max(1, c.replicas))
	if c.fleet != nil {
		users = c.usersOf(c.fleet.replicas)
	}
	return partWords(c.parts(users))
}

func partWords(parts []speed.Part) string {
	sum, most := 0.0, speed.Part{}
	for _, p := range parts {
		sum += p.Seconds
		if p.Seconds > most.Seconds {
			most = p
		}
	}
	if sum == 0 {
		return ""
	}
	return fmt.Sprintf("%s %.0f %% of a token's %s", partNames(most), 100*most.Seconds/sum, milliseconds(1000*sum))
}

// partNames describes what a part does.
func partNames(p speed.Part) string {
	switch {
	case p.Name == "prompts of others":
		return "prompts of others take"
	case p.Name == "copies":
		return "bringing weights from the host takes"
	case p.Bound == speed.Network:
		return "traffic between devices (" + p.Name + ") takes"
	case p.Bound == speed.Memory:
		return "reading " + p.Name + " takes"
	case p.Bound == speed.Compute:
		return "computing " + p.Name + " takes"
	}
	return p.Name + " takes"
}

// surprising is the number of losers shown.
const surprising = 2

// surprises returns the losers that a rule of thumb would have preferred: the cheapest devices that hold the weights and the caches
// of all users, whatever their speed. The ratio of the rule's price to the actual one, relative to the winner's, measures the
// rule's error. Each kind of hardware is represented by its best fleet, or by the server the rule likes most.
func (w *report) surprises(held []*contender) (out []api.Candidate) {
	if len(held) == 0 {
		return nil
	}
	losers := w.losers(held)
	for _, l := range losers[:min(len(losers), surprising)] {
		s := w.candidate(l.contender)
		s.Why = w.whyNot(l.contender, held[0])
		out = append(out, s)
	}
	return out
}

// loser is a contender with the rule of thumb's error, as a logarithm, and its prediction.
type loser struct {
	*contender
	off, naive float64
}

// losers returns those the rule of thumb prefers to the winner, largest error first.
func (w *report) losers(held []*contender) (out []loser) {
	winner := held[0]
	base := ruleOfThumb(winner)
	best := map[string]loser{}
	for _, c := range slices.Concat(held, w.all) {
		naive := ruleOfThumb(c)
		if c.kind == winner.kind || naive == 0 || base == 0 {
			continue
		}
		l := loser{c, math.Log(actualRent(c)/naive) - math.Log(actualRent(winner)/base), naive}
		if b, ok := best[c.kind]; !ok || b.fleet == nil && nearer(c, b.contender) {
			best[c.kind] = l
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(best)) {
		if l := best[kind]; l.naive < 1.05*base && l.off > 0 {
			out = append(out, l)
		}
	}
	stable.Sort(out, func(a, b loser) int { return cmp.Or(-cmp.Compare(a.off, b.off), cmp.Compare(a.naive, b.naive)) })
	return out
}

// nearer reports whether c is nearer to holding than another contender without a fleet: by its estimate, or else by its times
// relative to their bounds.
func nearer(c, than *contender) bool {
	if c.possible() != than.possible() {
		return c.possible()
	}
	return distanceFromBounds(c) < distanceFromBounds(than)
}

// ruleOfThumb returns the rent of enough devices for the weights and the caches of all users; 0 if unknown.
func ruleOfThumb(c *contender) float64 {
	q := c.sim.Question
	m := q.Job.Machine
	users := float64(max(1, int64(c.task.spec.Concurrency)))
	if c.task.rate > 0 {
		users = math.Max(1, c.task.rate*(c.alone.First+float64(c.task.output)*c.alone.PerToken))
	}
	if len(m.Groups) != 1 || c.sim.KV == nil {
		return 0
	}
	kv := users * float64(c.task.prompt+c.task.output) * float64(c.sim.KV.PerToken) * float64(max(1, q.Request.TP))
	n := math.Ceil((float64(q.Job.Weights.Bytes()) + kv) / float64(m.Groups[0].Device.Memory.Value))
	return c.task.env.RentOf(m, int(math.Min(n, 1e6))).PerHour.Mid
}

// actualRent returns the rent of a contender's fleet; infinite if none holds.
func actualRent(c *contender) float64 {
	if c.fleet == nil {
		return math.Inf(1)
	}
	return c.money(c.fleet.replicas).PerHour.Mid
}

// lacks says what memory a server is short of: of its devices, else of the host. The band of either may be all that is.
func lacks(a *api.Answer) string {
	if short := -a.Devices[0].Headroom; short > 0 {
		return short.String() + " short in each of its devices"
	}
	if h := a.Host; h != nil && h.Headroom < 0 {
		return (-h.Headroom).String() + " of host memory short once all caches there are full"
	}
	return "the band of what it needs crosses what there is"
}

// whyNot explains why a seemingly cheap contender loses, or what the nearest lacks.
func (w *report) whyNot(c, winner *contender) string {
	if winner != nil && c.fleet != nil {
		return w.why(c, winner)
	}
	words := "no number of replicas helps: "
	first, token := simulate.RequestBound(w.goal.TTFT).Seconds(), simulate.RequestBound(w.goal.TPOT).Seconds()
	switch {
	case len(c.answer.Devices) > 0 && c.answer.Verdict != api.Fits:
		return lacks(c.answer)
	case token > 0 && c.alone.PerToken > token:
		return words + fmt.Sprintf("one user alone waits %s for a token; %s", milliseconds(1000*c.alone.PerToken), partWords(c.parts(1)))
	case first > 0 && c.alone.First > first:
		return words + fmt.Sprintf("a prompt of %s tokens alone takes %s", unit.Count(w.prompt), milliseconds(1000*c.alone.First))
	}
	return whyNone(c)
}

// distanceFromBounds returns how far a contender is from the bounds with one user, as the worse of both ratios.
func distanceFromBounds(c *contender) float64 {
	x := 0.0
	if first := simulate.RequestBound(c.task.goal.TTFT).Seconds(); first > 0 {
		x = math.Max(x, c.alone.First/first)
	}
	if token := simulate.RequestBound(c.task.goal.TPOT).Seconds(); token > 0 {
		x = math.Max(x, c.alone.PerToken/token)
	}
	return x
}

// whyNoMore describes what breaks with a few more users.
func whyNoMore(c *contender) string {
	users := *c.fleet.most.Users
	more := users + max(1, users/16)
	o := *c
	o.crowd(more)
	r := o.newRound(c.replicas, simulate.Variant{}).run()
	if r.err != nil || r.meets || r.res.Finished == 0 {
		return ""
	}
	return fmt.Sprintf("with %d users %s", more, r.breaks())
}
