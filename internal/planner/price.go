package planner

import (
	"math"

	"github.com/memwall/memwall/api"
)

// What a change costs, in points: one point is one percent of perplexity, or a loss of speed that people would take
// for it. Points only order plans; no answer shows them.

// comfortable is how long an output token may take before anybody minds, in seconds: people read ten a second, and
// agents would like more. Somebody who wants least latency minds each.
const comfortable = 0.04

// noSlower and worthSaying: of what is somewhat slower or faster nobody sees the difference.
const noSlower = 1.02

// slowdown is the price of a plan that answers a user in so many seconds, against what was asked for and against what
// is comfortable; none where it is not known, and where people read along and it is no slower than what was asked for.
func (p *Planner) slowdown(a *api.Answer) float64 {
	now, asked := tokenSeconds(p, a), tokenSeconds(p, p.base)
	if now <= 0 {
		return 0
	}
	if p.want == "latency" {
		return max(0, math.Log2(now/comfortable*100)) * p.twice
	}
	if now <= asked*noSlower && now >= asked/worthSaying {
		now = asked
	}
	if asked > 0 && now <= asked && asked*readAlong <= 1 {
		return 0
	}
	price := max(0, math.Log2(now/comfortable))
	if asked > 0 && asked < comfortable {
		price += inComfort * math.Log2(max(asked, min(now, comfortable))/asked)
	}
	return price * p.twice
}

// inComfort is the part of the price of slower answers that those have which come in comfort all the same.
const inComfort = 0.5

// newOfPrompt is the part of a full context that is new in a turn of a conversation with one's own computer: what was said before is in
// the cache (llama-server's prompt cache, on by default).
const newOfPrompt = 0.25

// tokenSeconds is how long one user waits for a whole answer, by its tokens; 0 where nobody knows.
func tokenSeconds(p *Planner, a *api.Answer) float64 {
	v := a.Speed
	if v == nil || v.TTFT == nil || v.TPOT == nil {
		return 0
	}
	n := float64(max(1, a.Plan.OutputTokens))
	ttft := *v.TTFT
	if p.gguf() && p.Question.Request.Sequences <= 1 {
		ttft *= newOfPrompt
	}
	return (ttft + *v.TPOT*(n-1)) / n / 1000
}
