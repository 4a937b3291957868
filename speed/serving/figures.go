package serving

import (
	"math"

	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/coef"
)

// Figures are the figures of a closed loop with their bands.
type Figures struct {
	PerToken      speed.Figure // seconds between tokens
	First         speed.Figure // seconds to the first token, bursts and queues included
	FirstUnloaded speed.Figure // the same for a single user
	Throughput    speed.Figure // output tokens a second, all users
	// Batch is the number of sequences that a replica computes at once, fewer than its users if its caches are full.
	Batch float64
	// Step is the mean time of a step without prompts, including drafting, in which a sequence gains Expected tokens.
	// Parts break down the time per token; Bound is what limits the loop.
	Step, Expected float64
	Parts          []speed.Part
	Bound          speed.Bound
	// Knee reports that it is uncertain whether users wait for cache space, so that First may be its low or its high.
	Knee bool
	// Others is the time per token added by other users' prompts.
	Others float64
	// HandOver is the transfer time of a prompt's caches from prefill to decode worker.
	HandOver float64
}

// Kinds of spread in the table.
const (
	SpreadPerToken   = "tpot"
	SpreadFirst      = "ttft"
	SpreadThroughput = "throughput"
)

// Near marks the spread of figures for which other servers of the same model, engine and device were measured.
const Near = "-near"

// Closed returns the steady state of a load.
func (m *Model) Closed(l Load) Figures {
	p, c, e := m.elasticities(l)
	decode := m.batches(l, &p).decode
	f := Figures{
		PerToken:   m.band(SpreadPerToken, c.PerToken, m.Variance(e.PerToken)),
		First:      m.band(SpreadFirst, c.First, m.Variance(e.First)),
		Throughput: m.band(SpreadThroughput, c.Throughput, m.Variance(e.Throughput)),
		Batch:      p.batch, Step: p.decode, Expected: p.expected, Others: p.others(), Parts: m.perToken(&p, decode),
	}
	f.Knee = m.knee(l, p, &f.First)
	f.Bound = speed.Largest(f.Parts)
	if m.Saturated(l) {
		f.Bound = speed.Capacity
	}
	alone := Load{Users: 1, Prompt: l.Prompt, Output: l.Output}
	if f.FirstUnloaded = f.First; l.Users > 1 {
		_, c, e = m.elasticities(alone)
		f.FirstUnloaded = m.band(SpreadFirst, c.First, m.Variance(e.First))
	}
	if m.in.Speculation == nil {
		decode, prompt := m.Decoding(l), m.Prompting(l)
		f.limit(l.Users, possible(m.stages, &m.device, decode)/m.Step(decode), possible(m.stages, &m.device, prompt)/m.Step(prompt), m.Step(prompt))
	}
	return f
}

// limit narrows fast edges to what the device can do, of which a decode step and a prompt of so many seconds leave shares. How far reports
// scatter says nothing of that. Tokens that are drafted have no such floor, as how many are accepted is not known.
func (f *Figures) limit(users int64, step, prompt, seconds float64) {
	step, prompt = math.Min(1, step), math.Min(1, prompt)
	if f.PerToken.Known() {
		least := step*(f.PerToken.Mid-f.Others) + prompt*f.Others
		f.PerToken.Low = math.Max(f.PerToken.Low, least)
		f.Throughput.High = math.Min(f.Throughput.High, f.Throughput.Mid/math.Min(least/f.PerToken.Mid, prompt))
	}
	if f.FirstUnloaded.Known() {
		f.FirstUnloaded.Low = math.Max(f.FirstUnloaded.Low, math.Min(f.FirstUnloaded.Mid, prompt*seconds))
	}
	if users <= 1 {
		f.First.Low = f.FirstUnloaded.Low
	}
}

// roomOff is the relative error of the cache capacity: nine of ten held-out start-up logs are within it (docs/accuracy.md, vLLM's
// pool).
const roomOff = 0.1

// knee widens the band of the first token to its values with less and with more cache capacity, and reports whether users wait for
// capacity in only one of these cases.
func (m *Model) knee(l Load, p loop, f *speed.Figure) bool {
	first := func(factor float64) (seconds float64, waits bool) {
		v := *m
		v.in.CacheTokens = int64(factor * float64(m.in.CacheTokens))
		q := p
		q.batch = v.room(p.users, l)
		return q.first(), q.batch < p.users
	}
	most, tight := first(1 - roomOff)
	least, full := first(1 + roomOff)
	if tight {
		f.Low, f.High = math.Min(f.Low, least), math.Max(f.High, most)
	}
	return tight && !full
}

// Mids is Closed without bands, parts and single-user figures, for comparing many plans.
func (m *Model) Mids(l Load) Figures {
	p := m.loop(l)
	c := m.closed(&p, l)
	same := func(x float64) speed.Figure { return speed.Figure{Mid: x, Low: x, High: x} }
	return Figures{PerToken: same(c.PerToken), First: same(c.First), Throughput: same(c.Throughput), Batch: p.batch, Step: p.decode, Expected: p.expected, Others: p.others()}
}

// perToken are the parts of a step, drafting included, for each token that it yields.
func (m *Model) perToken(p *loop, decode speed.Batch) []speed.Part {
	parts := m.Parts(decode)
	if s := m.in.Speculation; s != nil && s.Draft != nil {
		own := s.Draft.Parts(decode)
		parts = append(parts, speed.Part{Name: "draft", Seconds: s.drafting(m, decode), Bound: speed.Largest(own)})
	}
	for i := range parts {
		parts[i].Seconds /= p.expected
	}
	return parts
}

// Variance returns the variance of a figure's logarithm due to the coefficients, given its elasticities.
func (m *Model) Variance(elasticity []float64) float64 { return variance(elasticity, m.vars) }

func variance(elasticity, vars []float64) (v float64) {
	for i, e := range elasticity {
		v += e * e * vars[i]
	}
	return v
}

// band returns the band around a figure, at least as wide as what others report of it scatters. For a server measured by its owner, it is
// the error of such figures plus the disagreement of the server's own, and does not depend on the coefficients, whose effect was measured.
func (m *Model) band(kind string, mid, variance float64) speed.Figure {
	if own, ok := m.table.Own(m.Own(kind)); ok {
		return band(m.table, OwnSpread+kind, "", mid, own)
	}
	near := kind
	if m.measured() {
		near += Near
	}
	return Reports(kind, m.in.Engine, m.in.Version, band(m.table, near, m.in.Engine, mid, variance))
}

// band around a figure, as wide as those of its group are off, else of all. A table without a spread of that kind, of
// a fit that is not finished, gives none.
func band(t *coef.Table, kind, group string, mid, variance float64) speed.Figure {
	s, ok := t.Spread(kind + "/" + group)
	if !ok {
		s, ok = t.Spread(kind)
	}
	if !ok {
		return speed.Figure{Mid: mid, Low: mid, High: mid}
	}
	low, high := s.Band(mid, variance)
	return speed.Figure{Mid: mid, Low: low, High: high}
}

// Most returns the load with the highest throughput: as many users as the caches hold.
func (m *Model) Most(prompt, output int64) Load {
	const many = 1 << 20 // users where nothing bounds them
	l := Load{Users: many, Prompt: prompt, Output: output}
	l.Users = int64(m.room(many, l)) * max(1, m.in.Replicas)
	return l
}
