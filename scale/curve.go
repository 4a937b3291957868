// Package scale simulates the control loop of a service over a day: a varying load; replicas that start, serve, drain
// and are evicted; and a policy that periodically sets their number.
//
// A replica is modeled as a fluid: requests flow in, and flow out at the rate it reaches with that many inside (Curve),
// so that simulating a day takes milliseconds. The equation is dx/dt = arrivals − departures(x), with the departures of
// the steady state (Tipper and Sundareshan, "Numerical methods for modeling computer networks under nonstationary
// conditions", JSAC 8(9), 1990). Package sim computes the steady states, and a test compares days with its
// request-by-request simulation.
//
// See replay.go for the loop, policy.go for what a policy sees, hpa.go for Kubernetes' algorithm, and oracle.go for the
// best fleet with knowledge of the load.
package scale

import (
	"errors"
	"math"
	"slices"
)

// Request is the latency of a request in steady state: seconds to its first token, and per further token.
type Request struct{ First, PerToken float64 }

// Point is the steady state of a replica at a constant load.
type Point struct {
	Rate     float64 // arrivals, and departures, per second
	In       float64 // mean number in the replica, running or waiting
	Running  float64 // of these, running; the rest wait
	KV       float64 // mean share of the KV cache in use
	Requests []Request
}

// Curve describes a replica by the number of requests in it. The last point is the most it can hold: further requests
// wait for those before them.
type Curve struct {
	points []Point
	good   [][]float64 // by point: ascending TTFTs of the requests that otherwise meet the goal
	goal   Goal
}

// Goal bounds the latency of a request, in seconds; 0 means unbounded.
type Goal struct{ First, PerToken float64 }

// NewCurve returns the curve through the points, sorted by rate. Points that do not increase in both rate and requests
// are noise and are dropped.
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

// Capacity returns the highest completion rate, in requests a second.
func (c *Curve) Capacity() float64 { return c.top().Rate }

// Full returns the number of requests in a replica at capacity, with no excess queue.
func (c *Curve) Full() float64 { return c.top().In }

func (c *Curve) top() *Point { return &c.points[len(c.points)-1] }

// Points returns the steady states, in order.
func (c *Curve) Points() []Point { return c.points }

// place is a position on the curve: between two points, with the weight of the second, or past the last by a waiting
// time.
type place struct {
	below, above int
	weight       float64 // of above
	wait         float64 // seconds, past the last point
}

// at returns the position for a number of requests. Below the first point a replica behaves as it does there, with its
// rate scaled down.
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

// Rate returns the completion rate of a replica with the given number of requests.
func (c *Curve) Rate(in float64) float64 {
	if first := &c.points[0]; in < first.In {
		return first.Rate * in / first.In
	}
	p := c.at(in)
	return mixed(p, c.points[p.below].Rate, c.points[p.above].Rate)
}

// In returns the steady-state number of requests in a replica at an arrival rate; infinite from its capacity on.
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

// Running returns how many of the requests in a replica are running rather than waiting.
func (c *Curve) Running(in float64) float64 {
	if first := &c.points[0]; in < first.In {
		return min(in, first.Running*in/first.In)
	}
	p := c.at(in)
	return min(in, mixed(p, c.points[p.below].Running, c.points[p.above].Running))
}

// KV returns the share of the cache in use.
func (c *Curve) KV(in float64) float64 {
	if first := &c.points[0]; in < first.In {
		return first.KV * in / first.In
	}
	p := c.at(in)
	return mixed(p, c.points[p.below].KV, c.points[p.above].KV)
}

// Good returns the share of requests that meet the goal when arriving at a replica with the given number of requests,
// after waiting elsewhere for the given seconds.
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

// Holds returns the highest arrival rate per replica at which the given share of requests meets the goal in steady
// state; 0 if none does.
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

// after returns the number of requests after dt seconds with the given arrivals, by an implicit Euler step, n = before
// + rate × dt − Rate(n) × dt, which is stable for any step length. The fraction of a last request completes too.
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
