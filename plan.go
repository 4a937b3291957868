package memwall

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/quality"
	"github.com/memwall/memwall/search"
	"github.com/memwall/memwall/unit"
)

// plan answers what must change so that a model fits: single changes, cheapest first (the ladder), and the best
// plans that fit. What was given is pinned, what was not is searched. Every candidate is a patch that was applied
// and asked again. A context that ends stops the search, and the answer has what is known by then.
//
// plan_axes.go has what can change, plan_price.go what changes cost, plan_ways.go engines, layouts and placements.
func (a *Asker) plan(ctx context.Context, r *Request) (*Answer, error) {
	p, err := a.planner(r)
	if err != nil {
		return nil, err
	}
	out, err := p.asFit()
	if err != nil {
		return nil, err
	}
	if p.any {
		return p.onAny(ctx, out)
	}
	found, err := p.search(ctx, false)
	if len(found) == 0 && err == nil {
		out.NearestMiss = p.nearest()
		found, err = p.search(ctx, true)
	}
	if err != nil && len(found) == 0 {
		return nil, err
	}
	out.Ladder = p.ladder(found)
	out.Candidates = found
	if len(found) > 0 {
		out.Best = &found[0]
	}
	out.Pareto = pareto(found)
	out.Sensitivity, out.Upgrades = p.sensitivities(), p.upgrades()
	out.Evaluated = &p.evaluated
	return tellStopped(ctx, out), nil
}

// Evaluated counts plans: those that the search decided, and those that it sized in full to do so.
type Evaluated struct {
	Decided int `json:"decided"`
	Full    int `json:"full"`
}

// Candidate is a plan beside the one that was asked for.
type Candidate struct {
	// Change says it in words, Patch as a JSON merge patch on the request, Arguments in those of the engine's command
	// line that it brings.
	Change    string         `json:"change"`
	Patch     map[string]any `json:"patch"`
	Arguments string         `json:"arguments,omitempty"`
	// Relaxes are fields that were given and that it changes.
	Relaxes  []string   `json:"relaxes,omitempty"`
	Plan     *Request   `json:"plan"`
	Verdict  Verdict    `json:"verdict"`
	Saves    unit.Bytes `json:"saves_bytes"`
	Headroom unit.Bytes `json:"headroom_bytes"`
	// HostHeadroom is what the host has left, where its memory is known and the plan uses it.
	HostHeadroom *unit.Bytes `json:"host_headroom_bytes,omitempty"`
	// Capacity is of all devices, USDPerHour what they rent for.
	Capacity   unit.Bytes `json:"capacity_bytes"`
	USDPerHour *float64   `json:"usd_per_hour"`

	Speed      *Speed        `json:"speed"`
	Step       *TrainingStep `json:"step,omitempty"`
	Run        *TrainingRun  `json:"run,omitempty"`
	SpeedRatio *float64      `json:"speed_ratio"`
	Quality    *Quality      `json:"quality"`
	Cost       *float64      `json:"cost"`
	// MaxSequences of the context are held at once; absent where nothing bounds them.
	MaxSequences *int64 `json:"max_sequences,omitempty"`
	// QualityRank and EffortRank are places among the candidates, equals alike: 1 loses the least quality, by measurements
	// and where there are none by bits, and 1 changes the least beside formats.
	QualityRank int `json:"quality_rank,omitempty"`
	EffortRank  int `json:"effort_rank,omitempty"`
	// Why says which term decides that the plan wins or loses.
	Why   string            `json:"why,omitempty"`
	Flags map[string]string `json:"flags,omitempty"`
	// Files run the plan, by their names.
	Files map[string]string `json:"files,omitempty"`
	// Of a plan for a goal: its fleet, and what became of the load on it.
	Fleet     *Fleet     `json:"fleet,omitempty"`
	Simulated *Simulated `json:"simulated,omitempty"`
	price     float64
	loss      float64    // of quality, in points
	effort    float64    // of all else that it changes, in points
	lacks     unit.Bytes // what the device or the host that has least leaves
	way       string     // which way to run it, in words
}

// planner is a search for plans near one that was asked for.
type planner struct {
	asker     *Asker
	asked     Request // as it came, as a question of fit
	q         *question
	base      *Answer // to what was asked for
	among     map[string][]string
	want      string // what to have least of
	any       bool   // no hardware was named
	command   string
	order     *quality.Order
	twice     float64    // points of an answer that takes twice as long
	brief     bool       // of candidates only what suggestions tell is wanted
	onHost    unit.Bytes // of the plan that was asked for
	evaluated Evaluated
}

func (a *Asker) planner(r *Request) (*planner, error) {
	p := &planner{asker: a.remembering(), asked: *r}
	p.asked.Ask, p.asked.Goal, p.asked.Explain = "fit", nil, false
	p.choices()
	if p.any = p.asked.Hardware == "" || p.asked.Hardware == "any"; p.any {
		p.asked.Hardware, p.asked.Devices = "", 0
	}
	if r.Goal != nil {
		p.want = r.Goal.Minimize
	}
	twice, ok := pointsOfTwice[p.want]
	if !ok {
		return nil, &Error{Code: BadField, Field: "goal.minimize", Value: shorten(p.want), Message: fmt.Sprintf("goal.minimize = %q is not known", shorten(p.want)), Hint: "latency, quality_loss, cost or devices"}
	}
	p.twice = twice
	var err error
	if p.q, p.base, err = p.ask(&p.asked); err != nil {
		return nil, err
	}
	if p.base.Host != nil {
		p.onHost = p.base.Host.Needed
	}
	p.order = p.asker.order(p.q)
	return p, nil
}

// asFit is the answer to the plan as it was asked for.
func (p *planner) asFit() (*Answer, error) {
	q, ranks, err := p.asker.sized(&p.asked)
	if err != nil {
		return nil, err
	}
	a := q.size(ranks)
	if !ranks[0].Unlimited {
		q.outlook(a, ranks)
	}
	a.Flags = q.flags()
	p.command = a.Flags[q.engine.Name()]
	a.Notes = append(a.Notes, q.notes()...)
	return a, nil
}

// ask sizes and times a plan.
func (p *planner) ask(r *Request) (*question, *Answer, error) {
	q, ranks, err := p.asker.sized(r)
	if err != nil {
		return nil, nil, err
	}
	if p.brief && q.prompter == nil {
		outline := q.outline(ranks)
		return q, outline, nil
	}
	a := q.size(ranks)
	return q, a, nil
}

// outline is as much of an answer as suggestions rest on.
func (q *question) outline(ranks []engine.Rank) *Answer {
	a := q.waits(ranks)
	a.Plan, a.Verdict = q.plan(), q.verdict(ranks)
	a.Devices = []Device{{Needed: ranks[0].Needed().Bytes, Headroom: headroom(&ranks[0])}}
	a.Host = &Memory{Needed: q.hostNeeds(ranks).Bytes}
	return a
}

// sized are the ledgers of a plan.
func (a *Asker) sized(r *Request) (*question, []engine.Rank, error) {
	q, err := a.prepare(r)
	if err != nil {
		return nil, nil, err
	}
	ranks, err := q.booked()
	return q, ranks, err
}

const askPlan = "plan"

// kept is how many plans a search of one way keeps.
const kept = 3

// search looks through all ways to run the model, and gives the best plans of all, cheapest first. Ways that come
// later must be better than what was found by then.
func (p *planner) search(ctx context.Context, loose bool) ([]Candidate, error) {
	var out []Candidate
	var failed error
	ways, phase := p.ways(loose), phaseSearch
	if loose {
		phase = phaseLoose
	}
	for i, w := range ways {
		come := func(decided, full int) { p.searched(phase, i, len(ways), decided, full, out) }
		found, err := p.searchWay(ctx, &w, loose, worstOf(out), come)
		out = append(out, found...)
		slices.SortStableFunc(out, func(a, b Candidate) int { return a.cheaper(&b) })
		if failed = err; err != nil {
			break
		}
	}
	out = slices.CompactFunc(out, func(a, b Candidate) bool { return reflect.DeepEqual(a.Plan, b.Plan) })
	return out[:min(len(out), maxCandidates)], failed
}

// worstOf the best plans that are kept; 0 where there are fewer.
func worstOf(found []Candidate) float64 {
	if len(found) < kept {
		return 0
	}
	return found[kept-1].price
}

const maxCandidates = 12

// searchWay looks through the axes of one way.
func (p *planner) searchWay(ctx context.Context, w *way, loose bool, below float64, come func(decided, full int)) ([]Candidate, error) {
	start := p.asked
	w.set(&start)
	q, _, err := p.asker.sized(&start)
	if err != nil {
		return nil, nil // the engine refuses it: no way
	}
	s := &space{planner: p, way: w, start: start, axes: p.axes(q, loose, w.spills), fit: map[string]sizedPlan{}}
	problem := s.problem()
	problem.Below, problem.Step = below, come
	r, err := problem.Run(ctx)
	p.evaluated.Decided += r.Decided
	p.evaluated.Full += r.Full
	var out []Candidate
	for _, f := range r.Best {
		to := s.request(f.Point)
		if c, ok := p.candidate(to, s.words(f.Point, to)); ok {
			c.price, c.way = f.Price, w.name()
			c.loss, c.effort = s.costs(f.Point)
			out = append(out, c)
		}
	}
	return out, err
}

// space is what a way leaves open.
type space struct {
	*planner
	way   *way
	start Request
	axes  []axis
	fit   map[string]sizedPlan // of points that fit
}

// sizedPlan is a plan with its ledgers.
type sizedPlan struct {
	q     *question
	ranks []engine.Rank
}

func (s *space) problem() *search.Problem {
	p := &search.Problem{Least: s.least, Fits: s.fits, Price: s.price, Most: kept}
	for i := range s.axes {
		p.Settings = append(p.Settings, len(s.axes[i].settings))
		p.Falls = append(p.Falls, !s.way.spills)
	}
	return p
}

func (s *space) least(at search.Point) float64 {
	loss, effort := s.costs(at)
	return loss + effort
}

// costs of a point beside time: loss of quality by its formats, and the effort of all else that it changes.
func (s *space) costs(at search.Point) (loss, effort float64) {
	effort = s.way.price
	for i, n := range at {
		a := &s.axes[i]
		to := &effort
		if a.field == weightsField || a.field == cacheField {
			to = &loss
		}
		*to += a.settings[n].price
	}
	return loss, effort
}

// request of a point; nil where no placement has room.
func (s *space) request(at search.Point) *Request {
	r := s.unplaced(at)
	if s.way.spills {
		return s.placed(r)
	}
	return r
}

// unplaced is the request of a point with everything on the devices.
func (s *space) unplaced(at search.Point) *Request {
	r := s.start
	for i, n := range at {
		if set := s.axes[i].settings[n].set; set != nil {
			set(&r)
		}
	}
	return &r
}

// fits sizes a point. A way that spills is one that needs to.
func (s *space) fits(at search.Point) bool {
	r := s.request(at)
	if r == nil {
		return false
	}
	q, ranks, err := s.asker.sized(r)
	fits := err == nil && q.verdict(ranks) == Fits
	if fits {
		s.fit[at.Key()] = sizedPlan{q, ranks}
	}
	return fits
}

// price of a point that fits.
func (s *space) price(at search.Point) float64 {
	x := s.fit[at.Key()]
	return s.least(at) + s.slowdown(x.q.waits(x.ranks))
}

// words of a point: one change in full, several in short.
func (s *space) words(at search.Point, r *Request) string {
	var full, short []string
	add := func(words, brief string) {
		if words != "" {
			full, short = append(full, words), append(short, brief)
		}
	}
	add(s.way.words, s.way.words)
	for i, n := range at {
		add(s.axes[i].settings[n].words, s.axes[i].settings[n].short)
	}
	if s.way.spills {
		placed := s.placedWords(r)
		add(placed, placed)
	}
	if len(full) == 1 {
		return full[0]
	}
	return strings.Join(short, " + ")
}

// last is the setting of each axis that needs least.
func (s *space) last() search.Point {
	at := make(search.Point, len(s.axes))
	for i := range at {
		at[i] = len(s.axes[i].settings) - 1
	}
	return at
}

// nearest is the plan that lacks least where nothing that was left open fits.
func (p *planner) nearest() *Candidate {
	var best *Candidate
	consider := func(r *Request, words string) {
		if c, ok := p.candidate(r, words); ok && (best == nil || c.lacks > best.lacks) {
			best = &c
		}
	}
	for _, w := range p.ways(false) {
		start := p.asked
		w.set(&start)
		q, _, err := p.asker.sized(&start)
		if err != nil {
			continue
		}
		s := &space{planner: p, way: &w, start: start, axes: p.axes(q, false, w.spills), fit: map[string]sizedPlan{}}
		at := s.last()
		if r := s.request(at); r != nil {
			consider(r, s.words(at, r))
		} else {
			s.hosted(at, consider)
		}
	}
	return best
}

// hosted is what no placement has room for, with all experts on the host, and with everything there.
func (s *space) hosted(at search.Point, consider func(*Request, string)) {
	all, none := plan.Int(-1), plan.Int(0)
	experts := s.unplaced(at)
	experts.CPUMoE = &all
	consider(experts, s.words(at, experts))
	host := s.unplaced(at)
	host.GPULayers = &none
	consider(host, s.words(at, host))
}

// gguf: what the question's engine loads are GGUF files.
func (p *planner) gguf() bool { return engine.ReadsGGUF(p.q.engine) }
