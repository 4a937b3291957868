package train

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/stable"
)

// A surprise is a plan that a rule of thumb prefers to the best one. For each rule it is the plan ranked first, the best of
// several; how much worse that is than the best plan measures the surprise.

// thumb is a rule of thumb: it prefers plans with the highest score, among all machines or on the best plan's own.
type thumb struct {
	name  string
	all   bool // it compares machines, not plans on one
	score func(want string, p *candidate) float64
}

var thumbs = []thumb{
	{"the most operations a second for a dollar", true, func(want string, p *candidate) float64 {
		if want != "cost" {
			return 0
		}
		return p.site.peakPerDollar()
	}},
	{"the most operations a second", true, func(want string, p *candidate) float64 {
		if want != "latency" {
			return 0
		}
		return p.site.peak
	}},
	{"the cheapest hour", true, func(want string, p *candidate) float64 {
		if want != "cost" || p.site.perHour == nil {
			return 0
		}
		return 1 / *p.site.perHour
	}},
	{"the smallest groups", false, func(_ string, p *candidate) float64 {
		return 1 / float64(p.site.devices/p.site.replicas(&p.request))
	}},
	{"tensor groups as wide as a node", false, func(_ string, p *candidate) float64 {
		if p.request.TP == p.site.perNode && p.request.TP > 1 {
			return 1
		}
		return 0
	}},
	{"no recomputation", false, func(_ string, p *candidate) float64 {
		if p.request.Recompute == "none" {
			return 1
		}
		return 0
	}},
	{"the largest micro-batch", false, func(_ string, p *candidate) float64 {
		if p.request.MicroBatch == 1 {
			return 0
		}
		return float64(p.request.MicroBatch)
	}},
}

// place returns the key of a rule's choice among those kept.
func (t *thumb) place(p *candidate) string {
	if t.all {
		return t.name
	}
	return t.name + " on " + p.site.words()
}

// keepChosen keeps the plan that each rule of thumb would choose. A score of zero is not a choice.
func (k *kept) keepChosen(p *candidate) {
	if k.chosen == nil {
		k.chosen = map[string]*candidate{}
	}
	if !p.timed() {
		return
	}
	for i := range thumbs {
		t := &thumbs[i]
		score := t.score(k.want, p)
		if score <= 0 {
			continue
		}
		q := k.chosen[t.place(p)]
		if q == nil || cmp.Or(cmp.Compare(score, t.score(k.want, q)), k.order(q, p)) > 0 {
			k.chosen[t.place(p)] = p
		}
	}
}

// WorthSurprise is how much worse, as a fraction, a plan must be to be a surprise.
const WorthSurprise = 0.02

// MostSurprises is the most surprises in an answer.
const MostSurprises = 2

// surprises returns the worst choices of rules of thumb, worst first.
func (f *found) surprises(best *detail) (out []api.Candidate) {
	type surprise struct {
		plan *candidate
		rule *thumb
		loss float64
	}
	var found []surprise
	for i := range thumbs {
		t := &thumbs[i]
		p := f.kept.chosen[t.place(best.candidate)]
		if p == nil || p == best.candidate || slices.ContainsFunc(found, func(x surprise) bool { return x.plan == p }) {
			continue
		}
		if times := loss(f.want, p, best.candidate); times > 1+WorthSurprise {
			found = append(found, surprise{p, t, times})
		}
	}
	stable.Sort(found, func(a, b surprise) int { return -cmp.Compare(a.loss, b.loss) })
	for _, x := range found[:min(len(found), MostSurprises)] {
		d := f.detail(x.plan)
		c := f.shown(d)
		c.Why = fmt.Sprintf("%s, but %s", x.rule.name, why(f.want, d, best))
		out = append(out, c)
	}
	return out
}

// loss returns the ratio by which a plan is worse in the objective; for devices, in time if it has as many.
func loss(want string, p, best *candidate) float64 {
	switch {
	case want == "cost" && p.priced() && best.priced():
		return p.perMillion / best.perMillion
	case want == "devices" && p.site.devices != best.site.devices:
		return float64(p.site.devices) / float64(best.site.devices)
	}
	return p.perToken / best.perToken
}
