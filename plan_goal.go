package memwall

import (
	"context"

	"github.com/memwall/memwall/quality"
	"github.com/memwall/memwall/workload"
)

// Plans for a goal: which hardware, how much of it and run how, so that a load is served within bounds at the least cost.
// A server is one replica; a fleet is as many of one kind as the load needs. Servers are estimated in a steady state
// (plan_goal_steady.go), the most promising are played at the load (plan_goal_confirm.go), and what holds is ranked
// (plan_goal_rank.go) with reasons (plan_goal_why.go).

// aims reports whether a search for plans has a load and bounds to serve it within.
func (r *Request) aims() bool {
	g := r.Goal
	return r.Workload != nil || r.Day != nil || g != nil && (len(g.TTFT) > 0 || len(g.TPOT) > 0 || g.Attainment > 0 || g.Sure || g.Own != nil)
}

// goalSearch looks for fleets.
type goalSearch struct {
	asker    *Asker
	ctx      context.Context
	original *Request
	asked    Request // of one replica, as a question of fit
	among    map[string][]string
	goal     Goal
	spec     workload.Spec
	defaults []usedDefault
	notes    []Note
	// prompt and output are the mean lengths, rate the requests a second where they come by themselves.
	prompt, output int64
	rate           float64
	longest        int64 // prompt and answer together; 0 where a law has no end
	longestPrompt  int64 // of the requests that were looked at
	seen           int64 // the longest of the requests that were looked at
	order          *quality.Order
	native         string // how weights are published
	contenders     []*contender
	nearest        *contender
	kinds          int   // of hardware that are looked at
	refused        error // why the last server was, where none was sized
	evaluated      Evaluated
	goalProgress
}

// planGoal answers how to serve a load best.
func (a *Asker) planGoal(ctx context.Context, r *Request) (*Answer, error) {
	g := &goalSearch{asker: a.remembering(), ctx: ctx, original: r}
	if err := g.read(); err != nil {
		return nil, err
	}
	if err := g.enumerate(); err != nil {
		return nil, err
	}
	if len(g.contenders) == 0 && g.nearest == nil && g.refused != nil {
		return nil, g.refused
	}
	if err := g.confirm(); err != nil {
		return nil, err
	}
	return g.answer()
}

// read takes the request apart: the load, the bounds, and what one replica is asked.
func (g *goalSearch) read() error {
	r := g.original
	if r.Goal != nil {
		g.goal = *r.Goal
	}
	for _, err := range []error{g.goal.checkGoal(), g.checkBounds(), r.countReplicas(), r.contradicts()} {
		if err != nil {
			return asError(err)
		}
	}
	if err := g.load(); err != nil {
		return err
	}
	g.assume()
	g.asked = *r
	g.asked.Ask, g.asked.Goal, g.asked.Workload, g.asked.Explain, g.asked.All = "fit", nil, nil, false, false
	g.asked.Replicas, g.asked.Router, g.asked.MaxDevices, g.asked.Day, g.asked.For, g.asked.Among = 0, "", 0, nil, "", nil
	g.asked.PromptTokens, g.asked.OutputTokens, g.asked.Sequences = 0, 0, 0
	g.among = among(&g.asked)
	return g.roomy()
}
