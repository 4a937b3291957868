package memwall

import (
	"math"

	"github.com/memwall/memwall/engine"
)

// What a change costs, in points: one point is one percent of perplexity, or a loss of speed that people would take
// for it. Points only order plans; no answer shows them.

// pointsOfTwice is the price of an answer that takes twice as long, by what the asker wants least of.
var pointsOfTwice = map[string]float64{"": 4, "quality_loss": 0.5, "latency": 30, "cost": 4, "devices": 4}

// comfortable is how long an output token may take before anybody minds, in seconds: people read ten a second, and
// agents would like more. Somebody who wants least latency minds each.
const comfortable = 0.04

// small is the price of a change that is nearly free: fewer sequences at once, smaller steps, less slack.
const small = 0.1

// slowdown is the price of a plan that answers a user in so many seconds, against what was asked for and against what
// is comfortable; none where it is not known or no slower.
func (p *planner) slowdown(a *Answer) float64 {
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

// waits is as much of an answer as its price rests on: how long users wait.
func (q *question) waits(ranks []engine.Rank) *Answer {
	decidingFirst(ranks)
	q.brief = true
	return &Answer{Plan: &q.request, Speed: q.speed(q.kv(&ranks[0]))}
}

// tokenSeconds is how long one user waits for a whole answer, by its tokens; 0 where nobody knows.
func tokenSeconds(a *Answer) float64 {
	v := a.Speed
	if v == nil || v.TTFT == nil || v.TPOT == nil {
		return 0
	}
	n := float64(max(1, a.Plan.OutputTokens))
	return (*v.TTFT + *v.TPOT*(n-1)) / n / 1000
}
