// Package planner answers what to change so that a model fits, which models a machine runs, and what a change buys, by searching
// for plans near the requested one.
package planner

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/internal/advice"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/internal/timing"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/quality"
	"github.com/memwall/memwall/search"
	"github.com/memwall/memwall/unit"
)

// Plan answers what must change so that a model fits: single changes, cheapest first (the ladder), and the best plans that fit.
// Fields given in the request are pinned; the others are searched. Every candidate is a patch that was applied and evaluated. When
// ctx ends, the search stops, and Plan answers with what is known by then.
//
// axes.go defines what can change, price.go what changes cost, and ways.go engines, layouts and placements.
func Plan(ctx context.Context, a *question.Env, r *api.Request) (*api.Answer, error) {
	p, err := NewPlanner(a, r)
	if err != nil {
		return nil, err
	}
	out, err := p.fitAnswer()
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
	out.Ladder = p.Ladder(found)
	if found = firstChange(out.Verdict, found, out.Ladder); len(found) > 0 {
		out.Candidates, out.Best = found, &found[0]
	}
	out.Pareto = pareto(found)
	out.Sensitivity, out.Upgrades = p.sensitivities(), p.upgrades()
	out.Evaluated = &p.evaluated
	return NoteStopped(ctx, out), nil
}

// firstChange prepends to the plans found the change that a practitioner would make first to a plan that does not fit. It may
// change a given field, such as adding a second device, which the search keeps.
func firstChange(asked api.Verdict, found, ladder []api.Candidate) []api.Candidate {
	if asked == api.Fits || len(ladder) == 0 || ladder[0].Verdict != api.Fits {
		return found
	}
	others := slices.DeleteFunc(slices.Clone(found), func(c api.Candidate) bool { return reflect.DeepEqual(c.Plan, ladder[0].Plan) })
	if len(others) == len(found) {
		return append([]api.Candidate{ladder[0]}, found...)
	}
	at := slices.IndexFunc(found, func(c api.Candidate) bool { return reflect.DeepEqual(c.Plan, ladder[0].Plan) })
	return append([]api.Candidate{found[at]}, others...)
}

// Planner is a search for plans near a requested one.
type Planner struct {
	env       *question.Env
	Asked     api.Request // as received, as a fit question
	Question  *question.Question
	base      *api.Answer // to the requested plan
	Among     map[string][]string
	want      string // the figure to minimize
	any       bool   // no hardware was given
	command   string
	Order     *quality.Order
	twice     float64    // points for an answer that takes twice as long
	brief     bool       // omits what suggestions do not show of candidates
	onHost    unit.Bytes // of the requested plan
	single    bool       // changes are single ones, which may override given fields
	evaluated api.Evaluated
}

// NewPlanner prepares a search near a requested plan.
func NewPlanner(a *question.Env, r *api.Request) (*Planner, error) {
	p := &Planner{env: a.Remembering(), Asked: *r}
	p.Asked.Ask, p.Asked.Goal, p.Asked.Explain = "fit", nil, false
	p.Among = Among(&p.Asked)
	if p.any = p.Asked.Hardware == "" || p.Asked.Hardware == "any"; p.any {
		p.Asked.Hardware, p.Asked.Devices = "", 0
	}
	if r.Goal != nil {
		p.want = r.Goal.Minimize
	}
	twice, ok := change.PriceOfDoubling[p.want]
	if !ok {
		return nil, &api.Error{Code: api.BadField, Field: "goal.minimize", Value: api.Shorten(p.want),
			Message: fmt.Sprintf("goal.minimize = %q is not known", api.Shorten(p.want)), Hint: "latency, quality_loss, cost or devices"}
	}
	p.twice = twice
	var err error
	if p.Question, p.base, err = p.ask(&p.Asked); err != nil {
		return nil, err
	}
	if p.base.Host != nil {
		p.onHost = p.base.Host.Needed
	}
	p.Order = p.env.Order(p.Question)
	return p, nil
}

// fitAnswer returns the answer to the requested plan.
func (p *Planner) fitAnswer() (*api.Answer, error) {
	q, ranks, err := p.env.SizedRanks(&p.Asked)
	if err != nil {
		return nil, err
	}
	a := timing.SizedAnswer(q, ranks)
	if !ranks[0].Unlimited {
		timing.Outlook(q, a, ranks)
	}
	a.Flags = q.Flags()
	p.command = a.Flags[q.Engine.Name()]
	a.Notes = append(a.Notes, q.Notes()...)
	return a, nil
}

// ask sizes a plan and estimates its speed.
func (p *Planner) ask(r *api.Request) (*question.Question, *api.Answer, error) {
	q, ranks, err := p.env.SizedRanks(r)
	if err != nil {
		return nil, nil, err
	}
	return q, timing.SizedAnswer(q, ranks), nil
}

// mostKept is how many plans a search of one way keeps.
const mostKept = 3

// search searches all ways to run the model, and returns the best plans overall, cheapest first. Later ways must improve on what
// has been found.
func (p *Planner) search(ctx context.Context, loose bool) ([]api.Candidate, error) {
	var out []api.Candidate
	var failed error
	ways, phase := p.ways(loose), api.PhaseSearch
	if loose {
		phase = api.PhaseLoose
	}
	for i, w := range ways {
		report := func(decided, full int) { p.reportProgress(phase, i, len(ways), decided, full, out) }
		found, err := p.searchWay(ctx, &w, loose, worstOf(out), report)
		out = append(out, p.sensible(found)...)
		stable.Sort(out, func(a, b api.Candidate) int { return cheaper(&a, &b) })
		if failed = err; err != nil {
			break
		}
	}
	out = slices.CompactFunc(out, func(a, b api.Candidate) bool { return reflect.DeepEqual(a.Plan, b.Plan) })
	return out[:min(len(out), MaxCandidates)], failed
}

// sensible returns the plans that a practitioner would suggest.
func (p *Planner) sensible(found []api.Candidate) []api.Candidate {
	return slices.DeleteFunc(found, func(c api.Candidate) bool { return advice.Refused(p.cure(&c)) != nil })
}

// worstOf returns the price of the worst of the best plans kept; 0 if fewer have been found.
func worstOf(found []api.Candidate) float64 {
	if len(found) < mostKept {
		return 0
	}
	return found[mostKept-1].Price
}

const MaxCandidates = 12

// searchWay searches the axes of one way.
func (p *Planner) searchWay(ctx context.Context, w *Way, loose bool, below float64, report func(decided, full int)) ([]api.Candidate,
	error) {
	start := p.Asked
	w.Set(&start)
	q, _, err := p.env.SizedRanks(&start)
	if err != nil {
		return nil, nil // the engine rejects it
	}
	s := &space{Planner: p, way: w, start: start, axes: p.axes(q, loose, w.spills), fit: map[string]sizedPlan{}}
	problem := s.problem()
	problem.Below, problem.Step = below, report
	r, err := problem.Run(ctx)
	p.evaluated.Decided += r.Decided
	p.evaluated.Full += r.Full
	var out []api.Candidate
	for _, f := range r.Best {
		to := s.request(f.Point)
		if c, ok := p.candidate(to, s.words(f.Point, to)); ok {
			c.Price, c.Way = f.Price, w.name()
			c.Loss, c.Effort = s.costs(f.Point)
			out = append(out, c)
		}
	}
	return out, err
}

// space is the search space of one way.
type space struct {
	*Planner
	way   *Way
	start api.Request
	axes  []Axis
	fit   map[string]sizedPlan // of points that fit
}

// sizedPlan is a plan with its ledgers.
type sizedPlan struct {
	question *question.Question
	ranks    []engine.Rank
}

func (s *space) problem() *search.Problem {
	p := &search.Problem{Least: s.least, Fits: s.fits, Price: s.price, Most: mostKept}
	for i := range s.axes {
		p.Settings = append(p.Settings, len(s.axes[i].Settings))
		p.Falls = append(p.Falls, !s.way.spills)
	}
	return p
}

func (s *space) least(at search.Point) float64 {
	loss, effort := s.costs(at)
	return loss + effort
}

// costs returns the costs of a point other than speed: the quality loss of its formats, and the effort of all other changes.
func (s *space) costs(at search.Point) (loss, effort float64) {
	effort = s.way.price
	changed := btoi(s.way.spills) + btoi(s.way.words != "")
	for i, n := range at {
		a := &s.axes[i]
		changed += btoi(n > 0)
		to := &effort
		if a.Field == weightsField || a.Field == cacheField {
			to = &loss
		}
		*to += a.Settings[n].Price
	}
	return loss, effort + oneMoreChange*float64(max(0, changed-1))
}

// request returns the request of a point; nil if no placement fits.
func (s *space) request(at search.Point) *api.Request {
	r := s.unplaced(at)
	if s.way.spills {
		return s.Placed(r)
	}
	return r
}

// unplaced returns the request of a point with everything on the devices.
func (s *space) unplaced(at search.Point) *api.Request {
	r := s.start
	for i, n := range at {
		if set := s.axes[i].Settings[n].Set; set != nil {
			set(&r)
		}
	}
	return &r
}

// fits sizes a point and reports whether it fits. A way that spills fits only if it needs to.
func (s *space) fits(at search.Point) bool {
	r := s.request(at)
	if r == nil {
		return false
	}
	q, ranks, err := s.env.SizedRanks(r)
	fits := err == nil && q.Verdict(ranks) == api.Fits && s.hostHolds(q, ranks)
	if fits {
		s.fit[at.Key()] = sizedPlan{q, ranks}
	}
	return fits
}

// hostHolds reports whether a plausible host holds what the plan keeps there.
func (s *space) hostHolds(q *question.Question, ranks []engine.Rank) bool {
	n := question.HostNeeds(q.Job, ranks).Bytes
	return s.spared(q, n) || s.largerHost(q, n) > 0
}

// price returns the price of a point that fits.
func (s *space) price(at search.Point) float64 {
	x := s.fit[at.Key()]
	return s.least(at) + s.slowdown(change.TimedAnswer(x.question, x.ranks))
}

// words describes a point: a single change in full, several in short form.
func (s *space) words(at search.Point, r *api.Request) string {
	var full, short []string
	add := func(words, brief string) {
		if words != "" {
			full, short = append(full, words), append(short, brief)
		}
	}
	add(s.way.words, s.way.words)
	for i, n := range at {
		add(s.axes[i].Settings[n].Words, s.axes[i].Settings[n].Short)
	}
	if s.way.spills {
		placed := placedWords(s.Question, r)
		add(placed, placed)
	}
	if len(full) == 1 {
		return full[0]
	}
	return strings.Join(short, " + ")
}

// leastNeeds returns the point with the setting of each axis that needs the least memory.
func (s *space) leastNeeds() search.Point {
	at := make(search.Point, len(s.axes))
	for i := range at {
		at[i] = len(s.axes[i].Settings) - 1
	}
	return at
}

// nearest returns the plan with the smallest shortage if nothing in the search space fits.
func (p *Planner) nearest() *api.Candidate {
	var best *api.Candidate
	consider := func(r *api.Request, words string) {
		if c, ok := p.candidate(r, words); ok && advice.Refused(p.cure(&c)) == nil && (best == nil || c.Lacks > best.Lacks) {
			best = &c
		}
	}
	for _, w := range p.ways(false) {
		start := p.Asked
		w.Set(&start)
		q, _, err := p.env.SizedRanks(&start)
		if err != nil {
			continue
		}
		s := &space{Planner: p, way: &w, start: start, axes: p.axes(q, false, w.spills), fit: map[string]sizedPlan{}}
		at := s.leastNeeds()
		if r := s.request(at); r != nil {
			consider(r, s.words(at, r))
		} else {
			s.hosted(at, consider)
		}
	}
	return best
}

// hosted considers a point without a fitting placement with all experts on the host, and with everything there.
func (s *space) hosted(at search.Point, consider func(*api.Request, string)) {
	all, none := plan.Int(-1), plan.Int(0)
	experts := s.unplaced(at)
	experts.CPUMoE = &all
	consider(experts, s.words(at, experts))
	host := s.unplaced(at)
	host.GPULayers = &none
	consider(host, s.words(at, host))
}

// gguf reports whether the question's engine loads GGUF files.
func (p *Planner) gguf() bool { return engine.ReadsGGUF(p.Question.Engine) }

// reportProgress reports the progress of a search near a plan.
func (p *Planner) reportProgress(phase string, done, of, decided, full int, best []api.Candidate) {
	if !p.env.HasWatcher() {
		return
	}
	told := api.Progress{Phase: phase, Done: done, Of: of,
		Evaluated: &api.Evaluated{Decided: p.evaluated.Decided + decided, Full: p.evaluated.Full + full}}
	if len(best) > 0 {
		told.Best = best[0].Change
	}
	p.env.Report(told)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
