package serve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/deploy"
	"github.com/memwall/memwall/internal/launch"
	"github.com/memwall/memwall/internal/planner"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// mostListed is the most plans listed when all are requested.
const mostListed = 10_000

// report is an answer being written.
type report struct {
	*playing
	fleets
	notes notes
}

// notes holds each note once.
type notes []api.Note

func (n *notes) add(code, severity, field, text string) {
	if x := (api.Note{Code: code, Severity: severity, Field: field, Text: text}); !slices.Contains(*n, x) {
		*n = append(*n, x)
	}
}

// answer writes the answer from the fleets found.
func (p *playing) answer(f fleets) *api.Answer {
	w := &report{p, f, p.notes}
	held, defaults := f.held, p.defaults
	shown := *w.original
	shown.Ask, shown.Workload = api.AskPlan, &w.spec
	goal := w.goal
	if goal.MostUsers && len(held) > 0 {
		w.filledLoad(held[0])
	}
	if goal.Minimize == "" && !goal.MostUsers {
		goal.Minimize = w.minimize()
		defaults = append(defaults, simulate.UsedDefault{Field: "goal.minimize", Value: goal.Minimize})
	}
	if goal.QualityLoss == nil {
		loss := w.affords()
		goal.QualityLoss = &loss
		defaults = append(defaults, simulate.UsedDefault{Field: "goal.quality_loss", Value: loss})
	}
	shown.Goal = &goal
	out := &api.Answer{Plan: &shown, Verdict: api.DoesNotFit, Evaluated: &w.evaluated}
	w.describe(out)
	for _, c := range held {
		out.Candidates = append(out.Candidates, w.candidate(c))
	}
	switch {
	case len(out.Candidates) > 0:
		out.Verdict = api.Fits
		w.winner(out, held)
	case w.ctx.Err() != nil && (f.miss == nil || achieved(f.miss) == 0):
		out.Verdict, out.Candidates = api.Unknown, w.estimates()
	case f.miss != nil:
		miss := w.candidate(f.miss)
		miss.Why = w.whyNot(f.miss, nil)
		out.NearestMiss = &miss
	}
	if !goal.MostUsers {
		out.Surprises = w.surprises(held)
	}
	if w.original.All {
		out.Candidates = append(out.Candidates, w.estimatedOnly()...)
	}
	w.remarks(held)
	for _, d := range defaults {
		w.notes.add("default_used", "info", d.Field, fmt.Sprintf("%s = %v by default", d.Field, d.Value))
	}
	out.Notes = w.notes
	return out
}

// describe fills in the model.
func (w *report) describe(out *api.Answer) {
	for _, c := range append(slices.Concat(w.feasible(), w.all), w.nearest) {
		if c != nil {
			out.Model = question.ModelInfo(c.sim.Question.Resolved, c.sim.Question.Job)
			return
		}
	}
}

// candidate describes a contender with its fleet, or as estimated if it has none.
func (w *report) candidate(c *contender) api.Candidate {
	q := c.sim.Question
	out := api.Candidate{Change: c.words, Plan: c.answer.Plan, Verdict: c.answer.Verdict, Speed: c.answer.Speed,
		Capacity: q.Job.Machine.Memory(), Flags: q.Flags(), Loss: c.loss}
	if len(c.answer.Devices) > 0 {
		out.Headroom = c.answer.Devices[0].Headroom
	}
	native := *c.answer.Plan
	native.Weights, native.KV, native.KVV = w.native, "bf16", ""
	out.Quality = question.QualityOf(q.Judged(), &native, c.answer.Plan)
	if c.fleet == nil {
		return out
	}
	out.Fleet = fleetOf(c)
	out.Capacity *= unit.Bytes(c.fleet.replicas)
	out.USDPerHour, out.Cost = out.Fleet.USDPerHour, out.Fleet.USDPerMillion
	full := *c.answer.Plan
	full.Replicas = plan.Int(c.fleet.replicas)
	out.Plan = &full
	out.Patch = w.patch(&c.request, full.Replicas)
	if r := c.played[c.fleet.replicas]; r != nil && r.err == nil {
		out.Simulated = simulatedOf(r.finished())
		if n := int64(r.sim.Question.Original.Replicas); n < c.fleet.replicas {
			out.Simulated.Replicas = n
		}
		out.Simulated.Low, out.Simulated.High = edgeOf(c.fleet.edges.low), edgeOf(c.fleet.edges.high)
	}
	return out
}

// simulatedOf converts a round to its form in answers.
func simulatedOf(r *round) *api.Simulated {
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

// winner writes the best fleet, with details that only it has.
func (w *report) winner(out *api.Answer, held []*contender) {
	all := make([]planner.Merits, len(held))
	for i := range held {
		all[i] = meritsOf(held[i])
		out.Candidates[i].Why = w.why(held[i], held[0])
	}
	out.Pareto = planner.Front(all)
	planner.RankQuality(out.Candidates)
	out.Best = &out.Candidates[0]
	out.Day = dayOf(held[0], out.Best.Fleet)
	out.Best.Files = filesOf(held[0], out.Best.Fleet, out.Day)
	q := held[0].sim.Question
	for _, n := range q.Notes() {
		if n.Severity == "warn" {
			w.notes.add(n.Code, n.Severity, n.Field, n.Text)
		}
	}
	for _, u := range launch.Unsaid(q) {
		w.notes.add("unsaid", "warn", u.Field, u.Field+" is not in the command: "+u.Why)
	}
}

// estimatedOnly returns the plans that were not simulated, as estimated.
func (w *report) estimatedOnly() (out []api.Candidate) {
	for _, c := range w.all {
		if c.fleet != nil || len(out) == mostListed {
			continue
		}
		if c.replicas > 0 {
			c.fleet = &fleetPlan{replicas: c.replicas, objective: c.objective}
		}
		out = append(out, w.candidate(c))
	}
	return out
}

// estimates returns the most promising servers if no simulation was completed, with as many replicas as the steady state needs.
func (w *report) estimates() (out []api.Candidate) {
	for _, c := range w.queue() {
		if len(out) == curved {
			break
		}
		c.fleet = &fleetPlan{replicas: c.replicas, objective: c.objective}
		e := w.candidate(c)
		e.Why = "estimated in a steady state, and not simulated: the search was stopped"
		out = append(out, e)
	}
	return out
}

// closeEngines reports whether the two best fleets have the same hardware and cost but different engines.
func closeEngines(held []*contender) bool {
	if len(held) < 2 {
		return false
	}
	a, b := held[0], held[1]
	return a.name == b.name && a.fleet.by[0] == b.fleet.by[0] && a.sim.Question.Engine.Name() != b.sim.Question.Engine.Name()
}

// remarks notes what the ranking depends on.
func (w *report) remarks(held []*contender) {
	var unpriced []string
	for _, c := range held {
		if c.fleet.unpriced && !slices.Contains(unpriced, c.kind) {
			unpriced = append(unpriced, c.kind)
		}
	}
	if w.ctx.Err() != nil {
		w.notes.add("stopped", "warn", "", "the search was stopped: this is what was found by then, and fleets that were being played are "+
			"left out")
	}
	if closeEngines(held) {
		w.notes.add("engines_close", "info", "engine", "the first fleets differ in their engines alone: which of them is faster is less "+
			"certain than that they hold (docs/accuracy.md, plans in order)")
	}
	if len(unpriced) > 0 {
		w.notes.add("unpriced", "warn", "goal.minimize",
			fmt.Sprintf("nobody's rent of %s is known: they are ranked apart, behind those with a price", strings.Join(unpriced, ", ")))
	}
	if w.goal.Own != nil {
		var unsold []string
		for _, c := range held {
			if own := ownersRate(c, 1); !own.PerHour.Known() && !slices.Contains(unsold, c.kind) {
				unsold = append(unsold, c.kind)
			}
		}
		if len(unsold) > 0 {
			w.notes.add("no_purchase_price", "warn", "goal.own",
				fmt.Sprintf("no purchase price of %s is known: give usd_per_device", strings.Join(unsold, ", ")))
		}
	}
}

// filesOf returns the files that run a contender's fleet.
func filesOf(c *contender, f *api.Fleet, day *api.DayPlan) map[string]string {
	return deploy.Files(c.sim.Question, c.answer, f, day, c.request.Router, c.devices)
}

// filledLoad sets the load of an answer about the most users to the number that the best fleet holds.
func (w *report) filledLoad(best *contender) {
	w.spec.Concurrency = plan.Int(*best.fleet.most.Users)
	w.spec.Requests, w.spec.Warmup = best.sim.Spec.Requests, best.sim.Spec.Warmup
}
