package memwall

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/sim"
	"github.com/memwall/memwall/workload"
)

const askSim = "sim"

// Watch follows a question that takes a while. Its functions may be nil.
type Watch struct {
	// Request is called when a request ends; what it points to is valid until it returns.
	Request func(*sim.Done)
	// Step is called when a server begins a step.
	Step func(*sim.Step)
	// Progress is called now and then, of searches and of simulations, never by two at a time.
	Progress func(Progress)
}

// simulation is a sim request on its way to an answer.
type simulation struct {
	player
	spec     workload.Spec
	defaults []usedDefault
	ctx      context.Context
	// prompts are computed by servers of another kind, where the plan is disaggregated; handover is what the cache of a
	// prompt then takes.
	prompts  *player
	handover func(prompt int64) float64
	// unwatched runs are not the plan's own; each is then what is told of their requests.
	unwatched bool
	each      func(*sim.Done)
	// settling is how many requests go first without being counted; hopeless ends a run that cannot meet its goal.
	settling int64
	hopeless func() bool
	phase    string // which part of the answer is played; "": nobody is told
}

// simulate answers how a plan serves many users: it plays them.
func (a *Asker) simulate(ctx context.Context, r *Request) (*Answer, error) {
	s, out, err := a.simulated(r)
	if err != nil {
		return nil, err
	}
	s.ctx, s.phase = ctx, phaseSimulate
	if out.Verdict == DoesNotFit || out.Verdict == Unknown {
		out.Notes = append(out.Notes, s.q.notes()...)
		return out, nil
	}
	res, err := s.run(variant{})
	if err != nil {
		return nil, err
	}
	out.Simulated = s.tell(res)
	out.KV.PoolUse = out.Simulated.Pool
	if !res.Stopped {
		err = s.beside(out, res)
	}
	out.Notes = append(out.Notes, s.q.notes()...)
	if r.Explain {
		s.q.explain.times(out.Simulated)
		s.q.explain.rest(out)
		out.Explain = s.q.explain.out
	}
	return out, err
}

// beside is what is known from other runs: how much the plan holds at most, and what its techniques buy. Who stops a
// simulation does not wait for them.
func (s *simulation) beside(out *Answer, res *sim.Result) (err error) {
	if out.Capacity, err = s.capacity(variant{}); err != nil {
		return err
	}
	if err = s.edges(out.Simulated, res); err != nil {
		return err
	}
	more, err := s.enough(out.Simulated, res)
	if err != nil {
		return err
	}
	if more != nil {
		more.Verdict = out.Verdict
		out.Suggestions = append(out.Suggestions, *more)
	}
	for _, name := range s.q.original.Versus {
		s.phase = phaseVersus
		v, err := s.versus(name, res, out.Capacity)
		if err != nil {
			return err
		}
		if s.ctx.Err() != nil {
			return nil
		}
		out.Versus = append(out.Versus, *v)
	}
	return nil
}

// simulated prepares the plan: its workload, its memory, its rules and its clock.
func (a *Asker) simulated(r *Request) (*simulation, *Answer, error) {
	s := &simulation{}
	if err := errors.Join(r.variants(), r.Goal.checkGoal(), r.countReplicas(), r.notNegative()); err != nil {
		return nil, nil, asError(err)
	}
	if err := s.load(r); err != nil {
		return nil, nil, err
	}
	if err := s.ask(a, r); err != nil {
		return nil, nil, err
	}
	ranks, err := s.q.booked()
	if err != nil {
		return nil, nil, err
	}
	out := s.q.size(ranks)
	out.Plan.Ask, out.Plan.Workload, out.Plan.Versus, out.Plan.Goal = askSim, &s.spec, r.Versus, r.Goal
	s.q.original.Goal, s.q.original.Versus = r.Goal, r.Versus
	if out.Verdict == DoesNotFit || out.Verdict == Unknown {
		return s, out, nil
	}
	err = s.players(r, &ranks[0].KV)
	return s, out, err
}

// ask prepares the question of what the plan's memory is.
func (s *simulation) ask(a *Asker, r *Request) (err error) {
	plain := *r
	plain.Ask, plain.PromptTokens, plain.OutputTokens = "fit", 0, 0
	if s.spec.Concurrency == r.Sequences {
		plain.Sequences = 0
	}
	plain.Workload, plain.Versus, plain.Goal = nil, nil, nil
	s.length(&plain)
	if s.q, err = a.prepare(&plain); err != nil {
		return err
	}
	if slots := r.slots(); engine.ReadsGGUF(s.q.engine) && slots != plain.Sequences && slots > 0 {
		plain.Sequences = slots
		if s.q, err = a.prepare(&plain); err != nil {
			return err
		}
		if r.Sequences == 0 {
			s.defaults = append(s.defaults, usedDefault{"sequences", slots})
		}
	}
	for _, d := range s.defaults {
		s.q.job.Default(d.field, d.value)
	}
	if s.q.job.Machine == nil {
		return &Error{Code: BadField, Field: "hardware", Message: "a simulation needs hardware: without it no step takes any time", Hint: "--on 4xh100"}
	}
	if m := s.q.job.Model; encodes(m) {
		return &Error{Code: Unsupported, Field: "model", Value: r.Model, Message: s.q.resolved.ID + " reads texts and generates none: there is nothing to play token by token", Hint: "memwall fit says what it holds; a model that generates"}
	}
	s.q.book = &ledger.Book{}
	return nil
}

// players are the servers of the plan.
func (s *simulation) players(r *Request, kv *engine.KV) (err error) {
	if s.player, err = play(s.q, kv, r.Scheduler, &s.spec); err != nil {
		return untimed(r, err)
	}
	if err = s.below(r); err != nil {
		return err
	}
	return s.apart(r)
}

// untimed says why steps of a plan take no known time: most often rates of a device that are not given.
func untimed(r *Request, err error) error {
	if e := asError(err); e.Code != Internal {
		return e
	}
	return &Error{Code: Unsupported, Field: "hardware", Value: shorten(r.Hardware), Message: "a simulation needs the time of a step: " + err.Error(),
		Hint: "a device with rates: name=x,memory=24GiB,bandwidth=1TB/s,bf16=80TFLOPS"}
}

// run plays the workload.
func (s *simulation) run(v variant) (*sim.Result, error) {
	src, closed, err := s.source()
	if err != nil {
		return nil, err
	}
	defer func() { _ = closed() }() // it was only read
	f := sim.Fleet{Router: s.router()}
	alike := s.replica(v) // one clock for all: servers take turns
	for range s.replicas() {
		f.Replicas = append(f.Replicas, alike)
	}
	s.disaggregate(&f, v)
	res, err := sim.Run(&f, src, s.options(v))
	if err != nil {
		return nil, s.faulty(err)
	}
	return res, nil
}

// options of a run. Only the plan itself is watched, not what it is compared with.
func (s *simulation) options(v variant) sim.Options {
	o := sim.Options{Goal: s.goal(), Settle: s.settling, Each: s.each, Stop: func(n int64, at time.Duration) bool {
		s.came(n, at)
		return s.ctx.Err() != nil || s.hopeless != nil && s.hopeless()
	}}
	w := s.q.asker.Watch
	if w == nil || s.unwatched || v != (variant{}) {
		return o
	}
	o.Each, o.Step = w.Request, w.Step
	return o
}

func (s *simulation) goal() (g sim.Goal) {
	if w := s.q.original.Goal; w != nil {
		g.First, g.PerToken = strictest(w.TTFT), strictest(w.TPOT)
	}
	return g
}

// strictest of some bounds in milliseconds; 0 of none.
func strictest(by map[string]float64) (d time.Duration) {
	for _, ms := range by {
		if t := time.Duration(math.Round(1e6 * ms)); d == 0 || t < d {
			d = t
		}
	}
	return d
}
