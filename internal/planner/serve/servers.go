package serve

import (
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/internal/planner"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/quality"
	"github.com/memwall/memwall/speed/serving"
)

// contender is a server that could be replicated into a fleet.
type contender struct {
	task *task
	machineChoice
	words   string
	request api.Request // of one replica, as a sim question
	sim     *simulate.Simulation
	pools   *serving.Pools // prefill and decode workers; nil if each server does both
	answer  *api.Answer    // about its memory
	loss    float64        // of quality, in points
	most    int64          // replicas that devices allow; 0 if unbounded
	dear    int64          // replicas beyond which the fleet is far too expensive; 0 if unknown
	steadyState
	played map[int64]*round
	runs   int64 // measured runs of the server's device, engine and layout
	found  int64 // replicas that hold the load; 0 if none do
	failed error // why it could not be simulated
	fleet  *fleetPlan
}

// measured reports whether the server's times rest on any measured run of its kind.
func (c *contender) measured() bool { return c.runs > 0 }

// grouped reports whether the parallel sizes are among those listed, if lists were given.
func (t *task) grouped(r *api.Request) bool {
	for name, has := range map[string]int64{"tp": max(1, r.TP), "pp": max(1, r.PP), "ep": max(1, r.EP)} {
		if list := t.original.Among[name]; list != nil && !slices.Contains(list, plan.Int(has)) {
			return false
		}
	}
	return true
}

// servers are those that fit, each with a steady-state estimate, and the one with the smallest memory shortage.
type servers struct {
	*task
	all       []*contender
	nearest   *contender
	native    string // format of the published weights
	order     *quality.Order
	kinds     int   // number of kinds of hardware considered
	refused   error // why the last server was refused, if none was sized
	evaluated api.Evaluated
	notes     notes
	progress
}

// listServers returns every server that fits and whose formats lose no more quality than allowed.
func listServers(t *task) (*servers, error) {
	s := &servers{task: t}
	if err := s.list(); err != nil {
		return nil, err
	}
	if len(s.all) == 0 && s.nearest == nil && s.refused != nil {
		return nil, s.refused
	}
	return s, nil
}

// list lists the servers on all machines.
func (s *servers) list() error {
	machines, said, err := s.machines()
	if err != nil {
		return err
	}
	s.kinds, s.notes = kindsOf(machines), said
	for i := range machines {
		s.reportProgress(api.PhaseEstimate, i, len(machines))
		if m := &machines[i]; m.devices > usualSize && s.fitsOn(m.kind) {
			if m.shared = s.needs(m.kind) >= m.devices; !m.shared {
				continue
			}
		}
		for _, name := range s.engines(&machines[i]) {
			if err := s.ctx.Err(); err != nil && len(s.all) == 0 {
				return err
			} else if err != nil {
				return nil // with those estimated so far
			}
			s.listOn(&machines[i], name)
		}
	}
	return nil
}

// fitsOn reports whether a server with fewer devices of a kind fits.
func (s *servers) fitsOn(kind string) bool {
	return slices.ContainsFunc(s.all, func(c *contender) bool { return c.kind == kind })
}

// engines returns the engines to try on a machine: those given, else those that serve many users there.
func (t *task) engines(m *machineChoice) []string {
	if list := t.among["engine"]; list != nil {
		return list
	}
	if t.asked.Engine != "" {
		return []string{t.asked.Engine}
	}
	parsed, _, err := t.env.Find(m.name, 0)
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

// listOn lists layouts, formats and prefill modes on one machine.
func (s *servers) listOn(m *machineChoice, engineName string) {
	start := s.asked
	start.Hardware, start.Devices, start.Engine = m.name, 0, engineName
	p, err := planner.NewPlanner(s.env, &start)
	if err != nil {
		s.refused = err
		s.evaluated.Decided++
		return
	}
	p.Among = s.among
	s.rememberPrices(p)
	had := len(s.all)
	for _, w := range s.arrangements(p, m) {
		for _, f := range s.formats(p) {
			if s.ctx.Err() != nil {
				return
			}
			r := start
			w.Set(&r)
			f.Set(&r)
			s.addContender(m, &r, f.Price)
		}
	}
	if len(s.all) == had {
		s.spilled(p, m, &start)
	}
}

// arrangements returns the groupings of a server's devices, disaggregated workers, and drafting.
func (t *task) arrangements(p *planner.Planner, m *machineChoice) (out []planner.Way) {
	ways := t.pools(p, m)
	switch {
	case m.shared:
		ways = t.sharing(p, m)
	case !m.split:
		ways = append(layouts(p, m), ways...)
	}
	for _, w := range ways {
		for _, d := range t.drafts(p) {
			out = append(out, planner.Way{Set: func(r *api.Request) { w.Set(r); d(r) }})
		}
	}
	return out
}

// pools returns disaggregated prefill and decode workers, for data-center devices.
func (t *task) pools(p *planner.Planner, m *machineChoice) (out []planner.Way) {
	d := p.Question.Job.Device(0)
	if m.whole || engine.ReadsGGUF(p.Question.Engine) || d == nil || !t.splits(d) {
		return nil
	}
	for tp := int64(1); tp < m.devices; tp *= 2 {
		workers := m.devices / tp
		if given := t.asked.TP; given > 0 && given != tp || workers > mostWorkers || workers*tp != m.devices {
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

// mostWorkers is the most workers of both kinds in one replicated unit.
const mostWorkers = 4

// drafts returns the numbers of draft tokens to try: none, and some if there is a drafter.
func (t *task) drafts(p *planner.Planner) (out []func(*api.Request)) {
	r := &t.asked
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

// spilled offloads to the host what the devices cannot hold.
func (s *servers) spilled(p *planner.Planner, m *machineChoice, start *api.Request) {
	if !p.Spillable(p.Question) || p.PlacedByHand() || s.kinds > 1 && little(p.Question) {
		return
	}
	for _, f := range s.formats(p) {
		r := *start
		f.Set(&r)
		fillSlots(&r)
		if to := p.Placed(&r); to != nil {
			s.addContender(m, to, f.Price)
			return
		}
	}
}

// little reports whether the devices of a server hold less than half of the weights. Nobody serves from such hardware if there is a
// choice.
func little(q *question.Question) bool {
	m := q.Job.Machine
	return m != nil && !m.CPUOnly && 2*m.Memory() < q.Job.Weights.Bytes()
}

// layouts returns the layouts on a machine. Plain replicas of smaller groups are other fleets, unless the machine is indivisible.
func layouts(p *planner.Planner, m *machineChoice) (out []planner.Way) {
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

// addContender sizes a server and adds it if it fits.
func (s *servers) addContender(m *machineChoice, r *api.Request, loss float64) {
	s.evaluated.Decided++
	if loss > s.affords() && !s.listed("weights") && !s.listed("kv") {
		return
	}
	s.evaluated.Full++
	c := &contender{task: s.task, machineChoice: *m, request: *r, loss: loss, played: map[int64]*round{}, most: s.mostReplicas(m)}
	c.request.Ask, c.request.Workload = api.AskSim, &s.spec
	c.request.Goal = &api.Goal{TTFT: s.goal.TTFT, TPOT: s.goal.TPOT}
	c.request.Router = s.original.Router
	fillSlots(&c.request)
	replica, out, err := simulate.Simulated(s.env, &c.request)
	if err != nil {
		s.refused = err
		return
	}
	if !s.grouped(&replica.Question.Request) {
		return
	}
	if s.keepsNothing(&c.request, out) {
		s.addContender(m, &c.request, loss)
		return
	}
	replica.Ctx = s.ctx
	c.sim, c.answer = replica, out
	if c.words = serverWords(replica.Question, m); out.Verdict != api.Fits {
		s.keepNearest(c)
		return
	}
	if replica.Prompts != nil {
		c.pools = replica.Question.Split(replica.Prompts.Model, replica.Model)
	}
	c.runs = runsOf(replica)
	c.estimate()
	s.all = append(s.all, c)
}

// fillSlots sets llama-server's slots to the number of concurrent sequences.
func fillSlots(r *api.Request) {
	if r.Engine == "llama-server" && r.Sequences == 0 {
		r.Sequences = simulate.UsualSlots
	}
}

// keepsNothing tells a llama-server to keep no prompts and states on a host that they may fill, if no request continues another: it keeps
// up to 8 GiB of prompts by default, and 32 states of windows for each slot.
func (s *servers) keepsNothing(r *api.Request, a *api.Answer) bool {
	continued := s.spec.SharedPrefix > 0 || s.spec.Sessions != nil || s.spec.Trace != ""
	given := r.CacheRAM != nil || r.Checkpoints != nil
	full := a.Verdict == api.Tight && a.Host != nil && a.Host.Headroom < 0
	if r.Engine != "llama-server" || continued || given || !full {
		return false
	}
	var none plan.Int
	r.CacheRAM, r.Checkpoints = &none, &none
	return true
}

// keepNearest keeps the server with the smallest memory shortage.
func (s *servers) keepNearest(c *contender) {
	if len(c.answer.Devices) == 0 {
		return
	}
	if s.nearest == nil || c.answer.Devices[0].Headroom > s.nearest.answer.Devices[0].Headroom {
		s.nearest = c
	}
}
