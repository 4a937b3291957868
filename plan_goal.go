package memwall

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/quality"
	"github.com/memwall/memwall/unit"
	"github.com/memwall/memwall/workload"
)

// Plans for a goal: which hardware, how much of it and run how, so that a load is served within bounds at the least cost.
// A server is one replica; a fleet is as many of one kind as the load needs. Servers are estimated in a steady state
// (plan_goal_steady.go), the most promising are played at the load (plan_goal_confirm.go), and what holds is ranked
// (plan_goal_rank.go) with reasons (plan_goal_why.go).

// aims reports whether a search for plans has a load and bounds to serve it within.
func (r *Request) aims() bool {
	g := r.Goal
	return r.Workload != nil || r.Day != nil || g != nil && (len(g.TTFT) > 0 || len(g.TPOT) > 0 || g.Attainment > 0 || g.Own != nil)
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
	seen           int64 // the longest of the requests that were looked at
	order          *quality.Order
	native         string // how weights are published
	contenders     []*contender
	nearest        *contender
	refused        error // why the last server was, where none was sized
	evaluated      Evaluated
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
	g.asked = *r
	g.asked.Ask, g.asked.Goal, g.asked.Workload, g.asked.Explain, g.asked.All = "fit", nil, nil, false, false
	g.asked.Replicas, g.asked.Router, g.asked.MaxDevices, g.asked.Day, g.asked.For, g.asked.Among = 0, "", 0, nil, "", nil
	g.asked.PromptTokens, g.asked.OutputTokens, g.asked.Sequences = 0, 0, 0
	g.among = among(&g.asked)
	return g.roomy()
}

// roomy gives servers a context that holds what the load asks for, where that is more than the usual one and the model was
// trained for it.
func (g *goalSearch) roomy() error {
	need := plan.Int(unit.PadUp(g.seen, 1024))
	if g.asked.Context > 0 || need <= defaultContext {
		return nil
	}
	r, err := g.asker.resolve(g.asked.Model)
	if err != nil {
		return err
	}
	if r.Spec == nil {
		return nil
	}
	if most := plan.Int(r.Spec.Model(r.ID).Context); most > 0 {
		need = min(need, most)
	}
	g.asked.Context = need
	g.defaults = append(g.defaults, usedDefault{"context", need})
	return nil
}

// load is the workload with its defaults: lengths vary, unless they are given, so that users do not ask in step.
func (g *goalSearch) load() error {
	w := workload.Spec{}
	if g.original.Workload != nil {
		w = *g.original.Workload
	}
	if d := g.original.Day; d != nil && w.Rate == 0 && w.Concurrency == 0 {
		w.Rate = slices.Max(d.Rates)
	}
	if w.Rate == 0 && w.Concurrency == 0 && g.original.Sequences == 0 && w.Trace == "" && w.Arrivals != "burst" {
		return &Error{Code: BadField, Field: "workload", Message: "who asks is not said: no users, no rate and no trace", Hint: "--users 50 for so many at a time, --rate 4 for four requests a second, --trace FILE for a recording"}
	}
	if n := max(int64(w.Concurrency), int64(g.original.Sequences)); w.Rate == 0 && n > mostInLoop {
		return &Error{Code: Limit, Field: "workload.concurrency", Value: fmt.Sprint(n), Message: fmt.Sprintf("%d users of a closed loop are more than the %d that are played", n, mostInLoop), Hint: "a rate: so many users ask independently of each other"}
	}
	if w.Trace == "" {
		g.vary(&w)
		g.count(&w)
	}
	if n := max(int64(w.Concurrency), int64(g.original.Sequences)); w.Rate == 0 && w.Trace == "" && w.Requests > 0 && int64(w.Requests) < 2*n {
		return &Error{Code: BadField, Field: "workload.requests", Value: fmt.Sprint(int64(w.Requests)), Message: fmt.Sprintf("workload.requests = %d are fewer than two for each of %d users: the loop would end before it is one", int64(w.Requests), n), Hint: "more requests, or leave it out"}
	}
	with := *g.original
	with.Workload = &w
	s := &simulation{}
	if err := s.load(&with); err != nil {
		return asError(err)
	}
	g.spec = s.spec
	g.defaults = append(g.defaults, s.defaults...)
	return g.means()
}

// vary fills in lengths about which nothing is said.
func (g *goalSearch) vary(w *workload.Spec) {
	if p := &w.Prompt; p.Law == "" && p.Mean == 0 && len(p.Values) == 0 && g.original.PromptTokens == 0 {
		*p = workload.Law{Law: "lognormal", Mean: usualPrompt, CV: 1, Min: 1, Max: longestPrompt}
		g.defaults = append(g.defaults, usedDefault{"workload.prompt", fmt.Sprintf("lognormal:%d,1,1-%d", usualPrompt, longestPrompt)})
	}
	if o := &w.Output; o.Law == "" && o.Mean == 0 && len(o.Values) == 0 && g.original.OutputTokens == 0 {
		*o = workload.Law{Law: "exponential", Mean: usualOutput, Min: 1, Max: longestOutput}
		g.defaults = append(g.defaults, usedDefault{"workload.output", fmt.Sprintf("exponential:%d,1-%d", usualOutput, longestOutput)})
	}
}

// Lengths of laws about which nothing is said stay within the usual context.
const longestPrompt, longestOutput = defaultContext * 3 / 4, defaultContext / 4

// mostInLoop are the users of a closed loop that are played.
const mostInLoop = 10_000

// judged requests tell a 99th percentile to a few percent. Those that settle the fleet come first.
const judgedRequests = 3000

// count says how many requests are played where the workload does not.
func (g *goalSearch) count(w *workload.Spec) {
	if w.Requests == 0 && w.DurationS == 0 {
		w.Requests = plan.Int(judgedRequests + settling(w, g.original))
		g.defaults = append(g.defaults, usedDefault{"workload.requests", w.Requests})
	}
}

// settling is how many requests pass before a fleet is as it stays: each user's first two, or as many as fill a server.
func settling(w *workload.Spec, r *Request) int64 {
	const least = 200
	users := int64(w.Concurrency)
	if w.Concurrency == 0 && w.Rate == 0 {
		users = int64(r.Sequences)
	}
	return max(least, min(2*users, 20_000))
}

// means of the lengths, and the rate of requests that come by themselves.
func (g *goalSearch) means() error {
	s := &simulation{spec: g.spec, player: player{q: &question{asker: g.asker}}}
	if s.spec.Trace == "" {
		s.spec = burst(s.spec)
		s.spec.Requests = surveyed
	}
	src, closed, err := s.source()
	if err != nil {
		return asError(err)
	}
	defer func() { _ = closed() }() // it was only read
	l, err := workload.Survey(src)
	if err != nil {
		return s.faulty(err)
	}
	if l.Requests == 0 {
		return &Error{Code: BadFile, Field: "workload.trace", Value: shorten(g.spec.Trace), Message: g.spec.Trace + " has no requests", Hint: "a recording of at least two"}
	}
	g.prompt, g.output = max(1, int64(l.Prompt.Mean)), max(1, int64(l.Output.Mean))
	g.seen = l.Prompt.Max + l.Output.Max
	if w := &g.spec; w.Trace != "" || w.Prompt.Ends() && w.Output.Ends() && w.Sessions == nil {
		g.longest = l.Prompt.Max + l.Output.Max
	}
	if g.rate = g.spec.Rate; g.rate == 0 && g.spec.Arrivals == "trace" {
		g.rate = l.Rate()
	}
	if s := g.spec.Sessions; s != nil {
		g.rate *= math.Max(1, s.Turns.Mean)
	}
	return nil
}

// surveyed requests tell the means of laws.
const surveyed = 2000

// checkBounds refuses shares and terms that are none.
func (g *goalSearch) checkBounds() error {
	goal := &g.goal
	bad := func(field string, value any, message, hint string) error {
		return &Error{Code: BadField, Field: "goal." + field, Value: fmt.Sprint(value), Message: fmt.Sprintf("goal.%s = %v %s", field, value, message), Hint: hint}
	}
	switch _, known := pointsOfTwice[goal.Minimize]; {
	case !known:
		return bad("minimize", shorten(goal.Minimize), "is not known", "cost, latency, devices or quality_loss")
	case !(goal.Attainment >= 0 && goal.Attainment <= 1):
		return bad("attainment", goal.Attainment, "is no share from 0 to 1", "such as 0.99")
	case goal.Attainment > 0 && len(goal.TTFT) == 0 && len(goal.TPOT) == 0:
		return bad("attainment", goal.Attainment, "is a share of requests within bounds, and there are none", "give ttft_ms or tpot_ms too")
	case goal.QualityLoss != nil && !(*goal.QualityLoss >= 0 && *goal.QualityLoss <= 100):
		return bad("quality_loss", *goal.QualityLoss, "is not from 0 to 100 percent", "such as 1; 100 for any format")
	}
	if err := goal.ordered(); err != nil {
		return err
	}
	if err := g.original.Day.check(); err != nil {
		return err
	}
	return goal.Own.check()
}

// contradicts refuses two fields of which one rules the other out.
func (r *Request) contradicts() error {
	both := func(field, value, message, hint string) error {
		return &Error{Code: ImpossiblePlan, Field: field, Value: value, Message: message, Hint: hint}
	}
	ranks := max(1, r.TP) * max(1, r.PP) * max(1, r.DP) * max(1, int64(r.Replicas))
	switch w, d := r.Workload, r.Day; {
	case r.MaxDevices < 0:
		return both("max_devices", fmt.Sprint(int64(r.MaxDevices)), fmt.Sprintf("max_devices = %d is negative", int64(r.MaxDevices)), "a number from 1, or leave it out")
	case r.MaxDevices > 0 && ranks > int64(r.MaxDevices):
		return both("max_devices", fmt.Sprint(int64(r.MaxDevices)), fmt.Sprintf("tp × pp × dp × replicas = %d devices contradict max_devices = %d", ranks, int64(r.MaxDevices)), "smaller groups, or more devices")
	case r.MaxDevices > 0 && r.Devices > int64(r.MaxDevices):
		return both("max_devices", fmt.Sprint(int64(r.MaxDevices)), fmt.Sprintf("devices = %d contradict max_devices = %d", r.Devices, int64(r.MaxDevices)), "leave one of them out")
	case d != nil && (r.Sequences > 0 || w != nil && (w.Concurrency > 0 || w.Trace != "")):
		return both("day", "", "day contradicts a number of users and a trace: it tells the requests of each part of a day", "leave one of them out")
	case d != nil && w != nil && w.Rate > 0 && len(d.Rates) > 0 && w.Rate != slices.Max(d.Rates):
		return both("workload.rate", fmt.Sprint(w.Rate), fmt.Sprintf("workload.rate = %g contradicts day.rates, whose highest is %g", w.Rate, slices.Max(d.Rates)), "leave the rate out: the highest of the day is planned for")
	case w != nil && w.Rate > 0 && (w.Concurrency > 0 || r.Sequences > 0):
		return both("workload.rate", fmt.Sprint(w.Rate), fmt.Sprintf("workload.rate = %g contradicts %d users, who ask when they are answered", w.Rate, max(int64(w.Concurrency), int64(r.Sequences))), "leave one of them out")
	}
	return nil
}

// ordered refuses a higher percentile with a lower bound: whoever keeps it keeps the other too.
func (g *Goal) ordered() error {
	for field, bounds := range map[string]map[string]float64{"ttft_ms": g.TTFT, "tpot_ms": g.TPOT} {
		for a, most := range bounds {
			for b, other := range bounds {
				x, _ := percentile(a)
				y, _ := percentile(b)
				if x < y && most > other {
					return &Error{Code: BadField, Field: "goal." + field, Value: fmt.Sprint(most), Message: fmt.Sprintf("goal.%s contradicts itself: %s may take %v ms and %s only %v ms, but %s is never the longer one", field, a, most, b, other, a), Hint: "leave out " + a + ", or give it the lower bound"}
				}
			}
		}
	}
	return nil
}
