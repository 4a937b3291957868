package serve

import (
	"math"

	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/internal/timing"
	"github.com/memwall/memwall/search"
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/speed/stream"
)

// steadyState is what a server holds in the mean.
type steadyState struct {
	// users at once for which the means of both times stay within their bounds, and the requests a second that they make.
	users int64
	rate  float64
	// replicas that the load needs then; 0 where one user alone waits too long.
	replicas int64
	alone    serving.Closed // of one user
	at       serving.Closed // of as many users as each replica then has
	objective
}

// mostUsers of a replica that are looked at.
const mostUsers = 1 << 16

// estimate finds the most users of a replica, and so the fewest replicas.
func (g *goalSearch) estimate(c *contender) {
	c.alone = g.steady(c, 1)
	if !g.keepsBounds(c.alone) {
		c.impossible = true
		return
	}
	c.users = g.mostUsers(c)
	at := g.steady(c, c.users)
	c.rate = at.Throughput / float64(g.output)
	c.replicas = g.fewest(c)
	c.at = g.steady(c, g.usersOf(c, c.replicas))
	c.objective = g.objective(c, c.replicas)
}

// steady state of a server with so many users.
func (g *goalSearch) steady(c *contender, users int64) serving.Closed {
	switch s := c.sim; {
	case s.Stream != nil:
		return streamed(c.turns(g, users), users, g.output)
	case s.Prompts != nil:
		return s.Question.Split(s.Prompts.Model, s.Model).Mean(g.loop(users))
	default:
		l := g.loop(users)
		return timing.AddCrossing(s.Model.Mean(l), s.Crossing, s.Model, l)
	}
}

// loop of so many users with the mean lengths.
func (g *goalSearch) loop(users int64) serving.Load {
	return serving.Load{Users: users, Prompt: g.prompt, Output: g.output}
}

// turns of as many of the users as there are slots.
func (c *contender) turns(g *goalSearch, users int64) stream.Loop {
	return c.sim.Stream.Loop(stream.Test{Prompt: g.prompt, Generated: g.output}, min(users, int64(c.sim.Question.Request.Sequences)))
}

// streamed are the means of slots in turns: who finds none waits until one is free.
func streamed(l stream.Loop, users, output int64) serving.Closed {
	c := serving.Closed{PerToken: l.PerToken.Mid, First: l.First.Mid, Throughput: l.Throughput.Mid}
	if life := float64(users*output) / math.Max(l.Throughput.Mid, 1e-9); life > c.First+float64(output-1)*c.PerToken {
		c.First = life - float64(output-1)*c.PerToken
	}
	return c
}

// keepsBounds reports whether means lie within the bounds: percentiles of which they are no smaller part lie within them only
// then.
func (g *goalSearch) keepsBounds(c serving.Closed) bool {
	if !(c.PerToken > 0) || math.IsInf(c.PerToken+c.First, 0) {
		return false
	}
	first, token := simulate.RequestBound(g.goal.TTFT).Seconds(), simulate.RequestBound(g.goal.TPOT).Seconds()
	return (first == 0 || c.First <= first) && (token == 0 || c.PerToken <= token)
}

// mostUsers that keep within the bounds: means grow with the users.
func (g *goalSearch) mostUsers(c *contender) int64 {
	limit := int64(mostUsers)
	if n := int64(g.spec.Concurrency); n > 0 && !g.goal.MostUsers {
		limit = n
	}
	return search.Largest(1, limit, 64, func(users int64) bool { return g.usefulUsers(c, users) })
}

// usefulUsers users keep within the bounds and make the server do more.
func (g *goalSearch) usefulUsers(c *contender, users int64) bool {
	at := g.steady(c, users)
	return g.keepsBounds(at) && (g.bounded() || at.Throughput > 1.02*g.steady(c, max(1, users*3/4)).Throughput)
}

// bounded: one of the times has a bound.
func (g *goalSearch) bounded() bool { return len(g.goal.TTFT) > 0 || len(g.goal.TPOT) > 0 }

// fewest replicas for the load.
func (g *goalSearch) fewest(c *contender) int64 {
	if n := int64(g.original.Replicas); n > 0 {
		return n
	}
	if g.goal.MostUsers {
		return c.most
	}
	n := 1.0
	switch {
	case g.rate > 0 && c.rate > 0:
		n = math.Ceil(g.rate / c.rate)
	case g.spec.Concurrency > 0:
		n = math.Ceil(float64(g.spec.Concurrency) / float64(c.users))
	}
	return max(1, int64(min(n, simulate.MaxReplicas)))
}

// usersOf a replica in a fleet of n: by Little's law, where requests come by themselves.
func (g *goalSearch) usersOf(c *contender, n int64) int64 {
	if users := mostUsersOf(c, n); g.goal.MostUsers && users > 0 {
		return users
	}
	if g.rate == 0 {
		return max(1, (int64(g.spec.Concurrency)+n-1)/n)
	}
	return max(1, int64(math.Ceil(float64(c.users)*g.rate/math.Max(c.rate*float64(n), 1e-9))))
}
