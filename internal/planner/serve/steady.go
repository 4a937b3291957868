package serve

import (
	"math"

	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/internal/timing"
	"github.com/memwall/memwall/search"
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/speed/stream"
)

// steadyState is the average load a server holds.
type steadyState struct {
	// users is the concurrency at which the means of both times stay within their bounds, with the resulting requests per second.
	users int64
	rate  float64
	// replicas is the number that the load then needs; 0 if a single user already waits too long.
	replicas int64
	alone    serving.Closed // with one user
	at       serving.Closed // with as many users as each replica then has
	objective
}

// mostUsers is the most users per replica that are considered.
const mostUsers = 1 << 16

// estimate finds the most users per replica, and from it the fewest replicas.
func (c *contender) estimate() {
	c.alone = c.steady(1)
	if !c.task.keepsBounds(c.alone) {
		c.impossible = true
		return
	}
	c.users = c.mostUsers()
	at := c.steady(c.users)
	c.rate = at.Throughput / float64(c.task.output)
	c.replicas = c.fewest()
	c.at = c.steady(c.usersOf(c.replicas))
	c.objective = c.objectiveOf(c.replicas)
}

// steady returns the steady state of a server with the given users.
func (c *contender) steady(users int64) serving.Closed {
	switch s := c.sim; {
	case s.Stream != nil:
		return streamed(c.turns(users), users, c.task.output)
	case c.pools != nil:
		return c.pools.Mean(c.task.loop(users))
	default:
		l := c.task.loop(users)
		return timing.AddCrossing(s.Model.Mean(l), s.Crossing, s.Model, l)
	}
}

// turns returns the loop of as many of the users as there are slots.
func (c *contender) turns(users int64) stream.Loop {
	slots := int64(c.sim.Question.Request.Sequences)
	return c.sim.Stream.Loop(stream.Test{Prompt: c.task.prompt, Generated: c.task.output}, min(users, slots))
}

// streamed returns the mean times with slots served in turn: a user without a slot waits for one.
func streamed(l stream.Loop, users, output int64) serving.Closed {
	c := serving.Closed{PerToken: l.PerToken.Mid, First: l.First.Mid, Throughput: l.Throughput.Mid}
	if life := float64(users*output) / math.Max(l.Throughput.Mid, 1e-9); life > c.First+float64(output-1)*c.PerToken {
		c.First = life - float64(output-1)*c.PerToken
	}
	return c
}

// mostUsers returns the most users within the bounds; means grow with the users.
func (c *contender) mostUsers() int64 {
	limit := int64(mostUsers)
	if n := int64(c.task.spec.Concurrency); n > 0 && !c.task.goal.MostUsers {
		limit = n
	}
	return search.Largest(1, limit, 64, func(users int64) bool { return c.usefulUsers(users) })
}

// usefulUsers reports whether the users stay within the bounds and raise the server's throughput.
func (c *contender) usefulUsers(users int64) bool {
	at := c.steady(users)
	return c.task.keepsBounds(at) && (c.task.bounded() || at.Throughput > 1.02*c.steady(max(1, users*3/4)).Throughput)
}

// fewest returns the fewest replicas for the load.
func (c *contender) fewest() int64 {
	if n := int64(c.task.original.Replicas); n > 0 {
		return n
	}
	if c.task.goal.MostUsers {
		return c.most
	}
	n := 1.0
	switch {
	case c.task.rate > 0 && c.rate > 0:
		n = math.Ceil(c.task.rate / c.rate)
	case c.task.spec.Concurrency > 0:
		n = math.Ceil(float64(c.task.spec.Concurrency) / float64(c.users))
	}
	return max(1, int64(min(n, simulate.MaxReplicas)))
}

// usersOf returns the users per replica in a fleet of n, by Little's law for open loads.
func (c *contender) usersOf(n int64) int64 {
	if users := mostUsersOf(c, n); c.task.goal.MostUsers && users > 0 {
		return users
	}
	if c.task.rate == 0 {
		return max(1, (int64(c.task.spec.Concurrency)+n-1)/n)
	}
	return max(1, int64(math.Ceil(float64(c.users)*c.task.rate/math.Max(c.rate*float64(n), 1e-9))))
}
