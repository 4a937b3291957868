package serve

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/planner"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/sim"
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/workload"
)

// task is what a fleet must do. Phases only read it, except that the load of the most users is filled in once known (filledLoad).
type task struct {
	env      *question.Env
	ctx      context.Context
	original *api.Request
	asked    api.Request // of one replica, as a fit question
	among    map[string][]string
	goal     api.Goal
	spec     workload.Spec
	defaults []simulate.UsedDefault
	// prompt and output are mean lengths, rate the requests per second of an open load.
	prompt, output int64
	rate           float64
	longest        int64 // prompt and answer together; 0 if the distribution is unbounded
	longestPrompt  int64 // among the requests surveyed
	seen           int64 // the longest among the requests surveyed
}

// readTask splits a request into the load, the bounds, and the request for one replica.
func readTask(ctx context.Context, a *question.Env, r *api.Request) (*task, error) {
	t := &task{env: a.Remembering(), ctx: ctx, original: r}
	if r.Goal != nil {
		t.goal = *r.Goal
	}
	for _, err := range []error{simulate.CheckGoal(&t.goal), simulate.CheckMost(r), t.checkBounds(), simulate.CountReplicas(r),
		contradicts(r)} {
		if err != nil {
			return nil, api.AsError(err)
		}
	}
	if err := t.load(); err != nil {
		return nil, err
	}
	t.assume()
	t.asked = *r
	t.asked.Ask, t.asked.Goal, t.asked.Workload, t.asked.Explain, t.asked.All = "fit", nil, nil, false, false
	t.asked.Replicas, t.asked.Router, t.asked.MaxDevices, t.asked.Day, t.asked.For, t.asked.Among = 0, "", 0, nil, "", nil
	t.asked.PromptTokens, t.asked.OutputTokens, t.asked.Sequences = 0, 0, 0
	t.among = planner.Among(&t.asked)
	if err := t.fillContext(); err != nil {
		return nil, err
	}
	return t, nil
}

// minimize returns the objective.
func (t *task) minimize() string { return cmp.Or(t.goal.Minimize, "cost") }

// usualLoss is the quality loss, in points, that people accept for half the bytes: 8-bit formats stay within it.
const usualLoss = 1.0

// affords returns the allowed quality loss, in points.
func (t *task) affords() float64 {
	if q := t.goal.QualityLoss; q != nil {
		return *q
	}
	return usualLoss
}

// listed reports whether a field was given as a list.
func (t *task) listed(field string) bool { return t.among[field] != nil }

// bounded reports whether any time has a bound.
func (t *task) bounded() bool { return len(t.goal.TTFT) > 0 || len(t.goal.TPOT) > 0 }

// keepsBounds reports whether the means are within the bounds, a necessary condition for the percentiles to be.
func (t *task) keepsBounds(c serving.Closed) bool {
	if !(c.PerToken > 0) || math.IsInf(c.PerToken+c.First, 0) {
		return false
	}
	first, token := simulate.RequestBound(t.goal.TTFT).Seconds(), simulate.RequestBound(t.goal.TPOT).Seconds()
	return (first == 0 || c.First <= first) && (token == 0 || c.PerToken <= token)
}

// meets reports whether a run holds the load within the goal.
func (t *task) meets(r *sim.Result) bool { return simulate.Meets(r, &t.goal) }

// giveUp ends a run as soon as it can no longer meet the goal.
func (t *task) giveUp(s *simulate.Simulation) { simulate.GiveUp(s, &t.goal) }

// loop returns a closed load of the given users with the mean lengths.
func (t *task) loop(users int64) serving.Load {
	return serving.Load{Users: users, Prompt: t.prompt, Output: t.output}
}

// loadWords describes a load: "52 of 64 users".
func (t *task) loadWords(p *api.CurvePoint) string {
	if p.Users != nil {
		return fmt.Sprintf("%d of %d users", *p.Users, int64(t.spec.Concurrency))
	}
	return fmt.Sprintf("%.3g of %.3g requests/s", p.Share*t.rate, t.rate)
}

// leastWords describes the least load that is tried.
func (t *task) leastWords() string {
	if t.spec.Concurrency > 0 {
		return "with one user alone"
	}
	return fmt.Sprintf("with %.2g requests/s", t.rate/partsOfLoad)
}

// patch returns the patch from the request to a plan with the given replicas. Fields that are not part of a plan are kept.
func (t *task) patch(of *api.Request, replicas plan.Int) map[string]any {
	to := *t.original
	for _, f := range api.Fields() {
		if f.OfAsk("fit") && f.Name != "ask" {
			f.Value(&to).Set(f.Value(of))
		}
	}
	to.PromptTokens, to.OutputTokens, to.Sequences, to.Devices, to.Replicas = t.original.PromptTokens, t.original.OutputTokens,
		t.original.Sequences, 0, replicas
	if of.Engine == "llama-server" {
		to.Sequences = of.Sequences
	}
	return change.PatchOf(t.original, &to)
}
