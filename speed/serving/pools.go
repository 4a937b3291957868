package serving

import (
	"math"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/coef"
)

// Split says how many workers compute prompts and how many generate, and what the caches of a prompt cross from one
// to the other.
type Split struct {
	Prefills, Decodes int64
	Wire              hardware.Link // of a device
}

// Pools serve with prompts and generation on workers of their own (disaggregated serving). A worker is a Model,
// whose Replicas are the ranks of its attention data parallelism.
type Pools struct {
	prefill, decode *Model
	split           Split
	uses            []coef.Use
	c, vars         []float64
	table           *coef.Table
	at              []int // of the coefficients of decode among uses
	base, burst     int
}

// Coefficients of pools: the time of the router and the hand-over regardless of prompt length, and how many requests start
// together.
const poolsBase, poolsBurst = "pools.base", "pools.burst"

// NewPools combines the models of a prefill and a decode worker.
func NewPools(prefill, decode *Model, s Split) *Pools {
	p := &Pools{prefill: prefill, decode: decode, split: s, uses: append([]coef.Use(nil), prefill.uses...)}
	for i := range decode.uses {
		p.at = append(p.at, p.need(&decode.uses[i]))
	}
	l := []coef.Level{{Name: "engine", Key: decode.in.Engine}}
	p.base, p.burst = p.need(&coef.Use{Name: poolsBase, Levels: l}), p.need(&coef.Use{Name: poolsBurst, Levels: l})
	p.Use(prefill.table)
	return p
}

// need returns the index of a coefficient: the other pool's if all levels are the same.
func (p *Pools) need(u *coef.Use) int {
	for i := range p.uses {
		if alike(&p.uses[i], u) {
			return i
		}
	}
	p.uses = append(p.uses, *u)
	return len(p.uses) - 1
}

func alike(a, b *coef.Use) bool {
	if a.Name != b.Name || len(a.Levels) != len(b.Levels) {
		return false
	}
	for i := range a.Levels {
		if a.Levels[i].Key != b.Levels[i].Key {
			return false
		}
	}
	return true
}

// Use sets the coefficients from a table.
func (p *Pools) Use(t *coef.Table) {
	c := make([]float64, len(p.uses))
	p.vars, p.table = make([]float64, len(p.uses)), t
	t.Each(p.uses, func(i int, v coef.Coef) { c[i], p.vars[i] = v.Value, v.Var })
	p.take(c)
}

// take gives each pool its coefficients.
func (p *Pools) take(c []float64) {
	own := make([]float64, len(p.at))
	for i, at := range p.at {
		own[i] = c[at]
	}
	p.c, p.prefill, p.decode = c, p.prefill.With(c[:len(p.prefill.uses)]), p.decode.With(own)
}

// With returns a view of the pools with other coefficients, in the order of Uses.
func (p *Pools) With(c []float64) *Pools {
	v := *p
	v.take(c)
	return &v
}

// Uses returns the coefficients that the pools depend on.
func (p *Pools) Uses() []coef.Use { return p.uses }

// Values returns the coefficients, in the order of Uses.
func (p *Pools) Values() []float64 { return append([]float64(nil), p.c...) }

// queue is the closed loop of pools, in seconds and sequences.
type queue struct {
	users, output float64
	own, each     float64 // a prompt's own steps; the time between prompts when the pool is busy, of all its ranks
	decode        float64 // a step
	expected      float64 // tokens that a sequence gains in it
	handed, burst float64
	room, share   float64 // sequences that a rank of decode holds, and its share of the users
}

// loop determines the steps of a load. The number of sequences decoding depends on prefill times, and the step time on that number;
// the two converge in a few rounds.
func (p *Pools) loop(l Load) (q queue, decode speed.Batch) {
	q = p.shape(l)
	own, busy, times := p.prompts(l)
	q.own, q.each = times.own*p.prefill.Step(own), times.each*p.prefill.step(busy, p.prefill.peers)
	for range 8 {
		was := decode.Decodes
		if decode = p.batch(l, &q); decode.Decodes == was {
			break
		}
		q.decode = p.decode.Step(decode)
		q.decode += p.decode.in.Speculation.drafting(p.decode, decode)
	}
	return q, decode
}

// shape returns the loop before its steps are timed.
func (p *Pools) shape(l Load) queue {
	q := queue{users: math.Max(1, float64(l.Users)), output: math.Max(1, float64(l.Output)), expected: p.decode.in.Speculation.Expected(), burst: p.c[p.burst]}
	if !l.Burst {
		q.burst = 0
	}
	q.share = 1 / float64(max(1, p.split.Decodes)*max(1, p.decode.in.Replicas))
	q.room = p.decode.room(math.Max(1, q.users*q.share), l)
	q.handed = p.c[p.base] + float64(l.Prompt)*p.c[p.prefill.host.token] + p.Transfer(l)
	return q
}

// Wire returns the link between the workers of a machine: between nodes or, in a single node, between devices.
func Wire(m *hardware.Machine) hardware.Link {
	if m.Inter.EachWay.Known {
		return m.Inter
	}
	return m.Intra
}

// HandOver returns the seconds between the end of a prompt's prefill and its decoding elsewhere: router time and cache transfer.
func (p *Pools) HandOver(prompt int64) float64 {
	return p.c[p.base] + p.Transfer(Load{Users: 1, Prompt: prompt, Output: 1})
}

// Transfer returns the seconds to transfer a prompt's caches: each rank sends its own.
func (p *Pools) Transfer(l Load) float64 {
	if p.split.Wire.EachWay.Value <= 0 {
		return 0
	}
	r := p.prefill.stages[0].rank
	at := r.Points(p.prefill.Prompting(l))
	return r.Work(&at).CacheWrite / float64(p.split.Wire.EachWay.Value)
}

// steps counts how often prefill steps run: for one prompt, and for each of the pool's.
type steps struct{ own, each float64 }

// prompts returns the step of a single prompt, and that of a rank with as many as it computes at once.
func (p *Pools) prompts(l Load) (own, busy speed.Batch, s steps) {
	chunk, prompt := p.prefill.chunk(), max(1, l.Prompt)
	pieces := (prompt + chunk - 1) / chunk
	length := (prompt + pieces - 1) / pieces
	own = speed.Batch{Prefill: length, Prompts: 1, Cached: (prompt - length) / 2, Finished: 1}
	busy = own
	if k := max(1, chunk/prompt); pieces == 1 {
		busy = speed.Batch{Prefill: k * prompt, Prompts: k, Finished: k}
	}
	ranks := float64(max(1, p.split.Prefills) * max(1, p.prefill.in.Replicas))
	return own, busy, steps{float64(pieces), float64(pieces) / float64(busy.Prompts) / ranks}
}

// batch returns the decode step of a rank: its share of the users, without those waiting for their prompts or for capacity.
func (p *Pools) batch(l Load, q *queue) speed.Batch {
	n := q.users * q.share
	if q.decode > 0 {
		generating := q.output * q.perToken()
		n *= generating / (generating + q.first())
	}
	return speed.Batch{Decodes: max(1, int64(math.Round(math.Min(n, q.room)))), Context: l.Prompt + l.Output/2}
}

// perToken returns the time between the tokens of a request, with no prefill between its steps.
func (q *queue) perToken() float64 { return q.decode / q.expected }

// together is the share of requests that start in a burst.
func (q *queue) together() float64 { return q.burst / (1 + q.burst) }

// wait of a prompt for those before it. Users who go on to other things for a time Z between their prompts, each of
// which keeps the pool for D, wait R - D on average (the closed queue of one server by Schweitzer's rule, in which a
// user meets (N-1)/N of what stands in the queue):
//
//	R² + R (Z - N D) - D Z = 0
//
// of a burst, half of the others.
func (q *queue) wait() float64 {
	z := q.own + q.handed + q.output*q.perToken()
	b := q.users*q.each - z
	steady := (b+math.Sqrt(b*b+4*q.each*z))/2 - q.each
	return (1-q.together())*steady + q.together()*math.Max(steady, (q.users-1)/2*q.each)
}

// first is the time to the first token: own + wait + handed, and the wait for room in the caches of decode
// (Little's law).
func (q *queue) first() float64 {
	return math.Max(q.own+q.wait()+q.handed, q.unheld())
}

// unheld is the wait for room in the caches of decode.
func (q *queue) unheld() float64 {
	return math.Max(0, q.users*q.share-q.room) / q.room * q.output * q.perToken()
}

func (q *queue) closed() Closed {
	c := Closed{PerToken: q.perToken(), First: q.first()}
	c.Throughput = q.users * q.output / (c.First + (q.output-1)*c.PerToken)
	return c
}

// Mean returns the mean figures of a load.
func (p *Pools) Mean(l Load) Closed {
	q, _ := p.loop(l)
	return q.closed()
}

// Saturated reports whether requests wait for space in the caches.
func (p *Pools) Saturated(l Load) bool {
	q := p.shape(l)
	return q.users*q.share > q.room
}

// Variance returns the variance of a figure's logarithm due to the coefficients, given its elasticities.
func (p *Pools) Variance(elasticity []float64) float64 { return variance(elasticity, p.vars) }

// Elasticities returns how each figure depends on each coefficient, for the given number of sequences decoding.
func (p *Pools) Elasticities(l Load) (Closed, Elasticities) {
	q, decode := p.loop(l)
	c, n := q.closed(), len(p.c)
	e := Elasticities{make([]float64, n), make([]float64, n), make([]float64, n)}
	own, busy, times := p.prompts(l)
	slope := func(m *Model, b speed.Batch, prompting, times float64, at func(int) int) []float64 {
		s, out := make([]float64, len(m.c)), make([]float64, n)
		m.slopes(b, prompting, m.Values(), s)
		for i := range s {
			out[at(i)] += times * s[i]
		}
		return out
	}
	same := func(i int) int { return i }
	one := func(i int, v float64) []float64 {
		out := make([]float64, n)
		out[i] = v
		return out
	}
	for _, v := range []struct {
		at    *float64
		slope []float64
	}{{&q.own, slope(p.prefill, own, 1, times.own, same)}, {&q.each, slope(p.prefill, busy, p.prefill.peers, times.each, same)},
		{&q.decode, slope(p.decode, decode, 1, 1, func(i int) int { return p.at[i] })},
		{&q.handed, one(p.base, p.c[p.base])}, {&q.handed, one(p.prefill.host.token, float64(l.Prompt)*p.c[p.prefill.host.token])}, {&q.burst, one(p.burst, q.burst)}} {
		e.through(v.at, v.slope, q.closed, c)
	}
	return c, e
}

// through adds the effect of coefficients via one time or count of a loop, whose derivatives by their logarithms are in slope.
func (e *Elasticities) through(at *float64, slope []float64, closed func() Closed, c Closed) {
	was := *at
	if was == 0 {
		return
	}
	*at = was * (1 + nudge)
	y := closed()
	*at = was
	by := [3]float64{math.Log(y.PerToken/c.PerToken) / nudge, math.Log(y.First/c.First) / nudge, math.Log(y.Throughput/c.Throughput) / nudge}
	for i, s := range slope {
		if s != 0 {
			e.add(i, by, s/was)
		}
	}
}

// SpreadPools is the group of the pools' bands.
const SpreadPools = "pools"

// Closed returns the steady state of a load.
func (p *Pools) Closed(l Load) Figures {
	c, e := p.Elasticities(l)
	q, decode := p.loop(l)
	f := Figures{
		PerToken:   p.band(SpreadPerToken, c.PerToken, p.Variance(e.PerToken)),
		First:      p.band(SpreadFirst, c.First, p.Variance(e.First)),
		Throughput: p.band(SpreadThroughput, c.Throughput, p.Variance(e.Throughput)),
		Batch:      float64(decode.Decodes), Step: q.decode, Expected: q.expected, HandOver: p.Transfer(l),
	}
	f.Parts = p.decode.perToken(&loop{expected: q.expected}, decode)
	f.Bound = p.bound(l, &q, f.Parts)
	alone, e := p.Elasticities(Load{Users: 1, Prompt: l.Prompt, Output: l.Output})
	f.FirstUnloaded = p.band(SpreadFirst, alone.First, p.Variance(e.First))
	return f
}

// band returns the band around a figure, at least as wide as what others report of servers scatters.
func (p *Pools) band(kind string, mid, variance float64) speed.Figure {
	in := &p.decode.in
	return Reports(kind, in.Engine, in.Version, band(p.table, kind, SpreadPools, mid, variance))
}

// bound returns the bottleneck of the loop: decode cache capacity, prefill if users queue for it, else that of a step.
func (p *Pools) bound(l Load, q *queue, parts []speed.Part) speed.Bound {
	switch {
	case q.users*q.share > q.room:
		return speed.Capacity
	case q.users*q.each > q.own+q.handed+q.output*q.perToken():
		_, busy, _ := p.prompts(l)
		return speed.Largest(p.prefill.partsOf(busy, p.prefill.peers))
	}
	return speed.Largest(parts)
}
