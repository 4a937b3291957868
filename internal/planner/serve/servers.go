package serve

import (
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/internal/planner"
	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
)

// contender is a server that could be replicated to a fleet.
type contender struct {
	machineChoice
	words   string
	request api.Request // of one replica, as a question of sim
	sim     *simulate.Simulation
	answer  *api.Answer // of its memory
	loss    float64     // of quality, in points
	most    int64       // replicas that there are devices for; 0 where nothing bounds them
	dear    int64       // replicas beyond which the fleet is far too dear; 0 where that is not known
	steadyState
	played map[int64]*round
	runs   int64 // measured ones of the server's device, engine and layout
	found  int64 // replicas that hold the load; 0 where none do
	failed error // why it could not be played
	fleet  *fleetPlan
}

// grouped: where a list of numbers was given for groups of devices, a server has one of them.
func (g *goalSearch) grouped(r *api.Request) bool {
	for name, has := range map[string]int64{"tp": max(1, r.TP), "pp": max(1, r.PP), "ep": max(1, r.EP)} {
		if list := g.original.Among[name]; list != nil && !slices.Contains(list, plan.Int(has)) {
			return false
		}
	}
	return true
}

// note once.
func (g *goalSearch) note(code, severity, field, text string) {
	n := api.Note{Code: code, Severity: severity, Field: field, Text: text}
	if !slices.Contains(g.notes, n) {
		g.notes = append(g.notes, n)
	}
}

// enumerate makes every server that fits and whose formats cost no more quality than allowed.
func (g *goalSearch) enumerate() error {
	machines, err := g.machines()
	if err != nil {
		return err
	}
	g.kinds = kindsOf(machines)
	for i := range machines {
		g.reportProgress(api.PhaseEstimate, i, len(machines))
		if machines[i].devices > usualSize && g.fitsOn(machines[i].kind) {
			continue
		}
		for _, name := range g.engines(&machines[i]) {
			if err := g.ctx.Err(); err != nil && len(g.contenders) == 0 {
				return err
			} else if err != nil {
				return nil // with those that were estimated by now
			}
			g.enumerateOn(&machines[i], name)
		}
	}
	return nil
}

// fitsOn reports whether a server of fewer devices of a kind fits.
func (g *goalSearch) fitsOn(kind string) bool {
	return slices.ContainsFunc(g.contenders, func(c *contender) bool { return c.kind == kind })
}

// engines to try on a machine: those that were given, else those that serve many users there.
func (g *goalSearch) engines(m *machineChoice) []string {
	if list := g.among["engine"]; list != nil {
		return list
	}
	if g.asked.Engine != "" {
		return []string{g.asked.Engine}
	}
	parsed, _, err := g.env.Find(m.name, 0)
	if err != nil || parsed.CPUOnly || len(parsed.Groups) == 0 {
		return []string{"llama-server"}
	}
	d := &parsed.Groups[0].Device
	switch {
	case d.Vendor == "Apple", d.Vendor == "Intel":
		return []string{"llama-server"}
	case strings.HasPrefix(d.Kind, "HBM"):
		return []string{"vllm", "sglang", "tensorrt-llm"}
	}
	return []string{"vllm", "sglang", "tensorrt-llm", "llama-server"}
}

// enumerateOn goes through layouts, formats and how prompts are computed on one machine.
func (g *goalSearch) enumerateOn(m *machineChoice, engineName string) {
	start := g.asked
	start.Hardware, start.Devices, start.Engine = m.name, 0, engineName
	p, err := planner.NewPlanner(g.env, &start)
	if err != nil {
		g.refused = err
		g.evaluated.Decided++
		return
	}
	p.Among = g.among
	g.rememberPrices(p)
	had := len(g.contenders)
	for _, w := range g.arrangements(p, m) {
		for _, f := range g.formats(p) {
			if g.ctx.Err() != nil {
				return
			}
			r := start
			w.Set(&r)
			f.Set(&r)
			g.addContender(m, &r, f.Price)
		}
	}
	if len(g.contenders) == had {
		g.spilled(p, m, &start)
	}
}

// arrangements of a server: groups of its devices, workers of two kinds, and drafting.
func (g *goalSearch) arrangements(p *planner.Planner, m *machineChoice) (out []planner.Way) {
	ways := g.pools(p, m)
	if !m.split {
		ways = append(g.layouts(p, m), ways...)
	}
	for _, w := range ways {
		for _, d := range g.drafts(p) {
			out = append(out, planner.Way{Set: func(r *api.Request) { w.Set(r); d(r) }})
		}
	}
	return out
}

// pools are workers that compute prompts beside workers that generate, where the devices are a data centre's.
func (g *goalSearch) pools(p *planner.Planner, m *machineChoice) (out []planner.Way) {
	d := p.Question.Job.Device(0)
	if m.whole || engine.ReadsGGUF(p.Question.Engine) || d == nil || !g.splits(d) {
		return nil
	}
	for tp := int64(1); tp < m.devices; tp *= 2 {
		workers := m.devices / tp
		if given := g.asked.TP; given > 0 && given != tp || workers > mostWorkers || workers*tp != m.devices {
			continue
		}
		for prefill := int64(1); prefill < workers; prefill++ {
			out = append(out, planner.Way{Set: func(r *api.Request) {
				r.TP, r.Disaggregated = tp, &plan.Disaggregated{Prefill: plan.Int(prefill), Decode: plan.Int(workers - prefill)}
			}})
		}
	}
	return out
}

// mostWorkers of both kinds in one unit that is replicated.
const mostWorkers = 4

// drafts are numbers of tokens that are drafted at a time: none, and some where there is something that drafts.
func (g *goalSearch) drafts(p *planner.Planner) (out []func(*api.Request)) {
	r := &g.asked
	if r.DraftTokens > 0 || engine.ReadsGGUF(p.Question.Engine) || r.DraftModel == "" && p.Question.Job.Model.Part(model.PartMTP) == nil {
		return []func(*api.Request){func(*api.Request) {}}
	}
	out = append(out, func(r *api.Request) { r.DraftModel = "" })
	tokens := []plan.Int{1, 3}
	if r.DraftModel != "" {
		tokens = []plan.Int{2, 4}
	}
	for _, n := range tokens {
		out = append(out, func(r *api.Request) { r.DraftTokens = n })
	}
	return out
}

// spilled keeps on the host what the devices have no room for.
func (g *goalSearch) spilled(p *planner.Planner, m *machineChoice, start *api.Request) {
	if !p.Spillable(p.Question) || p.PlacedByHand() || g.kinds > 1 && little(p.Question) {
		return
	}
	for _, f := range g.formats(p) {
		r := *start
		f.Set(&r)
		g.slots(&r)
		if to := p.Placed(&r); to != nil {
			g.addContender(m, to, f.Price)
			return
		}
	}
}

// layouts of a machine: plain replicas of smaller groups are other fleets, unless the machine comes whole.
func (g *goalSearch) layouts(p *planner.Planner, m *machineChoice) (out []planner.Way) {
	for _, w := range append([]planner.Way{{Set: func(*api.Request) {}}}, p.Layouts()...) {
		r := p.Question.Request
		w.Set(&r)
		if plain := r.DP > 1 && r.EP <= max(1, r.TP); plain && !m.whole && p.Asked.DP == 0 {
			continue
		}
		out = append(out, w)
	}
	return out
}

// addContender sizes a server; one that fits contends.
func (g *goalSearch) addContender(m *machineChoice, r *api.Request, loss float64) {
	g.evaluated.Decided++
	if loss > g.affords() && !g.listed("weights") && !g.listed("kv") {
		return
	}
	g.evaluated.Full++
	c := &contender{machineChoice: *m, request: *r, loss: loss, played: map[int64]*round{}, most: g.mostReplicas(m)}
	c.request.Ask, c.request.Workload = api.AskSim, &g.spec
	c.request.Goal = &api.Goal{TTFT: g.goal.TTFT, TPOT: g.goal.TPOT}
	c.request.Router = g.original.Router
	g.slots(&c.request)
	s, out, err := simulate.Simulated(g.env, &c.request)
	if err != nil {
		g.refused = err
		return
	}
	if !g.grouped(&s.Question.Request) {
		return
	}
	s.Ctx = g.ctx
	c.sim, c.answer = s, out
	if c.words = serverWords(s.Question, m); out.Verdict != api.Fits {
		g.keepNearest(c)
		return
	}
	c.runs = runsOf(s)
	g.estimate(c)
	g.contenders = append(g.contenders, c)
}

// slots of llama-server are sequences at once.
func (g *goalSearch) slots(r *api.Request) {
	if r.Engine == "llama-server" && r.Sequences == 0 {
		r.Sequences = simulate.UsualSlots
	}
}

// keepNearest keeps the server that lacks least memory.
func (g *goalSearch) keepNearest(c *contender) {
	if len(c.answer.Devices) == 0 {
		return
	}
	if g.nearest == nil || c.answer.Devices[0].Headroom > g.nearest.answer.Devices[0].Headroom {
		g.nearest = c
	}
}
