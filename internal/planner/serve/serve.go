// Package serve searches the fleets that serve a load within bounds: it lists servers, estimates them, plays the most
// promising and says why the others lose.
package serve

import (
	"context"
	"fmt"
	"sync"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/planner"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/quality"
	"github.com/memwall/memwall/workload"
)

// Plans for a goal: which hardware, how much of it and run how, so that a load is served within bounds at the least cost.
// A server is one replica; a fleet is as many of one kind as the load needs. Servers are estimated in a steady state
// (steady.go), the most promising are played at the load (confirm.go), and what holds is ranked
// (rank.go) with reasons (why.go).

// goalSearch looks for fleets.
type goalSearch struct {
	env      *question.Env
	ctx      context.Context
	original *api.Request
	asked    api.Request // of one replica, as a question of fit
	among    map[string][]string
	goal     api.Goal
	spec     workload.Spec
	defaults []simulate.UsedDefault
	notes    []api.Note
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
	evaluated      api.Evaluated
	guarded        bool // fleets that nobody measured are ranked by their slow edge
	goalProgress
}

// Plan answers how to serve a load best.
func Plan(ctx context.Context, a *question.Env, r *api.Request) (*api.Answer, error) {
	g := &goalSearch{env: a.Remembering(), ctx: ctx, original: r}
	if err := g.read(); err != nil {
		return nil, err
	}
	if err := g.enumerate(); err != nil {
		return nil, err
	}
	if len(g.contenders) == 0 && g.nearest == nil && g.refused != nil {
		return nil, g.refused
	}
	find := g.confirm
	if g.goal.MostUsers {
		find = g.holdMost
	}
	if err := find(); err != nil {
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
	for _, err := range []error{simulate.CheckGoal(&g.goal), simulate.CheckMost(r), g.checkBounds(), simulate.CountReplicas(r),
		contradicts(r)} {
		if err != nil {
			return api.AsError(err)
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
	g.among = planner.Among(&g.asked)
	return g.fillContext()
}

// goalProgress is how many servers of a phase have been played, by several at a time.
type goalProgress struct {
	one           sync.Mutex
	phase         string
	ended, ending int
	best          string
}

// reportBest tells where a search for fleets is, between what is done together.
func (g *goalSearch) reportBest() {
	if held := g.feasible(); len(held) > 0 && g.env.HasWatcher() {
		g.best = held[0].headline(g)
	}
	g.reportProgress(g.phase, g.ended, g.ending)
}

// reportPlayed: another server has been played.
func (g *goalSearch) reportPlayed() {
	g.one.Lock()
	defer g.one.Unlock()
	g.ended++
	g.reportProgress(g.phase, g.ended, g.ending)
}

func (g *goalSearch) reportProgress(phase string, done, of int) {
	if !g.env.HasWatcher() {
		return
	}
	g.env.Report(api.Progress{Phase: phase, Done: done, Of: max(done, of), Evaluated: g.evaluated.Copied(), Best: g.best})
}

// headline of a fleet that holds: what it is, and its rent.
func (c *contender) headline(g *goalSearch) string {
	words := c.words
	if c.fleet.replicas > 1 {
		words = fmt.Sprintf("%d × %s", c.fleet.replicas, words)
	}
	if m := g.money(c, c.fleet.replicas); m.PerHour.Known() {
		words += fmt.Sprintf(", $%.2f an hour", m.PerHour.Mid)
	}
	return words
}
