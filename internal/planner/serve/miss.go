package serve

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/deploy"
	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/search"
)

// If no fleet holds, the answer names the nearest and what it achieves: its times at the load, and the largest load that it holds.

// nearestFleets is the number of fleets simulated to find the one that holds the most.
const nearestFleets = 3

// closest returns the nearest contender if none holds: of those within the bounds for one user, the one that holds the largest load
// with the available devices; else the one whose single-user times are nearest to the bounds; else the one with the smallest memory
// shortage.
func (p *playing) closest() (*contender, error) {
	near := p.strongest()
	if err := p.achieveMost(near); err != nil {
		return nil, err
	}
	if len(near) > 0 {
		return slices.MaxFunc(near, func(a, b *contender) int { return cmp.Compare(achieved(a), achieved(b)) }), nil
	}
	for _, c := range p.all {
		if p.nearest == nil || p.nearest.answer.Verdict != api.Fits || distanceFromBounds(c) < distanceFromBounds(p.nearest) {
			p.nearest = c
		}
	}
	return p.nearest, nil
}

// strongest returns the best contenders by their estimates, each with the replicas it was tried with or that devices allow.
func (p *playing) strongest() (out []*contender) {
	if p.ctx.Err() != nil {
		return nil
	}
	for _, c := range p.all {
		if c.impossible || c.failed != nil {
			continue
		}
		n := c.most
		for k := range c.played {
			n = max(n, k)
		}
		if n = min(n, cmp.Or(c.most, n)); n > 0 {
			c.fleet = &fleetPlan{replicas: n, objective: c.objectiveOf(n)}
			out = append(out, c)
		}
	}
	stable.Sort(out, func(a, b *contender) int { return -cmp.Compare(estimatedLoad(a), estimatedLoad(b)) })
	for _, c := range out[min(len(out), nearestFleets):] {
		c.fleet = nil
	}
	return out[:min(len(out), nearestFleets)]
}

// estimatedLoad returns the load a contender's fleet holds by its estimate, in requests per second or users.
func estimatedLoad(c *contender) float64 {
	if c.task.rate > 0 {
		return c.rate * float64(c.fleet.replicas)
	}
	return float64(c.users * c.fleet.replicas)
}

// partsOfLoad is the resolution, as parts of the load, at which the largest load held is found.
const partsOfLoad = 64

// achieveMost finds what each fleet achieves, strongest estimate first, if it holds more than those before it.
func (p *playing) achieveMost(near []*contender) error {
	if len(near) == 0 {
		return nil
	}
	if err := achieve(near[0], 0); err != nil {
		return err
	}
	return p.inParallel(near[1:], func(c *contender) error { return achieve(c, achieved(near[0])) })
}

// achieve finds the largest part of the load, in users or fractions of a rate, that a fleet holds, if that exceeds the share more.
func achieve(c *contender, more float64) error {
	if r := c.play(c.fleet.replicas, simulate.Variant{}); r.err != nil || c.task.spec.Arrivals == "burst" || c.task.spec.Trace != "" {
		return r.err
	}
	parts := cmp.Or(int64(c.task.spec.Concurrency), partsOfLoad)
	held, err := map[int64]*round{}, error(nil)
	holds := func(n int64) bool {
		r := c.fewer(float64(n) / float64(parts))
		c.task.giveUp(r.sim)
		if r.run(); r.err != nil || err != nil || c.task.ctx.Err() != nil {
			err = cmp.Or(err, r.err)
			return false
		}
		if n == 1 {
			c.fleet.least = r
		}
		met, failed := c.holds(float64(n)/float64(parts), r)
		if err = failed; met {
			held[n] = r
		}
		return met
	}
	least := int64(more*float64(parts)) + 1
	if least > 1 && (least >= parts || !holds(least)) {
		return err
	}
	most := search.LargestNear(max(least, c.guess(parts)), parts-1, partsOfLoad, holds)
	if r := held[most]; r != nil && err == nil {
		p := c.point(float64(most)/float64(parts), r)
		c.fleet.most = &p
	}
	return err
}

// achieved returns the share of the load that a fleet holds.
func achieved(c *contender) float64 {
	if p := c.fleet.most; p != nil {
		return p.Share
	}
	return 0
}

// whyNone describes what the nearest fleet achieves: the worst of its times at the load, the load it holds, and what more would
// take.
func whyNone(c *contender) string {
	if c.fleet == nil {
		return whyLoser(c)
	}
	n := c.fleet.replicas
	words := []string{breaking("with "+deploy.ReplicasWords(n), c.played[n])}
	switch p := c.fleet.most; {
	case p != nil && c.most > 0 && c.replicas > c.most:
		words = append(words, "holds "+c.task.loadWords(p),
			fmt.Sprintf("the whole load needs %d devices or more, but the hardware has %d", c.replicas*c.devices, c.most*c.devices))
	case p != nil:
		words = append(words, "holds "+c.task.loadWords(p))
	default:
		words = append(words, breaking(c.task.leastWords(), c.fleet.least))
	}
	words = append(words, partWords(c.parts(c.usersOf(n))))
	return strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), "; ")
}

// whyLoser describes which bound a contender breaks with the replicas simulated, or that it needs more devices than there are.
func whyLoser(c *contender) string {
	if c.most > 0 && c.replicas > c.most {
		return fmt.Sprintf("needs %d devices, but the hardware has %d", c.replicas*c.devices, c.most*c.devices)
	}
	n := int64(0)
	for k := range c.played {
		n = max(n, k)
	}
	words := breaking("with "+deploy.ReplicasWords(n), c.played[n])
	if words == "" {
		return ""
	}
	return words + "; " + partWords(c.parts(c.usersOf(n)))
}

// breaking describes which bound a round breaks and with what; "" if none was simulated.
func breaking(with string, r *round) string {
	if r == nil {
		return ""
	}
	if r = r.finished(); r.err != nil || r.res.Finished == 0 {
		return ""
	}
	return with + " " + r.breaks()
}
