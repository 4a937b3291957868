package memwall

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/quality"
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
	found  int64 // replicas that hold the load; 0 where none do
	failed error // why it could not be played
	fleet  *fleetPlan
}

// machineChoice is hardware for one replica, and how many devices there are of the kind.
type machineChoice struct {
	kind, name string
	devices    int64
	have       int64 // 0 where nobody says
	whole      bool  // a node, or unlike devices: nothing smaller is rented
	split      bool  // a number that only workers of two kinds share evenly
}

// replicaSizes are numbers of devices that a replica of one kind is tried with: those beyond usual are for models that
// nothing smaller holds.
var replicaSizes = []int64{1, 2, 4, 8, 16, 32, 64}

const usualSize = 16

// splitSizes are numbers of devices for one worker that computes prompts and two that generate, or the other way round.
var splitSizes = []int64{3, 6, 12}

// replicaSizes to try: those that were listed, else the usual ones.
func (g *goalSearch) replicaSizes() (out []int64) {
	for _, n := range g.original.Among["devices"] {
		out = append(out, int64(n))
	}
	if out == nil {
		return replicaSizes
	}
	return out
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

// machines to try, kind by kind.
func (g *goalSearch) machines() (out []machineChoice, err error) {
	names := hardwareChoices(g.asked.Hardware)
	if g.asked.Hardware == "" || g.asked.Hardware == anyHardware {
		names = offered
	}
	for _, name := range names {
		m, notes, err := g.asker.find(name, int(g.asked.Devices))
		if err != nil {
			return nil, asError(err)
		}
		for _, n := range notes {
			g.note(n.Code, "info", "hardware", n.Text)
		}
		out = append(out, g.sizes(name, &m)...)
	}
	return out, nil
}

// note once.
func (g *goalSearch) note(code, severity, field, text string) {
	n := Note{Code: code, Severity: severity, Field: field, Text: text}
	if !slices.Contains(g.notes, n) {
		g.notes = append(g.notes, n)
	}
}

// sizes of a replica on a machine: a device of the catalog that stands without a number is there as often as is needed.
func (g *goalSearch) sizes(name string, m *hardware.Machine) (out []machineChoice) {
	if len(m.Groups) != 1 || m.Node != "" || m.CPUOnly {
		one := machineChoice{kind: name, name: name, devices: max(1, int64(m.Devices())), whole: true}
		if m.CPUOnly {
			one.have = one.devices // this machine, and no second one
		}
		return []machineChoice{one}
	}
	base, counted := uncounted(name)
	have := int64(0)
	if counted || g.asked.Devices > 0 {
		have = int64(m.Devices())
	}
	d := &m.Groups[0].Device
	add := func(n int64, split bool) {
		beyond := func(most int64) bool { return most > 0 && n > most }
		if alone := d.PerNode.Known && d.PerNode.Value == 1; beyond(int64(g.original.MaxDevices)) || beyond(have) || n > 1 && alone {
			return
		}
		out = append(out, machineChoice{kind: d.ID, name: manyOf(int(n), base), devices: n, have: have, split: split})
	}
	for _, n := range g.replicaSizes() {
		add(n, false)
	}
	if g.splits(d) {
		for _, n := range splitSizes {
			add(n, true)
		}
	}
	return out
}

// splits reports whether servers of a kind may be parted into workers that compute prompts and workers that generate.
func (g *goalSearch) splits(d *hardware.Device) bool {
	r := &g.asked
	return r.Disaggregated == nil && r.PP == 0 && r.DP == 0 && r.EP == 0 && g.original.Among == nil && strings.HasPrefix(d.Kind, "HBM")
}

// uncounted is a machine's name without the number in front.
func uncounted(name string) (base string, counted bool) {
	digits := len(name) - len(strings.TrimLeft(name, "0123456789"))
	rest := strings.TrimLeft(name[digits:], " ")
	for _, times := range []string{"x", "×", "*"} {
		if after, ok := strings.CutPrefix(rest, times); ok && digits > 0 && after != "" {
			return strings.TrimSpace(after), true
		}
	}
	return name, false
}

// enumerate makes every server that fits and whose formats cost no more quality than allowed.
func (g *goalSearch) enumerate() error {
	machines, err := g.machines()
	if err != nil {
		return err
	}
	for i := range machines {
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

// formats of weights and cache that cost no more than allowed.
func (g *goalSearch) formats(p *planner) (out []setting) {
	for _, weights := range g.affordable(p.weightsAxis(p.q), g.weightsLoss) {
		for _, cache := range g.affordable(p.cacheAxis(p.q), g.cacheLoss) {
			out = append(out, setting{price: weights.price + cache.price, set: func(r *Request) {
				for _, set := range []func(*Request){weights.set, cache.set} {
					if set != nil {
						set(r)
					}
				}
			}})
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
	if !p.spillable(p.q) || p.placedByHand() {
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

// remember what formats cost, which is the same on every machine.
func (g *goalSearch) remember(p *planner) {
	if g.order == nil {
		g.order, g.native = p.order, p.q.request.Weights
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

// affordable settings of an axis of formats, whose prices then are their losses.
func (g *goalSearch) affordable(a axis, loss func(name string) (points float64, known bool)) (out []setting) {
	for _, s := range a.settings {
		points, known := 0.0, true
		if s.set != nil {
			r := Request{}
			s.set(&r)
			points, known = loss(cmp.Or(r.Weights, r.KV))
		}
		if s.price = points; known && points <= g.affords() || s.set == nil || g.listed(a.field) {
			out = append(out, s)
		}
	}
	if f := FieldByName(a.field); len(out) > 1 && !f.Value(&g.asked).IsZero() && !g.listed(a.field) {
		return out[:1]
	}
	return out
}

func (g *goalSearch) listed(field string) bool { return g.among[field] != nil }

// usualLoss of quality that people take for half the bytes: formats of 8 bits stay within it.
const usualLoss = 1.0

func (g *goalSearch) affords() float64 {
	if q := g.goal.QualityLoss; q != nil {
		return *q
	}
	return usualLoss
}

// weightsLoss is what a recipe costs against the published weights. Where nobody published any of a model's losses, formats
// of 8 bits pass and fewer do not, unless any loss is allowed.
func (g *goalSearch) weightsLoss(name string) (points float64, known bool) {
	r, from := dtype.FindRecipe(name), dtype.FindRecipe(g.native)
	if r == nil || from == nil {
		return 0, true
	}
	return g.difference(g.order.Weights(from), g.order.Weights(r))
}

func (g *goalSearch) cacheLoss(name string) (points float64, known bool) {
	f := dtype.FindFormat(name)
	if f == nil {
		return 0, true
	}
	return g.difference(g.order.Cache(dtype.F16, dtype.F16), g.order.Cache(f, f))
}

// difference of two places of an order, in percent of perplexity. Where nobody published a loss there is no percent, and 8
// bits and more are taken to lose nothing that shows.
func (g *goalSearch) difference(from, to quality.Rank) (points float64, known bool) {
	switch d := to.Loss() - from.Loss(); {
	case math.IsInf(d, 0), math.IsNaN(d):
		return 0, false
	case to.Loss() >= 0 && from.Loss() >= 0:
		return max(0, d), true
	case to.Bits >= 8:
		return 0, true
	}
	return 0, g.affords() >= 100
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
	g.estimate(c)
	g.contenders = append(g.contenders, c)
}

// slots of llama-server are sequences at once.
func (g *goalSearch) slots(r *Request) {
	if r.Engine == "llama-server" && r.Sequences == 0 {
		r.Sequences = usualSlots
	}
}

// mostReplicas of a machine.
func (g *goalSearch) mostReplicas(m *machineChoice) int64 {
	bound := int64(g.original.MaxDevices)
	if m.have > 0 && (bound == 0 || m.have < bound) {
		bound = m.have
	}
	if bound == 0 {
		return 0
	}
	return bound / m.devices
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
