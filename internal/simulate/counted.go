package simulate

import (
	"fmt"

	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/workload"
)

// What of a workload is played and what of it is counted, where nobody says: the same for a plan that is played and for those
// that a search for a goal plays, so that both say the same of one plan.

const (
	// judgedRequests tell a 99th percentile to a few percent.
	judgedRequests = 3000
	// A server is as it stays after leastWarmup requests, after those of warmupSeconds, and after the first two of each user.
	leastWarmup, mostWarmup, warmupSeconds = 200, 20_000, 10
)

// usual lengths of a workload that gives none: about those of chats (ShareGPT, Azure LLM 2023 conversations), within the usual
// context. They vary, so that users do not ask in step.
const (
	usualPrompt, usualOutput     = 1024, 256
	longestPrompt, longestOutput = question.DefaultContext * 3 / 4, question.DefaultContext / 4
)

func usualPrompts() workload.Law {
	return workload.Law{Law: "lognormal", Mean: usualPrompt, CV: 1, Min: 1, Max: longestPrompt}
}

func usualAnswers() workload.Law {
	return workload.Law{Law: "exponential", Mean: usualOutput, Min: 1, Max: longestOutput}
}

// warmup is how many requests come first and are not counted. Of a burst all are: it is nothing but its beginning.
func warmup(w *workload.Spec) plan.Int {
	if w.Arrivals == "burst" {
		return 0
	}
	return max(leastWarmup, min(max(2*w.Concurrency, plan.Int(warmupSeconds*min(w.Rate, mostWarmup))), mostWarmup))
}

// count fills in how many requests there are, and how many of them come before any is counted.
func (s *Simulation) count() {
	w := &s.Spec
	if w.Warmup == nil {
		n := warmup(w)
		w.Warmup = &n
		s.Defaults = append(s.Defaults, UsedDefault{"workload.warmup", n})
	}
	if w.Requests == 0 && w.DurationS == 0 && w.Trace == "" {
		first := max(0, min(*w.Warmup, workload.MaxWarmup))
		w.Requests = first + max(judgedRequests, 3*first)
		s.Defaults = append(s.Defaults, UsedDefault{"workload.requests", w.Requests})
	}
}

// lengthOf fills in a law of lengths: tokens of the plan where it has some, else the usual ones.
func (s *Simulation) lengthOf(l *workload.Law, tokens plan.Int, usual workload.Law, field string) {
	switch {
	case l.Law != "" || l.Mean > 0 || len(l.Values) > 0:
	case tokens > 0:
		l.Mean = float64(tokens)
	default:
		*l = usual
		s.Defaults = append(s.Defaults, UsedDefault{field, lawWords(l)})
	}
	if l.Law == "" {
		l.Law = "fixed"
	}
}

// lawWords is a law as --prompt takes it.
func lawWords(l *workload.Law) string {
	words := fmt.Sprintf("%s:%g", l.Law, l.Mean)
	if l.CV > 0 {
		words += fmt.Sprintf(",%g", l.CV)
	}
	return words + fmt.Sprintf(",%g-%g", l.Min, l.Max)
}
