package stream

import (
	"math"

	"github.com/memwall/memwall/speed"
)

// unmeasured is the factor by which a time of several users may be off beside what one user's is. It is assumed: no
// fit rests on figures of several users.
const unmeasured = 1.5

// Loop holds the speeds of users served concurrently.
type Loop struct {
	// Step is the time of a step in which each user gets a token; PerToken that of a token of the answer, with what
	// the prompts of others add; First until the first token; all in seconds.
	Step, PerToken, First speed.Figure
	// Throughput is of all users, in tokens of answers a second.
	Throughput        speed.Figure
	Parts             []speed.Part
	Bound             speed.Bound
	BandwidthFraction float64
}

// Loop is what n users get who all come at once with the same test, in an engine that decodes for all together
// (llama-server): prompts are taken one behind the other, and who has read his own waits with every token for
// those that follow.
func (p *Predictor) Loop(t Test, n int64) (l Loop) {
	users, tokens := float64(n), float64(max(1, t.Generated))
	depth := float64(t.Depth+t.Prompt) + tokens/2
	prompt := speed.Figure{}
	if t.Prompt > 0 {
		prompt = p.figure("prefill", p.Seconds(Test{Prompt: t.Prompt, Depth: t.Depth}))
	}
	l.Step = p.together(users, depth)
	l.PerToken = l.Step
	if others := (users - 1) / 2; others > 0 {
		l.PerToken = l.Step.Plus(prompt.Times(others / tokens))
	}
	l.First = prompt.Times((users + 1) / 2)
	l.Throughput = l.Step.Times(tokens).Plus(prompt.Times(users)).Inverse().Times(users * tokens)
	l.Parts = p.parts(users, depth)
	l.Bound = speed.Largest(l.Parts)
	l.BandwidthFraction = p.leastStep(users, depth) / l.Step.Mid
	return l
}

// together is the time of a step of n users. In the middle each goes through experts of his own, drawn evenly; the low
// edge is that of the square root of as many, since routers prefer some experts and texts resemble each other.
func (p *Predictor) together(n, depth float64) speed.Figure {
	if n <= 1 {
		return p.figure("decode", p.decode(depth))
	}
	f, alike := p.figure("decode", p.step(n, depth, p.work.reads(n))), p.figure("decode", p.step(n, depth, p.work.reads(math.Sqrt(n))))
	return speed.Figure{Mid: f.Mid, Low: alike.Mid / doubt(alike.Mid/alike.Low), High: f.Mid * doubt(f.High/f.Mid)}
}

// doubt adds what is unmeasured to the factor of a band: the two errors have different causes.
func doubt(factor float64) float64 {
	return math.Exp(math.Hypot(math.Log(factor), math.Log(unmeasured)))
}
