package simulate

import (
	"cmp"
	"fmt"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/search"
	"github.com/memwall/memwall/sim"
	"github.com/memwall/memwall/workload"
)

// The most users that a plan holds within a goal, the first question of capacity planning, is found by doubling and bisecting the
// users of a closed loop, simulating each number, to a resolution of mostParts.
const (
	// MostInLoop is the most users of a closed loop that are simulated.
	MostInLoop = 10_000
	// mostParts is the resolution: a sixty-fourth of the users is less than the effect of another seed.
	mostParts = 64
)

// CheckMost rejects a question about the most users that also gives a load, or has no bounds.
func CheckMost(r *api.Request) error {
	if r.Goal == nil || !r.Goal.MostUsers {
		return nil
	}
	w := r.Workload
	switch {
	case r.Sequences > 0, w != nil && (w.Concurrency > 0 || w.Rate > 0 || w.Trace != "" || w.Arrivals != "" && w.Arrivals != "closed"),
		r.Day != nil:
		return &api.Error{Code: api.ImpossiblePlan, Field: "goal.most_users", Value: "true",
			Message: "goal.most_users asks for the number of users, but the load sets it",
			Hint:    "leave out users, rate, trace and day, or most_users"}
	case r.Goal.Minimize != "" && r.Goal.Minimize != "cost":
		return &api.Error{Code: api.ImpossiblePlan, Field: "goal.minimize", Value: r.Goal.Minimize,
			Message: fmt.Sprintf("goal.minimize = %q contradicts most_users, which ranks by users", r.Goal.Minimize),
			Hint:    "cost ranks by dollars for a user; leave it out for most users"}
	case r.Ask == api.AskSim && len(r.Goal.TTFT)+len(r.Goal.TPOT) == 0:
		return &api.Error{Code: api.BadField, Field: "goal", Message: "most_users needs a bound: no ttft_ms and no tpot_ms",
			Hint: "--ttft 1s, --tpot 50ms or both"}
	}
	return nil
}

// asksMost reports whether the question is about the most users.
func asksMost(r *api.Request) bool { return r.Goal != nil && r.Goal.MostUsers }

// LoopOfOne returns a workload of a single user, from which the search for the most begins.
func LoopOfOne(w *workload.Spec) workload.Spec {
	one, none := *w, plan.Int(0)
	if one.Concurrency = 1; one.Requests == 0 {
		one.Requests = judgedRequests
	}
	if one.Warmup == nil {
		one.Warmup = &none
	}
	return one
}

// WithUsers returns a simulation with n users of a closed loop. The numbers of requests and of warm-up requests follow the users
// unless the workload gives them.
func WithUsers(s *Simulation, given *workload.Spec, n int64) *Simulation {
	c := *s
	c.Spec.Arrivals, c.Spec.Concurrency, c.Spec.Requests, c.Spec.Warmup, c.Defaults = "closed", plan.Int(n), 0, nil, nil
	if given != nil {
		c.Spec.Requests, c.Spec.Warmup = given.Requests, given.Warmup
	}
	c.count()
	c.Settling = int64(*c.Spec.Warmup)
	return &c
}

// MostUsers returns the most users of a closed loop for which holds is true; 0 if it is false even for one. A workload with a given
// number of requests has at least two per user.
func MostUsers(given *workload.Spec, guess int64, holds func(n int64) (bool, error)) (most int64, err error) {
	limit := int64(MostInLoop)
	if given != nil && given.Requests > 0 {
		limit = min(limit, max(1, int64(given.Requests)/2))
	}
	most = search.LargestNear(guess, limit, mostParts, func(n int64) bool {
		if err != nil {
			return false
		}
		ok, failed := holds(n)
		err = cmp.Or(err, failed)
		return ok && err == nil
	})
	return most, err
}

// usualGuess is the initial number of users if no steady state was estimated.
const usualGuess = 32

// growToMost sets the users to the most that the plan holds within its goal; to one if it holds none.
func growToMost(s *Simulation, r *api.Request) error {
	most, err := mostUsersOf(s, r, usualGuess*s.Replicas(), Variant{})
	if err != nil || s.Ctx.Err() != nil {
		return err
	}
	c := WithUsers(s, r.Workload, max(1, most))
	s.Spec, s.Settling, s.most = c.Spec, c.Settling, &most
	for _, d := range c.Defaults {
		s.Question.Job.Default(d.Field, d.Value)
	}
	if most == MostInLoop {
		s.Question.Job.Note("most_users", "info", "goal.most_users",
			"more than %d users of a closed loop are not simulated: it may serve more",
			MostInLoop)
	}
	return nil
}

// mostUsersOf returns the most users of a plan within the goal in a variant.
func mostUsersOf(s *Simulation, r *api.Request, guess int64, v Variant) (int64, error) {
	return MostUsers(r.Workload, guess, func(n int64) (bool, error) {
		c := WithUsers(s, r.Workload, n)
		c.Unwatched, c.phase = true, api.PhaseCapacity
		GiveUp(c, r.Goal)
		res, err := c.Run(v)
		return err == nil && Meets(res, r.Goal), err
	})
}

// mostOverBand sets the most users at both edges of the step time's band; the slow edge holds the fewest.
func mostOverBand(s *Simulation, r *api.Request, out *api.Simulated, res *sim.Result) error {
	out.MostUsers = s.most
	fast, slow, ok := s.Extremes(res)
	if s.most == nil || !ok {
		return nil
	}
	least, err := mostUsersOf(s, r, *s.most, slow)
	if err != nil {
		return err
	}
	most, err := mostUsersOf(s, r, *s.most, fast)
	if err == nil && s.Ctx.Err() == nil { // else stopped
		least, most = min(least, *s.most), max(most, *s.most)
		out.MostUsersLow, out.MostUsersHigh = &least, &most
	}
	return err
}
