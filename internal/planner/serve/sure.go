package serve

import "github.com/memwall/memwall/internal/simulate"

// A fleet is planned to the middle of the band of its steps, or to its slow edge, where who asks wants to be sure.

// slowly plays a round again with every step as long as at the slow edge of its band. Where no band is known, nobody can be sure.
func (c *contender) slowly(r *round, again func(simulate.Variant) *round) *round {
	_, slow, ok := r.sim.Extremes(r.res)
	if !ok {
		return &round{sim: r.sim, res: r.res, as: r.as}
	}
	return again(slow)
}

// holds reports whether a share of the load is held: at the slow edge of the band too, where that is asked for.
func (c *contender) holds(g *goalSearch, share float64, r *round) (bool, error) {
	if !r.meets || !g.goal.Sure {
		return r.meets, r.err
	}
	slow := c.slowly(r, func(v simulate.Variant) *round {
		s, _ := c.sharing(g, share)
		s.as = v
		g.giveUp(s.sim)
		return s.run(g)
	})
	return slow.meets, slow.err
}
