// Package simulate runs a workload on the servers of a plan, by the engine's scheduling rules and predicted step times,
// and returns latency percentiles.
package simulate

import (
	"context"
	"errors"
	"time"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/timing"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/sim"
	"github.com/memwall/memwall/workload"
)

// Simulation is a sim request on its way to an answer.
type Simulation struct {
	Player
	Spec     workload.Spec
	Defaults []UsedDefault
	Ctx      context.Context
	// Prompts are computed by servers of another kind, where the plan is disaggregated; handover is what the cache of a
	// prompt then takes.
	Prompts  *Player
	handover func(prompt int64) float64
	// Unwatched runs are not the plan's own; each is then what is told of their requests.
	Unwatched   bool
	EachRequest func(*sim.Done)
	// Settling is how many requests go first without being counted, a quarter of all at the most; hopeless ends a run that
	// cannot meet its goal.
	Settling int64
	Hopeless func() bool
	most     *int64 // users that hold within the goal, where that is the question
	phase    string // which part of the answer is played; "": nobody is told
}

// Simulate answers how a plan serves many users: it plays them.
func Simulate(ctx context.Context, a *question.Env, r *api.Request) (*api.Answer, error) {
	s, out, err := Simulated(a, r)
	if err != nil {
		return nil, err
	}
	s.Ctx, s.phase = ctx, api.PhaseSimulate
	if out.Verdict == api.DoesNotFit || out.Verdict == api.Unknown {
		out.Notes = append(out.Notes, s.Question.Notes()...)
		return out, nil
	}
	if asksMost(r) {
		if err := growToMost(s, r); err != nil {
			return nil, err
		}
	}
	res, err := s.Run(Variant{})
	if err != nil {
		return nil, err
	}
	out.Simulated = s.writeResult(res)
	out.KV.PoolUse = out.Simulated.Pool
	if err := mostOverBand(s, r, out.Simulated, res); err != nil {
		return nil, err
	}
	if !res.Stopped {
		err = s.otherRuns(a, r, out, res)
	}
	out.Notes = append(out.Notes, s.Question.Notes()...)
	if r.Explain {
		times(s.Question.Explain, out.Simulated)
		s.Question.Explain.Rest(out)
		out.Explain = s.Question.Explain.Out
	}
	return out, err
}

// otherRuns is what is known from other runs: how much the plan holds at most, and what its techniques buy. Who stops a
// simulation does not wait for them.
func (s *Simulation) otherRuns(a *question.Env, r *api.Request, out *api.Answer, res *sim.Result) (err error) {
	if out.Simulated.Capacity, err = s.capacity(Variant{}); err != nil || s.Ctx.Err() != nil {
		return err
	}
	out.Simulated.Capacity = noLess(out.Simulated.Capacity, &out.Simulated.Load)
	if err = s.edges(out.Simulated, res); err != nil || s.Ctx.Err() != nil {
		return err
	}
	more, err := s.suggestSeats(a, r, &out.Simulated.Load, res)
	if err == nil && more == nil && s.Ctx.Err() == nil {
		more, err = s.suggestReplicas(out.Simulated, res)
	}
	if err != nil || s.Ctx.Err() != nil {
		return err
	}
	if more != nil {
		more.Verdict = out.Verdict
		out.Suggestions = append(out.Suggestions, *more)
	}
	for _, name := range s.Question.Original.Versus {
		s.phase = api.PhaseVersus
		v, err := s.versus(name, res, out.Simulated.Capacity)
		if err != nil {
			return err
		}
		if s.Ctx.Err() != nil {
			return nil
		}
		out.Simulated.Versus = append(out.Simulated.Versus, *v)
	}
	return nil
}

// Simulated prepares the plan: its workload, its memory, its rules and its clock.
func Simulated(a *question.Env, r *api.Request) (*Simulation, *api.Answer, error) {
	s := &Simulation{}
	if err := errors.Join(checkVersus(r), CheckGoal(r.Goal), CheckMost(r), CountReplicas(r), notNegative(r)); err != nil {
		return nil, nil, api.AsError(err)
	}
	if err := s.Load(r); err != nil {
		return nil, nil, err
	}
	if err := s.ask(a, r); err != nil {
		return nil, nil, err
	}
	ranks, err := s.Question.Ledgers()
	if err != nil {
		return nil, nil, err
	}
	out := timing.SizedAnswer(s.Question, ranks)
	out.Plan.Ask, out.Plan.Workload, out.Plan.Versus, out.Plan.Goal = api.AskSim, &s.Spec, r.Versus, r.Goal
	s.Question.Original.Goal, s.Question.Original.Versus = r.Goal, r.Versus
	if out.Verdict == api.DoesNotFit || out.Verdict == api.Unknown {
		return s, out, nil
	}
	err = s.players(r, &ranks[0].KV)
	return s, out, err
}

// ask prepares the question of what the plan's memory is.
func (s *Simulation) ask(a *question.Env, r *api.Request) (err error) {
	plain := *r
	plain.Ask, plain.PromptTokens, plain.OutputTokens = "fit", 0, 0
	if s.Spec.Concurrency == r.Sequences {
		plain.Sequences = 0
	}
	plain.Workload, plain.Versus, plain.Goal = nil, nil, nil
	s.length(&plain)
	crowd := *a
	crowd.Crowd = true
	a = &crowd
	if s.Question, err = a.Prepare(&plain); err != nil {
		return err
	}
	if slots := slots(r); engine.ReadsGGUF(s.Question.Engine) && slots != plain.Sequences && slots > 0 {
		plain.Sequences = slots
		if s.Question, err = a.Prepare(&plain); err != nil {
			return err
		}
		if r.Sequences == 0 {
			s.Defaults = append(s.Defaults, UsedDefault{"sequences", slots})
		}
	}
	for _, d := range s.Defaults {
		s.Question.Job.Default(d.Field, d.Value)
	}
	if s.Question.Job.Machine == nil {
		return &api.Error{Code: api.BadField, Field: "hardware", Message: "a simulation needs hardware: without it no step takes any time",
			Hint: "--on 4xh100"}
	}
	if m := s.Question.Job.Model; question.Encodes(m) {
		return &api.Error{Code: api.Unsupported, Field: "model", Value: r.Model,
			Message: s.Question.Resolved.ID + " reads texts and generates none: there is nothing to play token by token",
			Hint:    "memwall fit says what it holds; a model that generates"}
	}
	s.Question.Book = &ledger.Book{}
	return nil
}

// players are the servers of the plan.
func (s *Simulation) players(r *api.Request, kv *engine.KV) (err error) {
	if s.Player, err = play(s.Question, kv, r.Scheduler, &s.Spec); err != nil {
		return untimed(r, err)
	}
	if err = s.cacheTiers(r); err != nil {
		return err
	}
	return s.prefillServers(r)
}

// untimed says why steps of a plan take no known time: most often rates of a device that are not given.
func untimed(r *api.Request, err error) error {
	if e := api.AsError(err); e.Code != api.Internal {
		return e
	}
	return &api.Error{Code: api.Unsupported, Field: "hardware", Value: api.Shorten(r.Hardware),
		Message: "a simulation needs the time of a step: " + err.Error(),
		Hint:    "a device with rates: name=x,memory=24GiB,bandwidth=1TB/s,bf16=80TFLOPS"}
}

// Run plays the workload.
func (s *Simulation) Run(v Variant) (*sim.Result, error) {
	src, closed, err := s.Source()
	if err != nil {
		return nil, err
	}
	defer func() { _ = closed() }() // it was only read
	f := sim.Fleet{Router: s.router(), Store: s.store()}
	alike := s.replica(v) // one clock for all: servers take turns
	for range s.Replicas() {
		f.Replicas = append(f.Replicas, alike)
	}
	s.shareExperts(f.Replicas, 1)
	s.disaggregate(&f, v)
	res, err := sim.Run(&f, src, s.options(v))
	if err != nil {
		return nil, s.TraceError(err)
	}
	return res, nil
}

// options of a run. Only the plan itself is watched, not what it is compared with.
func (s *Simulation) options(v Variant) sim.Options {
	o := sim.Options{Goal: s.goal(), Settle: s.Settling, NoGaps: s.Unwatched, Each: s.EachRequest}
	o.Stop = func(n int64, at time.Duration) bool {
		s.reportProgress(n, at)
		return s.Ctx.Err() != nil || s.Hopeless != nil && s.Hopeless()
	}
	w := s.Question.Env.Watch
	if w == nil || s.Unwatched || v != (Variant{}) {
		return o
	}
	o.Each, o.Step = w.Request, w.Step
	return o
}

func (s *Simulation) goal() (g sim.Goal) {
	if w := s.Question.Original.Goal; w != nil {
		g.First, g.PerToken = RequestBound(w.TTFT), RequestBound(w.TPOT)
	}
	return g
}

// reportProgress tells how far a run of a simulation is.
func (s *Simulation) reportProgress(requests int64, at time.Duration) {
	if s.phase == "" || !s.Question.Env.HasWatcher() {
		return
	}
	p := api.Progress{Phase: s.phase, Requests: requests, RequestsOf: int64(s.Spec.Requests), Simulated: at.Seconds(),
		SimulatedOf: s.Spec.DurationS}
	if rate := s.Spec.Rate; p.SimulatedOf == 0 && rate > 0 {
		p.SimulatedOf = float64(s.Spec.Requests) / rate
	}
	s.Question.Env.Report(p)
}
