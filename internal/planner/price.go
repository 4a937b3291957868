package planner

import (
	"math"

	"github.com/memwall/memwall/api"
)

// Prices of changes are in points: one point is one percent of perplexity, or a loss of speed that people would accept for it.
// Points only order plans; no answer shows them.

// comfortable is the time per output token, in seconds, that nobody minds: people read ten tokens per second, and agents would like
// more. With latency as the objective, all of it counts.
const comfortable = 0.04

// noSlower and worthSaying are the speed ratios below which nobody notices a difference.
const noSlower = 1.02

// slowdown returns the price of a plan's time per answer relative to that of the requested plan and to a comfortable one. It is
// zero if the time is unknown, or if people read along and the plan is no slower than requested.
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

// inComfort is the fraction of the price that slower answers still pay within the comfortable time.
const inComfort = 0.5

// newOfPrompt is the fraction of a full context that is new in a turn of a local conversation: the rest is in the cache
// (llama-server's prompt cache, on by default).
const newOfPrompt = 0.25

// tokenSeconds returns the time of a whole answer to one user per token, in seconds; 0 if unknown.
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
