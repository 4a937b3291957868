package serve

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/deploy"
	"github.com/memwall/memwall/internal/launch"
	"github.com/memwall/memwall/internal/planner"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

const (
	// reported fleets have bands, and the first of them, one a kind of hardware, a curve.
	reported, curved = 12, 3
	// mostListed plans where all are asked for.
	mostListed = 10_000
)

// answer writes what was found.
func (g *goalSearch) answer() (*api.Answer, error) {
	held, err := g.finished(distinctFleets(g.feasible()))
	if err != nil {
		return nil, err
	}
	shown := *g.original
	shown.Ask, shown.Workload = api.AskPlan, &g.spec
	goal := g.goal
	if goal.MostUsers && len(held) > 0 {
		g.filledLoad(held[0])
	}
	if goal.Minimize == "" && !goal.MostUsers {
		goal.Minimize = g.minimize()
		g.defaults = append(g.defaults, simulate.UsedDefault{Field: "goal.minimize", Value: goal.Minimize})
	}
	if goal.QualityLoss == nil {
		loss := g.affords()
		goal.QualityLoss = &loss
		g.defaults = append(g.defaults, simulate.UsedDefault{Field: "goal.quality_loss", Value: loss})
	}
	shown.Goal = &goal
	out := &api.Answer{Plan: &shown, Verdict: api.DoesNotFit, Evaluated: &g.evaluated}
	g.describe(out)
	for _, c := range held {
		out.Candidates = append(out.Candidates, g.candidate(c))
	}
	if len(out.Candidates) > 0 {
		out.Verdict = api.Fits
		g.winner(out, held)
	} else if g.ctx.Err() != nil {
		out.Verdict, out.Candidates = api.Unknown, g.estimates()
	} else if c, err := g.closest(); err != nil {
		return nil, err
	} else if c != nil {
		miss := g.candidate(c)
		miss.Why = g.whyNot(c, nil)
		out.NearestMiss = &miss
	}
	if !goal.MostUsers {
		out.Surprises = g.surprises(held)
	}
	if g.original.All {
		out.Candidates = append(out.Candidates, g.estimatedOnly()...)
	}
	g.remarks(held)
	for _, d := range g.defaults {
		g.note("default_used", "info", d.Field, fmt.Sprintf("%s = %v by default", d.Field, d.Value))
	}
	out.Notes = g.notes
	return out, nil
}

// varied are the fleets that are reported, the best first: all that were found where all are asked for, else not so many of one
// kind of hardware that the others have no place.
func (g *goalSearch) varied(held []*contender, most int) (out []*contender) {
	of := map[string]int{}
	for _, c := range held {
		of[c.kind] = 0
	}
	each := most
	if len(of) > 1 {
		each = max(2, most*3/4/len(of))
	}
	for _, c := range held {
		if of[c.kind]++; g.original.All || of[c.kind] <= each && len(out) < most {
			out = append(out, c)
		}
	}
	return out
}

// finished are the fleets that are reported, with what only they need: both edges of the band, the fleet that is sure, curves.
func (g *goalSearch) finished(held []*contender) ([]*contender, error) {
	if g.goal.MostUsers {
		return g.filledOverBand(g.varied(held, reported))
	}
	shown := g.varied(held, 2*reported)
	g.phase, g.ended, g.ending = api.PhaseDetail, 0, len(shown)+curved
	if err := g.inParallel(shown[:min(len(shown), 2*reported)], func(c *contender) error { return c.edge(g) }); err != nil {
		return nil, err
	}
	if err := g.guard(shown); err != nil {
		return nil, err
	}
	slices.SortStableFunc(shown, func(a, b *contender) int {
		return cmp.Or(a.fleet.compareCertainty(b.fleet), slices.Compare(a.merits(g), b.merits(g)))
	})
	shown = g.varied(shown, reported)
	first := firstOfKinds(shown, curved)
	return shown, g.inParallel(first, func(c *contender) error {
		if err := c.replicasAtSlowEdge(g); err != nil {
			return err
		}
		if err := c.curve(g); err != nil || c != first[0] {
			return err
		}
		return c.mostLoad(g)
	})
}

// distinctFleets leaves out fleets that do to the nanosecond what an earlier one does: settings that change nothing.
func distinctFleets(held []*contender) (out []*contender) {
	for _, c := range held {
		if !slices.ContainsFunc(out, func(o *contender) bool { return o.same(c) }) {
			out = append(out, c)
		}
	}
	return out
}

func (c *contender) same(o *contender) bool {
	a, b := c.result(), o.result()
	if a == nil || b == nil || c.name != o.name || c.fleet.replicas != o.fleet.replicas ||
		c.sim.Question.Engine.Name() != o.sim.Question.Engine.Name() {
		return false
	}
	return a.End == b.End && a.First.Mean() == b.First.Mean() && a.PerToken.Mean() == b.PerToken.Mean() && a.Whole.Mean() == b.Whole.Mean()
}

// firstOfKinds are the first contenders of each kind of hardware, at most so many.
func firstOfKinds(all []*contender, most int) (out []*contender) {
	for _, c := range all {
		if len(out) < most && !slices.ContainsFunc(out, func(o *contender) bool { return o.kind == c.kind }) {
			out = append(out, c)
		}
	}
	return out
}

// describe the model.
func (g *goalSearch) describe(out *api.Answer) {
	for _, c := range append(slices.Concat(g.feasible(), g.contenders), g.nearest) {
		if c != nil {
			out.Model = question.ModelInfo(c.sim.Question.Resolved, c.sim.Question.Job)
			return
		}
	}
}

// candidate writes a contender: with its fleet where it has one, else as it was estimated.
func (g *goalSearch) candidate(c *contender) api.Candidate {
	q := c.sim.Question
	out := api.Candidate{Change: c.words, Plan: c.answer.Plan, Verdict: c.answer.Verdict, Speed: c.answer.Speed,
		Capacity: q.Job.Machine.Memory(), Flags: q.Flags(), Loss: c.loss}
	if len(c.answer.Devices) > 0 {
		out.Headroom = c.answer.Devices[0].Headroom
	}
	native := *c.answer.Plan
	native.Weights, native.KV, native.KVV = g.native, "bf16", ""
	out.Quality = question.QualityOf(q.Judged(), &native, c.answer.Plan)
	if c.fleet == nil {
		return out
	}
	out.Fleet = g.fleetOf(c)
	out.Capacity *= unit.Bytes(c.fleet.replicas)
	out.USDPerHour, out.Cost = out.Fleet.USDPerHour, out.Fleet.USDPerMillion
	full := *c.answer.Plan
	full.Replicas = plan.Int(c.fleet.replicas)
	out.Plan = &full
	out.Patch = g.patch(&c.request, full.Replicas)
	if r := c.played[c.fleet.replicas]; r != nil && r.err == nil {
		out.Simulated = g.simulatedOf(r.finished(g))
		if n := int64(r.sim.Question.Original.Replicas); n < c.fleet.replicas {
			out.Simulated.Replicas = n
		}
		out.Simulated.Low, out.Simulated.High = edgeOf(c.fleet.edges.low), edgeOf(c.fleet.edges.high)
	}
	return out
}

// patch leads from what was asked for to a plan of so many replicas. What is no part of a plan stays.
func (g *goalSearch) patch(of *api.Request, replicas plan.Int) map[string]any {
	to := *g.original
	for _, f := range api.Fields() {
		if f.OfAsk("fit") && f.Name != "ask" {
			f.Value(&to).Set(f.Value(of))
		}
	}
	to.PromptTokens, to.OutputTokens, to.Sequences, to.Devices, to.Replicas = g.original.PromptTokens, g.original.OutputTokens,
		g.original.Sequences, 0, replicas
	if of.Engine == "llama-server" {
		to.Sequences = of.Sequences
	}
	return change.PatchOf(g.original, &to)
}

// simulatedOf is a round as an answer has it.
func (g *goalSearch) simulatedOf(r *round) *api.Simulated {
	s := &api.Simulated{Load: simulate.LoadOf(r.res), TTFT: simulate.Percentiles(&r.res.First), TPOT: simulate.Percentiles(&r.res.PerToken),
		E2E: simulate.Percentiles(&r.res.Whole), Wait: simulate.Percentiles(&r.res.Wait)}
	r.sim.Judge(s, r.res)
	s.GoalMet = &r.meets
	return s
}

func edgeOf(r *round) *api.Edge {
	if r == nil || r.err != nil {
		return nil
	}
	return &api.Edge{StepTime: simulate.FourDigits(r.as.Scale), Load: simulate.LoadOf(r.res), TTFT: simulate.Percentiles(&r.res.First),
		TPOT: simulate.Percentiles(&r.res.PerToken), E2E: simulate.Percentiles(&r.res.Whole)}
}

// winner is the best fleet, with what only it is asked.
func (g *goalSearch) winner(out *api.Answer, held []*contender) {
	all := make([]planner.Merits, len(held))
	for i := range held {
		all[i] = held[i].merits(g)
		out.Candidates[i].Why = g.why(held[i], held[0])
	}
	out.Pareto = planner.Front(all)
	planner.RankQuality(out.Candidates)
	out.Best = &out.Candidates[0]
	out.Day = g.day(held[0], out.Best.Fleet)
	out.Best.Files = held[0].files(out.Best.Fleet, out.Day)
	q := held[0].sim.Question
	for _, n := range q.Notes() {
		if n.Severity == "warn" {
			g.note(n.Code, n.Severity, n.Field, n.Text)
		}
	}
	for _, u := range launch.Unsaid(q) {
		g.note("unsaid", "warn", u.Field, u.Field+" is not in the command: "+u.Why)
	}
}

// estimatedOnly are plans that were not played, as they were estimated.
func (g *goalSearch) estimatedOnly() (out []api.Candidate) {
	for _, c := range g.contenders {
		if c.fleet != nil || len(out) == mostListed {
			continue
		}
		if c.replicas > 0 {
			c.fleet = &fleetPlan{replicas: c.replicas, objective: c.objective}
		}
		out = append(out, g.candidate(c))
	}
	return out
}

// estimates are the most promising servers where none was played to the end, with as many replicas as the steady state takes.
func (g *goalSearch) estimates() (out []api.Candidate) {
	for _, c := range g.queue() {
		if len(out) == curved {
			break
		}
		c.fleet = &fleetPlan{replicas: c.replicas, objective: c.objective}
		e := g.candidate(c)
		e.Why = "estimated in a steady state, and not simulated: the search was stopped"
		out = append(out, e)
	}
	return out
}

// closeEngines: the two best fleets are of the same hardware and cost the same, and have other engines.
func (g *goalSearch) closeEngines(held []*contender) bool {
	if len(held) < 2 {
		return false
	}
	a, b := held[0], held[1]
	return a.name == b.name && a.fleet.by[0] == b.fleet.by[0] && a.sim.Question.Engine.Name() != b.sim.Question.Engine.Name()
}

// remarks on what the ranking rests on.
func (g *goalSearch) remarks(held []*contender) {
	var unpriced []string
	for _, c := range held {
		if c.fleet.unpriced && !slices.Contains(unpriced, c.kind) {
			unpriced = append(unpriced, c.kind)
		}
	}
	if g.ctx.Err() != nil {
		g.note("stopped", "warn", "", "the search was stopped: this is what was found by then, and fleets that were being played are "+
			"left out")
	}
	if g.closeEngines(held) {
		g.note("engines_close", "info", "engine", "the first fleets differ in their engines alone: which of them is faster is less "+
			"certain than that they hold (docs/accuracy.md, plans in order)")
	}
	if len(unpriced) > 0 {
		g.note("unpriced", "warn", "goal.minimize",
			fmt.Sprintf("nobody's rent of %s is known: they are ranked apart, behind those with a price", strings.Join(unpriced, ", ")))
	}
	if g.goal.Own != nil {
		var unsold []string
		for _, c := range held {
			if own := g.own(c, 1); !own.PerHour.Known() && !slices.Contains(unsold, c.kind) {
				unsold = append(unsold, c.kind)
			}
		}
		if len(unsold) > 0 {
			g.note("no_purchase_price", "warn", "goal.own",
				fmt.Sprintf("no purchase price of %s is known: give usd_per_device", strings.Join(unsold, ", ")))
		}
	}
}

// files that run the fleet.
func (c *contender) files(f *api.Fleet, day *api.DayPlan) map[string]string {
	return deploy.Files(c.sim.Question, c.answer, f, day, c.request.Router, c.devices)
}
