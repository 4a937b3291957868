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

// slowdown is the price of a plan that answers a user in so many seconds, against what was asked for and against what
// is comfortable; none where it is not known or no slower.
func (p *Planner) slowdown(a *api.Answer) float64 {
	now := tokenSeconds(a)
	if now <= 0 {
		return 0
	}
	enough := comfortable
	if p.want == "latency" {
		enough = comfortable / 100
	} else if asked := tokenSeconds(p.base); asked > 0 {
		enough = min(enough, asked)
	}
	return max(0, math.Log2(now/enough)) * p.twice
}

// tokenSeconds is how long one user waits for a whole answer, by its tokens; 0 where nobody knows.
func tokenSeconds(a *api.Answer) float64 {
	v := a.Speed
	if v == nil || v.TTFT == nil || v.TPOT == nil {
		return 0
	}
	n := float64(max(1, a.Plan.OutputTokens))
	return (*v.TTFT + *v.TPOT*(n-1)) / n / 1000
}
