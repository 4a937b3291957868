package simulate

import (
	"fmt"

	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/workload"
)

// Default numbers of simulated and of counted requests: the same for a single plan and for those of a search for a goal, so that
// both report the same for one plan.

const (
	// judgedRequests is the number of requests that determine a 99th percentile to a few percent.
	judgedRequests = 3000
	// A server is in steady state after leastWarmup requests, after those of warmupSeconds, and after the first two of each user.
	leastWarmup, mostWarmup, warmupSeconds = 200, 20_000, 10
)

// Default lengths of a workload: roughly those of chats (ShareGPT, Azure LLM 2023 conversations), within the usual context. They
// vary, so that users do not run in lockstep.
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

// warmup returns the number of initial requests that are not counted. A burst counts all, since it consists of its start.
func warmup(w *workload.Spec) plan.Int {
	if w.Arrivals == "burst" {
		return 0
	}
	return max(leastWarmup, min(max(2*w.Concurrency, plan.Int(warmupSeconds*min(w.Rate, mostWarmup))), mostWarmup))
}

// count sets the number of requests, and how many of them precede the counted ones.
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

// lengthOf sets a length distribution: the plan's tokens if given, else the usual one.
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

// lawWords formats a distribution as --prompt accepts it.
func lawWords(l *workload.Law) string {
	words := fmt.Sprintf("%s:%g", l.Law, l.Mean)
	if l.CV > 0 {
		words += fmt.Sprintf(",%g", l.CV)
	}
	return words + fmt.Sprintf(",%g-%g", l.Min, l.Max)
}
