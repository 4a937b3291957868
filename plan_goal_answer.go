package memwall

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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
func (g *goalSearch) answer() (*Answer, error) {
	held, err := g.finished(unlike(g.held()))
	if err != nil {
		return nil, err
	}
	shown := *g.original
	shown.Ask, shown.Workload = askPlan, &g.spec
	goal := g.goal
	if goal.Minimize == "" {
		goal.Minimize = g.minimize()
		g.defaults = append(g.defaults, usedDefault{"goal.minimize", goal.Minimize})
	}
	if goal.QualityLoss == nil {
		loss := g.affords()
		goal.QualityLoss = &loss
		g.defaults = append(g.defaults, usedDefault{"goal.quality_loss", loss})
	}
	shown.Goal = &goal
	out := &Answer{Plan: &shown, Verdict: DoesNotFit, Evaluated: &g.evaluated}
	g.describe(out)
	for _, c := range held {
		out.Candidates = append(out.Candidates, g.candidate(c))
	}
	if len(out.Candidates) > 0 {
		out.Verdict = Fits
		g.winner(out, held)
	} else if c, err := g.closest(); err != nil {
		return nil, err
	} else if c != nil {
		miss := g.candidate(c)
		miss.Why = g.whyNot(c, nil)
		out.NearestMiss = &miss
	}
	out.Surprises = g.surprises(held)
	if g.original.All {
		out.Candidates = append(out.Candidates, g.others()...)
	}
	g.remarks(held)
	for _, d := range g.defaults {
		g.note("default_used", "info", d.field, fmt.Sprintf("%s = %v by default", d.field, d.value))
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
	shown := g.varied(held, 2*reported)
	g.phase, g.ended, g.ending = phaseDetail, 0, len(shown)+curved
	if err := g.together(shown[:min(len(shown), 2*reported)], func(c *contender) error { return c.edge(g) }); err != nil {
		return nil, err
	}
	if err := g.guard(shown); err != nil {
		return nil, err
	}
	slices.SortStableFunc(shown, func(a, b *contender) int {
		return cmp.Or(a.fleet.surer(b.fleet), slices.Compare(a.merits(g), b.merits(g)))
	})
	shown = g.varied(shown, reported)
	first := firstOfKinds(shown, curved)
	return shown, g.together(first, func(c *contender) error {
		if err := c.surely(g); err != nil {
			return err
		}
		if err := c.curve(g); err != nil || c != first[0] {
			return err
		}
		return c.mostLoad(g)
	})
}

// unlike leaves out fleets that do to the nanosecond what an earlier one does: settings that change nothing.
func unlike(held []*contender) (out []*contender) {
	for _, c := range held {
		if !slices.ContainsFunc(out, func(o *contender) bool { return o.same(c) }) {
			out = append(out, c)
		}
	}
	return out
}

func (c *contender) same(o *contender) bool {
	a, b := c.result(), o.result()
	if a == nil || b == nil || c.name != o.name || c.fleet.replicas != o.fleet.replicas || c.sim.q.engine.Name() != o.sim.q.engine.Name() {
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
func (g *goalSearch) describe(out *Answer) {
	for _, c := range append(slices.Concat(g.held(), g.contenders), g.nearest) {
		if c != nil {
			out.Model = c.sim.q.modelInfo()
			return
		}
	}
}

// candidate writes a contender: with its fleet where it has one, else as it was estimated.
func (g *goalSearch) candidate(c *contender) Candidate {
	q := c.sim.q
	out := Candidate{Change: c.words, Plan: c.answer.Plan, Verdict: c.answer.Verdict, Speed: c.answer.Speed, Capacity: q.job.Machine.Memory(), Flags: q.flags(), loss: c.loss}
	if len(c.answer.Devices) > 0 {
		out.Headroom = c.answer.Devices[0].Headroom
	}
	native := *c.answer.Plan
	native.Weights, native.KV, native.KVV = g.native, "bf16", ""
	out.Quality = qualityOf(q.judged(), &native, c.answer.Plan)
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
		out.Simulated = g.told(r.whole(g))
		if n := int64(r.sim.q.original.Replicas); n < c.fleet.replicas {
			out.Simulated.Replicas = n
		}
		out.Simulated.Low, out.Simulated.High = edgeOf(c.fleet.edges.low), edgeOf(c.fleet.edges.high)
	}
	return out
}

// patch leads from what was asked for to a plan of so many replicas. What is no part of a plan stays.
func (g *goalSearch) patch(of *Request, replicas plan.Int) map[string]any {
	to := *g.original
	for _, f := range Fields() {
		if f.OfAsk("fit") && f.Name != "ask" {
			f.Value(&to).Set(f.Value(of))
		}
	}
	to.PromptTokens, to.OutputTokens, to.Sequences, to.Devices, to.Replicas = g.original.PromptTokens, g.original.OutputTokens, g.original.Sequences, 0, replicas
	if of.Engine == "llama-server" {
		to.Sequences = of.Sequences
	}
	return patchOf(g.original, &to)
}

// told is a round as an answer has it.
func (g *goalSearch) told(r *round) *Simulated {
	s := &Simulated{Load: loadOf(r.res), TTFT: percentiles(&r.res.First), TPOT: percentiles(&r.res.PerToken), E2E: percentiles(&r.res.Whole), Wait: percentiles(&r.res.Wait)}
	r.sim.judge(s, r.res)
	s.GoalMet = &r.meets
	return s
}

func edgeOf(r *round) *Edge {
	if r == nil || r.err != nil {
		return nil
	}
	return &Edge{StepTime: four(r.as.scale), Load: loadOf(r.res), TTFT: percentiles(&r.res.First), TPOT: percentiles(&r.res.PerToken), E2E: percentiles(&r.res.Whole)}
}

// winner is the best fleet, with what only it is asked.
func (g *goalSearch) winner(out *Answer, held []*contender) {
	all := make([]merits, len(held))
	for i := range held {
		all[i] = held[i].merits(g)
		out.Candidates[i].Why = g.why(held[i], held[0])
	}
	out.Pareto = front(all)
	rankQuality(out.Candidates)
	out.Best = &out.Candidates[0]
	out.Day = g.day(held[0], out.Best.Fleet)
	out.Best.Files = g.files(held[0], out.Best.Fleet, out.Day)
	q := held[0].sim.q
	for _, n := range q.notes() {
		if n.Severity == "warn" {
			g.note(n.Code, n.Severity, n.Field, n.Text)
		}
	}
	for _, u := range q.unsaid() {
		g.note("unsaid", "warn", u.Field, u.Field+" is not in the command: "+u.Why)
	}
}

// others are plans that were not played, as they were estimated.
func (g *goalSearch) others() (out []Candidate) {
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

// closeEngines: the two best fleets are of the same hardware and cost the same, and have other engines.
func (g *goalSearch) closeEngines(held []*contender) bool {
	if len(held) < 2 {
		return false
	}
	a, b := held[0], held[1]
	return a.name == b.name && a.fleet.by[0] == b.fleet.by[0] && a.sim.q.engine.Name() != b.sim.q.engine.Name()
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
		g.note("stopped", "warn", "", "the search was stopped: this is what was found by then, and fleets that were being played are left out")
	}
	if g.closeEngines(held) {
		g.note("engines_close", "info", "engine", "the first fleets differ in their engines alone: which of them is faster is less certain than that they hold (docs/accuracy.md, plans in order)")
	}
	if len(unpriced) > 0 {
		g.note("unpriced", "warn", "goal.minimize", fmt.Sprintf("nobody's rent of %s is known: they are ranked apart, behind those with a price", strings.Join(unpriced, ", ")))
	}
	if g.goal.Own != nil {
		var unsold []string
		for _, c := range held {
			if own := g.own(c, 1); !own.PerHour.Known() && !slices.Contains(unsold, c.kind) {
				unsold = append(unsold, c.kind)
			}
		}
		if len(unsold) > 0 {
			g.note("no_purchase_price", "warn", "goal.own", fmt.Sprintf("no purchase price of %s is known: give usd_per_device", strings.Join(unsold, ", ")))
		}
	}
}
