package memwall

import (
	"slices"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
)

// contender is a server that could be replicated to a fleet.
type contender struct {
	machineChoice
	words   string
	request Request // of one replica, as a question of sim
	sim     *simulation
	answer  *Answer // of its memory
	loss    float64 // of quality, in points
	most    int64   // replicas that there are devices for; 0 where nothing bounds them
	dear    int64   // replicas beyond which the fleet is far too dear; 0 where that is not known
	steadyState
	played map[int64]*round
	runs   int64 // measured ones of the server's device, engine and layout
	found  int64 // replicas that hold the load; 0 where none do
	failed error // why it could not be played
	fleet  *fleetPlan
}

// grouped: where a list of numbers was given for groups of devices, a server has one of them.
func (g *goalSearch) grouped(r *Request) bool {
	for name, has := range map[string]int64{"tp": max(1, r.TP), "pp": max(1, r.PP), "ep": max(1, r.EP)} {
		if list := g.original.Among[name]; list != nil && !slices.Contains(list, plan.Int(has)) {
			return false
		}
	}
	return true
}

// note once.
func (g *goalSearch) note(code, severity, field, text string) {
	n := Note{Code: code, Severity: severity, Field: field, Text: text}
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
		g.came(phaseEstimate, i, len(machines))
		if machines[i].devices > usualSize && g.fitsOn(machines[i].kind) {
			continue
		}
		for _, name := range g.engines(&machines[i]) {
			if err := g.ctx.Err(); err != nil {
				return err
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
	parsed, _, err := g.asker.find(m.name, 0)
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
	p, err := g.asker.planner(&start)
	if err != nil {
		g.refused = err
		g.evaluated.Decided++
		return
	}
	p.among = g.among
	g.remember(p)
	had := len(g.contenders)
	for _, w := range g.arrangements(p, m) {
		for _, f := range g.formats(p) {
			r := start
			w.set(&r)
			f.set(&r)
			g.contend(m, &r, f.price)
		}
	}
	if len(g.contenders) == had {
		g.spilled(p, m, &start)
	}
}

// arrangements of a server: groups of its devices, workers of two kinds, and drafting.
func (g *goalSearch) arrangements(p *planner, m *machineChoice) (out []way) {
	ways := g.pools(p, m)
	if !m.split {
		ways = append(g.layouts(p, m), ways...)
	}
	for _, w := range ways {
		for _, d := range g.drafts(p) {
			out = append(out, way{set: func(r *Request) { w.set(r); d(r) }})
		}
	}
	return out
}

// pools are workers that compute prompts beside workers that generate, where the devices are a data centre's.
func (g *goalSearch) pools(p *planner, m *machineChoice) (out []way) {
	d := p.q.job.Device(0)
	if m.whole || engine.ReadsGGUF(p.q.engine) || d == nil || !g.splits(d) {
		return nil
	}
	for tp := int64(1); tp < m.devices; tp *= 2 {
		workers := m.devices / tp
		if given := g.asked.TP; given > 0 && given != tp || workers > mostWorkers || workers*tp != m.devices {
			continue
		}
		for prefill := int64(1); prefill < workers; prefill++ {
			out = append(out, way{set: func(r *Request) {
				r.TP, r.Disaggregated = tp, &plan.Disaggregated{Prefill: plan.Int(prefill), Decode: plan.Int(workers - prefill)}
			}})
		}
	}
	return out
}

// mostWorkers of both kinds in one unit that is replicated.
const mostWorkers = 4

// drafts are numbers of tokens that are drafted at a time: none, and some where there is something that drafts.
func (g *goalSearch) drafts(p *planner) (out []func(*Request)) {
	r := &g.asked
	if r.DraftTokens > 0 || engine.ReadsGGUF(p.q.engine) || r.DraftModel == "" && p.q.job.Model.Part(model.PartMTP) == nil {
		return []func(*Request){func(*Request) {}}
	}
	out = append(out, func(r *Request) { r.DraftModel = "" })
	tokens := []plan.Int{1, 3}
	if r.DraftModel != "" {
		tokens = []plan.Int{2, 4}
	}
	for _, n := range tokens {
		out = append(out, func(r *Request) { r.DraftTokens = n })
	}
	return out
}

// spilled keeps on the host what the devices have no room for.
func (g *goalSearch) spilled(p *planner, m *machineChoice, start *Request) {
	if !p.spillable(p.q) || p.placedByHand() || g.kinds > 1 && little(p.q) {
		return
	}
	for _, f := range g.formats(p) {
		r := *start
		f.set(&r)
		g.slots(&r)
		if to := p.placed(&r); to != nil {
			g.contend(m, to, f.price)
			return
		}
	}
}

// layouts of a machine: plain replicas of smaller groups are other fleets, unless the machine comes whole.
func (g *goalSearch) layouts(p *planner, m *machineChoice) (out []way) {
	for _, w := range append([]way{{set: func(*Request) {}}}, p.layouts()...) {
		r := p.q.request
		w.set(&r)
		if plain := r.DP > 1 && r.EP <= max(1, r.TP); plain && !m.whole && p.asked.DP == 0 {
			continue
		}
		out = append(out, w)
	}
	return out
}

// contend sizes a server; one that fits contends.
func (g *goalSearch) contend(m *machineChoice, r *Request, loss float64) {
	g.evaluated.Decided++
	if loss > g.affords() && !g.listed("weights") && !g.listed("kv") {
		return
	}
	g.evaluated.Full++
	c := &contender{machineChoice: *m, request: *r, loss: loss, played: map[int64]*round{}, most: g.mostReplicas(m)}
	c.request.Ask, c.request.Workload = askSim, &g.spec
	c.request.Goal = &Goal{TTFT: g.goal.TTFT, TPOT: g.goal.TPOT}
	c.request.Router = g.original.Router
	g.slots(&c.request)
	s, out, err := g.asker.simulated(&c.request)
	if err != nil {
		g.refused = err
		return
	}
	if !g.grouped(&s.q.request) {
		return
	}
	s.ctx = g.ctx
	c.sim, c.answer = s, out
	if c.words = serverWords(s.q, m); out.Verdict != Fits {
		g.miss(c)
		return
	}
	c.runs = s.runsOf()
	g.estimate(c)
	g.contenders = append(g.contenders, c)
}

// slots of llama-server are sequences at once.
func (g *goalSearch) slots(r *Request) {
	if r.Engine == "llama-server" && r.Sequences == 0 {
		r.Sequences = usualSlots
	}
}

// miss keeps the server that lacks least memory.
func (g *goalSearch) miss(c *contender) {
	if len(c.answer.Devices) == 0 {
		return
	}
	if g.nearest == nil || c.answer.Devices[0].Headroom > g.nearest.answer.Devices[0].Headroom {
		g.nearest = c
	}
}
