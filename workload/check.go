package workload

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall/plan"
)

// bad returns an error about a workload field.
func bad(field string, value any, message, fix string) error {
	field = "workload." + field
	return &plan.Problem{Field: field, Value: fmt.Sprint(value), Message: fmt.Sprintf("%s = %v %s", field, value, message), Fix: fix}
}

// missing returns an error about a required workload field.
func missing(field, message, fix string) error {
	field = "workload." + field
	return &plan.Problem{Field: field, Message: field + " " + message, Fix: fix}
}

// Check rejects workloads that cannot be generated, or not within the limits.
func (s *Spec) Check() error {
	for _, check := range []func() error{s.checkArrivals, s.checkUnused, s.checkCounts, s.checkRate, s.checkLaws, s.checkChoices,
		s.checkSessions, s.checkPriorities, s.Reading.check} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

const arrivalKinds = "poisson gamma closed burst trace"

func (s *Spec) checkArrivals() error {
	kinds := strings.ReplaceAll(arrivalKinds, " ", ", ")
	switch {
	case s.Arrivals == "":
		return missing("arrivals", "is not given", "one of "+kinds)
	case !slices.Contains(strings.Fields(arrivalKinds), s.Arrivals):
		return bad("arrivals", s.Arrivals, "is not known", "one of "+kinds)
	case s.Arrivals == "trace" && s.Trace == "":
		return missing("trace", "is not given, and arrivals are to be those of a trace", "give the file of one")
	}
	return nil
}

// checkUnused rejects fields that these arrivals would silently ignore.
func (s *Spec) checkUnused() error {
	spaced, traced := s.Arrivals == "poisson" || s.Arrivals == "gamma", s.Trace != ""
	for _, c := range []struct {
		field       string
		given, used bool
		fix         string
	}{
		{"rate", s.Rate != 0, spaced, "leave it out, or arrivals poisson or gamma"},
		{"cv", s.CV != nil, s.Arrivals == "gamma", "leave it out, or arrivals gamma"},
		{"concurrency", s.Concurrency != 0, s.Arrivals == "closed", "leave it out, or arrivals closed"},
		{"seed", s.Seed != 0, s.Arrivals != "trace", "leave it out: nothing is left to chance"},
		{"prompt", s.Prompt.given(), !traced, "leave it out: the trace tells lengths"},
		{"output", s.Output.given(), !traced, "leave it out: the trace tells lengths"},
		{"shared_prefix_tokens", s.SharedPrefix != 0, !traced, "leave it out: the trace tells what prompts share"},
		{"sessions", s.Sessions != nil, !traced, "leave it out: the trace tells who asks"},
		{"patience_s", s.Patience.given(), !traced, "leave it out, or write patience_s into the trace"},
		{"adapters", s.Adapters != Choice{}, !traced, "leave it out, or write adapter into the trace"},
		{"priorities", len(s.Priorities) > 0, !traced, "leave it out, or write priority into the trace"},
		{"reading", s.Reading != ReadOptions{}, traced, "leave it out, or give a trace"},
	} {
		if c.given && !c.used {
			with := "arrivals = " + s.Arrivals
			if traced && s.Arrivals != "trace" {
				with = "a trace"
			}
			return missing(c.field, "has no meaning with "+with, c.fix)
		}
	}
	return nil
}

func (s *Spec) checkRate() error {
	switch {
	case s.Arrivals == "closed":
		return s.checkConcurrency()
	case s.Arrivals != "poisson" && s.Arrivals != "gamma":
		return nil
	case s.Rate == 0:
		return missing("rate", "is not given", "give arrivals a second, such as 4")
	case !(s.Rate > 0) || s.Rate > MaxRate:
		return bad("rate", s.Rate, fmt.Sprintf("is not a number above 0 and at most %g", MaxRate),
			"give arrivals a second, such as 4; arrivals burst for all at once")
	case float64(s.Requests)/s.Rate > MaxSeconds:
		return bad("rate", s.Rate, fmt.Sprintf("is so low that %d requests take more than thirty years", s.Requests),
			"a higher rate, or fewer requests")
	case s.Arrivals == "gamma" && s.CV == nil:
		return missing("cv", "is not given", "give the cv of the gaps between arrivals: 0 evenly spaced, 1 as poisson, 3 in clumps")
	case s.CV != nil && !within(*s.CV, 0, maxCV):
		return bad("cv", *s.CV, notFrom(0, maxCV), "0 evenly spaced, 1 as poisson, 3 in clumps")
	}
	return nil
}

func (s *Spec) checkConcurrency() error {
	switch {
	case s.Concurrency == 0:
		return missing("concurrency", "is not given", "give the number of users of the closed loop, such as 64")
	case s.Concurrency < 0 || s.Concurrency > MaxConcurrency:
		return bad("concurrency", s.Concurrency, notFrom(1, MaxConcurrency), "give the number of users of the closed loop, such as 64")
	}
	return nil
}

// checkCounts requires the workload to end.
func (s *Spec) checkCounts() error {
	switch {
	case s.Requests < 0:
		return bad("requests", s.Requests, "is negative", "give a number from 1")
	case s.Requests > MaxRequests:
		return bad("requests", s.Requests, fmt.Sprintf("is more than %d", MaxRequests),
			"give fewer: percentiles of a million hardly differ from those of more")
	case s.Warmup != nil && (*s.Warmup < 0 || *s.Warmup > MaxWarmup):
		return bad("warmup", *s.Warmup, notFrom(0, MaxWarmup), "as many as fill the servers, such as 200; 0 counts all")
	case !within(s.DurationS, 0, MaxSeconds):
		return bad("duration_s", s.DurationS, notFrom(0, MaxSeconds), "give seconds, such as 3600")
	case s.Requests == 0 && s.DurationS == 0 && s.Trace == "":
		return missing("requests", "is 0, and nothing else ends the workload", "give a number from 1, or duration_s")
	case s.Requests == 0 && s.Arrivals == "burst" && s.Trace == "":
		return missing("requests", "is 0, and all of them come at once", "give a number from 1")
	case s.Requests == 0 && float64(s.DurationS*s.Rate) > MaxRequests:
		return bad("duration_s", s.DurationS, fmt.Sprintf("is more than %d requests at rate %g", MaxRequests, s.Rate),
			"a shorter time, or a lower rate")
	}
	return nil
}

func (s *Spec) checkLaws() error {
	if s.Trace != "" {
		return nil
	}
	if err := s.Prompt.check("prompt", 1, MaxTokens); err != nil {
		return err
	}
	if err := s.Output.check("output", 1, MaxTokens); err != nil {
		return err
	}
	if !s.Patience.given() {
		return nil
	}
	return s.Patience.check("patience_s", 0, MaxSeconds)
}

func (s *Spec) checkChoices() error {
	if !within(float64(s.SharedPrefix), 0, MaxTokens) {
		return bad("shared_prefix_tokens", s.SharedPrefix, notFrom(0, MaxTokens), "give tokens, such as 512")
	}
	if s.SharedPrefix == 0 && s.Prefixes != (Choice{}) {
		return missing("prefixes", "have no length", "give shared_prefix_tokens too")
	}
	if err := s.Prefixes.check("prefixes"); err != nil {
		return err
	}
	return s.Adapters.check("adapters")
}

func (c *Choice) check(field string) error {
	switch {
	case !within(float64(c.Count), 0, MaxChoices):
		return bad(field+".count", c.Count, notFrom(0, MaxChoices), "give how many there are")
	case !within(c.Zipf, 0, 10):
		return bad(field+".zipf", c.Zipf, notFrom(0, 10), "0 for all alike, 1 for a long tail")
	case c.Count == 0 && c.Zipf != 0:
		return missing(field+".count", "is not given", "give how many there are")
	}
	return nil
}

func (s *Spec) checkSessions() error {
	if s.Sessions == nil {
		return nil
	}
	if err := s.Sessions.Turns.check("sessions.turns", 1, MaxTurns); err != nil {
		return err
	}
	if m := s.Sessions.MaxTokens; !within(float64(m), 0, MaxTokens) {
		return bad("sessions.max_tokens", m, notFrom(0, MaxTokens), "give tokens, such as 32768")
	}
	if !s.Sessions.ThinkS.given() {
		return nil
	}
	return s.Sessions.ThinkS.check("sessions.think_s", 0, MaxSeconds)
}

func (s *Spec) checkPriorities() error {
	if len(s.Priorities) > maxPriorities {
		return bad("priorities", len(s.Priorities), fmt.Sprintf("shares are more than %d", maxPriorities), "give fewer")
	}
	return checkWeights("priorities", s.Priorities)
}

const (
	maxCV         = 100
	maxPriorities = 1000
)

// within reports whether low <= x <= high; it is false for NaN.
func within(x, low, high float64) bool { return x >= low && x <= high }

func notFrom(low, high float64) string {
	return fmt.Sprintf("is not from %s to %s", boundText(low), boundText(high))
}

// boundText formats a limit.
func boundText(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e15 {
		return fmt.Sprintf("%d", int64(x))
	}
	return fmt.Sprint(x)
}
