// Package scale plays the control loop of a service over a day: a load that changes, replicas that start, serve, drain and are evicted,
// and a policy that says every few seconds how many there should be.
//
// A replica is a fluid: requests flow in, and out at the rate that it reaches with as many in it (Curve), so that a day takes
// milliseconds. Tipper and Sundareshan, "Numerical methods for modeling computer networks under nonstationary conditions" (JSAC 8(9), 1990)
// have the equation, dx/dt = arrivals − departures(x), with the steady state's departures; package sim plays the steady states, and a
// test holds days against it request by request.
//
// Open replay.go for the loop, policy.go for what a policy sees, hpa.go for Kubernetes' own algorithm, oracle.go for the fleet of an
// oracle that knows the load.
package scale

import (
	"errors"
	"math"
	"slices"
)

// Request is how long one took in a steady state: seconds to its first token, and for each further token.
type Request struct{ First, PerToken float64 }

// Point is the steady state of a replica under an even load.
type Point struct {
	Rate     float64 // requests a second that arrive, and leave
	In       float64 // that are in the replica on average, running or waiting
	Running  float64 // of these; those that wait are the rest
	KV       float64 // share of the KV cache in use, averaged over time
	Requests []Request
}

// Curve is what a replica does by how many requests are in it. The last point is the most that it holds: those beyond it wait for as
// long as the replica takes for those before them.
type Curve struct {
	points []Point
	good   [][]float64 // by point: times to the first token of requests whose others keep the goal, ascending
	goal   Goal
}

// Goal is what a request should keep, in seconds; 0 bounds nothing.
type Goal struct{ First, PerToken float64 }

// NewCurve orders points by their rate. Points that do not rise in rate and in requests are left out: chance put them there.
func NewCurve(points []Point, goal Goal) (*Curve, error) {
	c := &Curve{goal: goal}
	sorted := slices.Clone(points)
	slices.SortFunc(sorted, func(a, b Point) int {
		if a.Rate < b.Rate {
			return -1
		}
		return 1
	})
	for _, p := range sorted {
		if last := len(c.points) - 1; last >= 0 && !(p.Rate > c.points[last].Rate && p.In > c.points[last].In) {
			continue
		}
		if p.Rate > 0 && p.In > 0 && !math.IsInf(p.Rate+p.In, 0) && len(p.Requests) > 0 {
			c.points = append(c.points, p)
		}
	}
	if len(c.points) == 0 {
		return nil, errors.New("no steady state of a replica is known")
	}
	for i := range c.points {
		c.good = append(c.good, goodTimes(c.points[i].Requests, goal))
	}
	return c, nil
}

func goodTimes(all []Request, goal Goal) (first []float64) {
	for _, r := range all {
		if goal.PerToken == 0 || r.PerToken <= goal.PerToken {
			first = append(first, r.First)
		}
	}
	slices.Sort(first)
	return first
}

// Capacity is the most requests a second that a replica ends.
func (c *Curve) Capacity() float64 { return c.top().Rate }

// Full is how many requests are in a replica that ends the most it can while none waits beyond that.
func (c *Curve) Full() float64 { return c.top().In }

func (c *Curve) top() *Point { return &c.points[len(c.points)-1] }

// Points are the steady states, in order.
func (c *Curve) Points() []Point { return c.points }

// place is where a number of requests lies on the curve: between two points, the second with a weight, and beyond the last for a time.
type place struct {
	below, above int
	weight       float64 // of above
	wait         float64 // seconds, beyond the last point
}

// at finds a place. Below the first point a replica does what it does there, slower as fewer are in it.
func (c *Curve) at(in float64) place {
	n := len(c.points)
	if top := c.top(); in >= top.In {
		return place{n - 1, n - 1, 0, (in - top.In) / top.Rate}
	}
	i, _ := slices.BinarySearchFunc(c.points, in, func(p Point, x float64) int {
		if p.In <= x {
			return -1
		}
		return 1
	})
	if i == 0 {
		return place{}
	}
	a, b := &c.points[i-1], &c.points[i]
	return place{i - 1, i, (in - a.In) / (b.In - a.In), 0}
}

// Rate at which requests leave a replica with as many in it.
func (c *Curve) Rate(in float64) float64 {
	if first := &c.points[0]; in < first.In {
		return first.Rate * in / first.In
	}
	p := c.at(in)
	return mixed(p, c.points[p.below].Rate, c.points[p.above].Rate)
}

// In is how many requests are in a replica that a rate arrives at, in its steady state; infinite from its capacity on.
func (c *Curve) In(rate float64) float64 {
	if rate >= c.Capacity() {
		return math.Inf(1)
	}
	before := Point{}
	for i := range c.points {
		p := &c.points[i]
		if rate <= p.Rate {
			return before.In + (p.In-before.In)*(rate-before.Rate)/(p.Rate-before.Rate)
		}
		before = *p
	}
	return math.Inf(1)
}

// Running is how many of the requests in a replica are computed; the others wait.
func (c *Curve) Running(in float64) float64 {
	if first := &c.points[0]; in < first.In {
		return min(in, first.Running*in/first.In)
	}
	p := c.at(in)
	return min(in, mixed(p, c.points[p.below].Running, c.points[p.above].Running))
}

// KV is the share of the cache that is in use.
func (c *Curve) KV(in float64) float64 {
	if first := &c.points[0]; in < first.In {
		return first.KV * in / first.In
	}
	p := c.at(in)
	return mixed(p, c.points[p.below].KV, c.points[p.above].KV)
}

// Good is the share of requests that keep the goal of those that arrive at a replica with as many in it, after they waited for a time
// elsewhere.
func (c *Curve) Good(in, waited float64) float64 {
	p := c.at(in)
	return mixed(p, c.goodAt(p.below, p.wait+waited), c.goodAt(p.above, p.wait+waited))
}

func (c *Curve) goodAt(i int, wait float64) float64 {
	n := len(c.good[i])
	if c.goal.First > 0 {
		n, _ = slices.BinarySearch(c.good[i], math.Nextafter(c.goal.First-wait, math.Inf(1)))
	}
	return float64(n) / float64(len(c.points[i].Requests))
}

func mixed(p place, below, above float64) float64 { return below + p.weight*(above-below) }

// Holds is the most requests a second that arrive at a replica of which a share keeps the goal in the steady state; 0 where none does.
func (c *Curve) Holds(share float64) float64 {
	good := func(rate float64) bool { return c.Good(c.In(rate), 0) >= share }
	low, high := 0.0, c.Capacity()
	if !good(low) {
		return 0
	}
	for range 50 {
		if mid := (low + high) / 2; good(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// after is how many are in a replica once a time has passed in which a rate arrived and the curve's rate left: the implicit step of
// Euler, n = before + rate × dt − Rate(n) × dt, which no length of a step makes unstable. The last part of a request ends too.
func (c *Curve) after(in, arrived, dt float64) float64 {
	want := in + arrived
	if want < almostNone/10 {
		return 0
	}
	before := Point{}
	for i := range c.points {
		p := &c.points[i]
		if reach := p.In + p.Rate*dt; want <= reach {
			begin := before.In + before.Rate*dt
			return before.In + (p.In-before.In)*(want-begin)/(reach-begin)
		}
		before = *p
	}
	return want - c.Capacity()*dt
}
