package serve

import (
	"fmt"
	"math"
	"slices"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
	"github.com/memwall/memwall/workload"
)

// fillContext sets a context that holds the load's requests, if that is longer than the usual one and the model was trained for it.
func (t *task) fillContext() error {
	need := plan.Int(unit.PadUp(t.seen, 1024))
	if t.asked.Context > 0 || need <= question.DefaultContext {
		return nil
	}
	r, err := t.env.Resolve(t.asked.Model)
	if err != nil {
		return err
	}
	if r.Spec == nil {
		return nil
	}
	if most := plan.Int(r.Spec.Model(r.ID).Context); most > 0 {
		need = min(need, most)
	}
	t.asked.Context = need
	t.defaults = append(t.defaults, simulate.UsedDefault{Field: "context", Value: need})
	return nil
}

// load returns the workload with its defaults: lengths vary unless given, so that users do not run in lockstep.
func (t *task) load() error {
	w := workload.Spec{}
	if t.original.Workload != nil {
		w = *t.original.Workload
	}
	if t.goal.MostUsers {
		w = simulate.LoopOfOne(&w)
	}
	if d := t.original.Day; d != nil && w.Rate == 0 && w.Concurrency == 0 {
		w.Rate = slices.Max(d.Rates)
	}
	if w.Rate == 0 && w.Concurrency == 0 && t.original.Sequences == 0 && w.Trace == "" && w.Arrivals != "burst" {
		return &api.Error{Code: api.BadField, Field: "workload", Message: "the load is missing: no users, no rate and no trace",
			Hint: "--users 50 for that many at a time, --rate 4 for four requests a second, --trace FILE for a recording"}
	}
	if n := max(int64(w.Concurrency), int64(t.original.Sequences)); w.Rate == 0 && n > simulate.MostInLoop {
		return &api.Error{Code: api.Limit, Field: "workload.concurrency", Value: fmt.Sprint(n),
			Message: fmt.Sprintf("a closed loop of %d users: at most %d are simulated", n, simulate.MostInLoop),
			Hint:    "give a rate instead: that many users send requests independently"}
	}
	if n := max(int64(w.Concurrency), int64(t.original.Sequences)); w.Rate == 0 && w.Trace == "" && w.Requests > 0 &&
		int64(w.Requests) < 2*n {
		return &api.Error{Code: api.BadField, Field: "workload.requests", Value: fmt.Sprint(int64(w.Requests)),
			Message: fmt.Sprintf("workload.requests = %d is fewer than two for each of %d users: too few for a closed loop",
				int64(w.Requests), n), Hint: "more requests, or leave it out"}
	}
	with := *t.original
	with.Workload = &w
	s := &simulate.Simulation{}
	if err := s.Load(&with); err != nil {
		return api.AsError(err)
	}
	t.spec = s.Spec
	if n := max(float64(t.spec.Requests), t.spec.DurationS*t.spec.Rate); n > mostOfRound {
		return &api.Error{Code: api.Limit, Field: "workload.requests", Value: fmt.Sprint(n),
			Message: fmt.Sprintf("%.0f requests are more than the %d of one round, of which a search plays dozens", n, mostOfRound),
			Hint:    "fewer: the percentiles of 10,000 hardly differ; memwall sim plays more of one plan"}
	}
	t.defaults = append(t.defaults, s.Defaults...)
	return t.means()
}

// mostOfRound is the most requests that a search simulates at a time.
const mostOfRound = 1_000_000

// means sets the mean lengths, and the request rate of open loads.
func (t *task) means() error {
	s := &simulate.Simulation{Spec: t.spec, Player: simulate.Player{Question: &question.Question{Env: t.env}}}
	if s.Spec.Trace == "" {
		s.Spec = simulate.Burst(s.Spec)
		s.Spec.Requests = surveyed
	}
	src, closed, err := s.Source()
	if err != nil {
		return api.AsError(err)
	}
	defer func() { _ = closed() }() // only read
	l, err := workload.Survey(src)
	if err != nil {
		return s.TraceError(err)
	}
	if l.Requests == 0 {
		return &api.Error{Code: api.BadFile, Field: "workload.trace", Value: api.Shorten(t.spec.Trace),
			Message: t.spec.Trace + " has no requests", Hint: "a recording of at least two"}
	}
	t.prompt, t.output = max(1, int64(l.Prompt.Mean)), max(1, int64(l.Output.Mean))
	t.seen, t.longestPrompt = l.Prompt.Max+l.Output.Max, l.Prompt.Max
	if w := &t.spec; w.Trace != "" || w.Prompt.Ends() && w.Output.Ends() && w.Sessions == nil {
		t.longest = l.Prompt.Max + l.Output.Max
	}
	if t.rate = t.spec.Rate; t.rate == 0 && t.spec.Arrivals == "trace" {
		t.rate = l.Rate()
	}
	if s := t.spec.Sessions; s != nil {
		t.rate *= math.Max(1, s.Turns.Mean)
	}
	return nil
}

// surveyed is the number of requests from which the means of distributions are estimated.
const surveyed = 2000
