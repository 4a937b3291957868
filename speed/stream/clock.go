package stream

import "github.com/memwall/memwall/speed"

// Clock computes step times of an engine that decodes for several users at once (llama-server). It is not safe for concurrent use.
type Clock struct {
	p     *Predictor
	first float64 // a step of one user without anything cached: what a prompt's own pass already does
	kept  map[[2]int64]float64
}

// Clock of a plan.
func (p *Predictor) Clock() *Clock {
	return &Clock{p: p, first: p.step(1, 0, p.work.reads(1))(p.values), kept: map[[2]int64]float64{}}
}

// Step is the time of a batch, in seconds. A piece of a prompt passes through all the weights; users who decode beside
// it add what they take over one who has nothing cached. No fit rests on figures of several users (several.go).
func (c *Clock) Step(b speed.Batch) (seconds float64) {
	if b.Decodes > 0 {
		seconds = c.decoding(b.Decodes, b.Context)
	}
	if b.Prefill > 0 {
		seconds = max(0, seconds-c.first) + c.p.Seconds(Test{Prompt: b.Prefill, Depth: b.Cached})(c.p.values)
	}
	return seconds
}

// mostKept of the times of decoding.
const mostKept = 1 << 14

func (c *Clock) decoding(n, context int64) float64 {
	key := [2]int64{n, context}
	if t, ok := c.kept[key]; ok {
		return t
	}
	if len(c.kept) == mostKept {
		clear(c.kept)
	}
	t := c.p.step(float64(n), float64(context), c.p.work.reads(float64(n)))(c.p.values)
	c.kept[key] = t
	return t
}
