package memwall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/sim"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/speed/stream"
	"github.com/memwall/memwall/unit"
	"github.com/memwall/memwall/workload"
)

const askSim = "sim"

// Watch follows a simulation while it runs. Its functions may be nil.
type Watch struct {
	// Request is called when a request ends; what it points to is valid until it returns.
	Request func(*sim.Done)
	// Step is called when a server begins a step.
	Step func(*sim.Step)
	// Progress is called now and then.
	Progress func(requests int64, simulated time.Duration)
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
}

// player is a kind of server of the plan.
type player struct {
	q     *question
	kv    *engine.KV
	rules engine.Schedule
	model *serving.Model
	// stream has the time of steps of llama.cpp and its kin, in place of model.
	stream *stream.Predictor
	// plain is the model without speculation, where the plan has some.
	plain       *serving.Model
	speculation *serving.Speculation
	tier        *sim.Tier
	spec        *workload.Spec
}

// simulate answers how a plan serves many users: it plays them.
func (a *Asker) simulate(ctx context.Context, r *Request) (*Answer, error) {
	s, out, err := a.simulated(r)
	if err != nil {
		return nil, err
	}
	s.ctx = ctx
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

// simulated prepares the plan: its memory, its clock, its rules and its workload.
func (a *Asker) simulated(r *Request) (*simulation, *Answer, error) {
	s := &simulation{}
	if err := errors.Join(r.variants(), r.Goal.checkGoal(), r.countReplicas()); err != nil {
		return nil, nil, asError(err)
	}
	if err := s.load(r); err != nil {
		return nil, nil, err
	}
	plain := *r
	plain.Ask, plain.PromptTokens, plain.OutputTokens = "fit", 0, 0
	if s.spec.Concurrency == r.Sequences {
		plain.Sequences = 0
	}
	plain.Workload, plain.Versus, plain.Explain, plain.Goal = nil, nil, false, nil
	s.length(&plain)
	q, err := a.prepare(&plain)
	if err != nil {
		return nil, nil, err
	}
	if slots := r.slots(); engine.ReadsGGUF(q.engine) && slots != plain.Sequences && slots > 0 {
		plain.Sequences = slots
		if q, err = a.prepare(&plain); err != nil {
			return nil, nil, err
		}
		if r.Sequences == 0 {
			s.defaults = append(s.defaults, usedDefault{"sequences", slots})
		}
	}
	s.q = q
	for _, d := range s.defaults {
		q.job.Default(d.field, d.value)
	}
	if q.job.Machine == nil {
		return nil, nil, &Error{Code: BadField, Field: "hardware", Message: "a simulation needs hardware: without it no step takes any time", Hint: "--on 4xh100"}
	}
	ranks, err := q.booked()
	if err != nil {
		return nil, nil, err
	}
	out := q.size(ranks)
	out.Plan.Ask, out.Plan.Workload, out.Plan.Versus, out.Plan.Goal = askSim, &s.spec, r.Versus, r.Goal
	q.original.Goal, q.original.Versus = r.Goal, r.Versus
	if out.Verdict == DoesNotFit || out.Verdict == Unknown {
		return s, out, nil
	}
	if s.player, err = play(q, &ranks[0].KV, r.Scheduler, &s.spec); err != nil {
		return nil, nil, err
	}
	if err := s.below(r); err != nil {
		return nil, nil, err
	}
	err = s.apart()
	return s, out, err
}

// below is the tier that keeps what is evicted: each rank keeps its own part of a row, and reads it over its own link.
func (s *simulation) below(r *Request) error {
	if r.KVTier <= 0 {
		return nil
	}
	if s.stream != nil || !s.rules.PrefixCache {
		return &Error{Code: BadField, Field: "kv_tier_bytes", Value: unit.Bytes(r.KVTier).String(), Message: "kv_tier_bytes: nothing is evicted that could be asked for again", Hint: "vllm or sglang with their prefix cache, or leave it out"}
	}
	where := cmp.Or(r.KVTierOn, "host")
	rate, err := s.q.linkTo(s.q.job.Device(0), where)
	if err != nil {
		return &Error{Code: Unsupported, Field: "kv_tier", Value: where, Message: err.Error(), Hint: "hardware of which that is known"}
	}
	page := s.paging(variant{})
	row := float64(page.BlockTokens) * float64(s.kv.PerToken)
	ranks := float64(max(1, s.q.request.TP) * max(1, s.q.request.PP))
	s.tier = &sim.Tier{Rows: int64(float64(r.KVTier) / (row * ranks)), Fetch: func(rows int64) float64 { return float64(rows) * row / float64(rate) }}
	return nil
}

// apart are the servers that compute prompts for others.
func (s *simulation) apart() error {
	q := s.q.prompter
	if q == nil {
		return nil
	}
	ranks := q.sizer.Size(nil, q.job.Load())
	p, err := play(q, &ranks[0].KV, s.q.original.Scheduler, &s.spec)
	if err != nil {
		return err
	}
	pools := s.q.split(p.model, s.model)
	s.prompts, s.handover = &p, func(prompt int64) float64 { return pools.HandOver(prompt) }
	return nil
}

// play takes the rules of the engine and compiles the time of steps.
func play(q *question, kv *engine.KV, scheduler string, w *workload.Spec) (p player, err error) {
	p = player{q: q, kv: kv, spec: w}
	e, ok := q.engine.(engine.Scheduler)
	if !ok {
		return p, &Error{Code: Unsupported, Field: "engine", Value: q.engine.Name(), Message: fmt.Sprintf("how %s schedules many users is not described", q.engine.Name()), Hint: "vllm, sglang or tensorrt-llm"}
	}
	p.rules = ruled(e.Schedule(q.job), scheduler)
	if engine.ReadsGGUF(q.engine) {
		_, _, p.stream, err = q.streamed(&Speed{})
		return p, err
	}
	in, err := q.served(q.kv(&engine.Rank{KV: *kv}))
	if err != nil {
		return p, err
	}
	in.MaxSequences = p.rules.MaxSequences
	p.speculation = in.Speculation
	if p.model, err = q.compiled(in); err != nil || in.Speculation == nil {
		return p, err
	}
	plain := *in
	plain.Speculation = nil
	p.plain, err = q.compiled(&plain)
	return p, err
}

// ruled are the rules that are named in place of the engine's own.
func ruled(r engine.Schedule, scheduler string) engine.Schedule {
	switch scheduler {
	case "vllm-v1":
		r.Rules, r.Promise, r.WholePrompts = "in-flight", false, false
	case "sglang":
		r.Rules, r.Promise = "prompts-first", false
	case "trtllm":
		r.Rules, r.Promise = "in-flight", true
	case "trtllm-max-utilization":
		r.Rules, r.Promise = "in-flight", false
	}
	return r
}

// load is the workload with its defaults: lengths and users of the plan, where it has none of its own.
func (s *simulation) load(r *Request) error {
	if r.Workload != nil {
		s.spec = *r.Workload
	}
	w := &s.spec
	if w.Rate == 0 && w.Concurrency == 0 {
		w.Concurrency = r.Sequences
	}
	if w.Arrivals == "" {
		w.Arrivals = arrivalsOf(w)
	}
	if w.Trace != "" {
		return w.Check()
	}
	for _, l := range []struct {
		law    *workload.Law
		tokens plan.Int
		usual  float64
		field  string
	}{{&w.Prompt, r.PromptTokens, usualPrompt, "workload.prompt"}, {&w.Output, r.OutputTokens, usualOutput, "workload.output"}} {
		s.lengthOf(l.law, l.tokens, l.usual, l.field)
	}
	if w.Requests == 0 && w.DurationS == 0 {
		w.Requests = defaultRequests
		s.defaults = append(s.defaults, usedDefault{"workload.requests", w.Requests})
	}
	return w.Check()
}

// Lengths of a workload that gives none: about those of chats (ShareGPT, Azure LLM 2023 conversations).
const usualPrompt, usualOutput = 1024, 256

func (s *simulation) lengthOf(l *workload.Law, tokens plan.Int, usual float64, field string) {
	switch {
	case l.Law != "" || l.Mean > 0 || len(l.Values) > 0:
	case tokens > 0:
		l.Mean = float64(tokens)
	default:
		l.Mean = usual
		s.defaults = append(s.defaults, usedDefault{field + ".mean", usual})
	}
	if l.Law == "" {
		l.Law = "fixed"
	}
}

// usedDefault is a field that was filled in before there was a job to note it.
type usedDefault struct {
	field string
	value any
}

// slots of a server that has some: sequences, where they do not stand for users; 0 where they do.
func (r *Request) slots() plan.Int {
	switch {
	case r.Sequences == 0:
		return usualSlots
	case r.Workload != nil && r.Workload.Concurrency > 0:
		return r.Sequences
	}
	return 0
}

// usualSlots that llama-server starts with.
const usualSlots plan.Int = 4

// defaultRequests of a workload that does not say how many.
const defaultRequests = 10_000

func arrivalsOf(w *workload.Spec) string {
	switch {
	case w.Concurrency > 0:
		return "closed"
	case w.CV != nil:
		return "gamma"
	case w.Trace != "" && w.Rate == 0:
		return "trace"
	}
	return "poisson"
}

// length gives the plan the context that prompts and answers of fixed lengths need, where nobody says.
func (s *simulation) length(r *Request) {
	if r.Context > 0 {
		return
	}
	if need := int64(s.spec.Prompt.Mean + s.spec.Output.Mean); need > defaultContext {
		r.Context = plan.Int(need)
	}
}

// variant changes one thing of the plan.
type variant struct {
	static     bool
	contiguous bool
	noPrefix   bool
	noSpec     bool
	scale      float64 // of the time of steps; 0 is 1
}

// run plays the workload.
func (s *simulation) run(v variant) (*sim.Result, error) {
	src, closed, err := s.source()
	if err != nil {
		return nil, err
	}
	defer func() { _ = closed() }() // it was only read
	f := sim.Fleet{Router: s.router()}
	for range s.replicas() {
		f.Replicas = append(f.Replicas, s.replica(v))
	}
	s.disaggregate(&f)
	res, err := sim.Run(&f, src, s.options(v))
	if err != nil {
		return nil, s.faulty(err)
	}
	return res, nil
}

// disaggregate gives a fleet the servers that compute prompts.
func (s *simulation) disaggregate(f *sim.Fleet) {
	if s.prompts == nil {
		return
	}
	for i := range f.Replicas {
		f.Replicas[i].Handover = s.handover
	}
	d := s.q.request.Disaggregated
	for range max(1, int64(d.Prefill)) * max(1, d.PrefillDP) {
		r := s.prompts.replica(variant{})
		r.MaxLength = int64(s.q.request.Context)
		f.Prefills = append(f.Prefills, r)
	}
}

// faulty names the trace in which a fault was found.
func (s *simulation) faulty(err error) error {
	var f *workload.Fault
	if !errors.As(err, &f) {
		return asError(err)
	}
	hint := f.Fix
	if hint != "" && !s.spec.Reading.SkipBad && f.Line > 1 {
		hint += "; or --skip-bad leaves such requests out"
	}
	return &Error{Code: BadFile, Field: "workload.trace", Value: shorten(s.spec.Trace), Message: s.spec.Trace + ", " + f.Error(), Hint: hint}
}

// options of a run. Only the plan itself is watched, not what it is compared with.
func (s *simulation) options(v variant) sim.Options {
	o := sim.Options{Goal: s.goal(), Each: s.each, Stop: func(int64, time.Duration) bool { return s.ctx.Err() != nil }}
	w := s.q.asker.Watch
	if w == nil || s.unwatched || v != (variant{}) {
		return o
	}
	o.Each, o.Step = w.Request, w.Step
	if w.Progress != nil {
		o.Stop = func(n int64, at time.Duration) bool {
			w.Progress(n, at)
			return s.ctx.Err() != nil
		}
	}
	return o
}

// source of the requests, and what closes it.
func (s *simulation) source() (workload.Source, func() error, error) {
	if s.spec.Trace == "" {
		src, err := s.spec.Source()
		return src, func() error { return nil }, err
	}
	if s.q.asker.Traces == nil {
		return nil, nil, &Error{Code: Unsupported, Field: "workload.trace", Value: shorten(s.spec.Trace), Message: "workload.trace: no files are read here", Hint: "describe the arrivals: rate, prompt, output"}
	}
	r, err := s.q.asker.Traces.Trace(s.spec.Trace)
	if err != nil {
		return nil, nil, err
	}
	src, err := s.spec.Replay(r)
	if err != nil {
		return nil, nil, errors.Join(s.faulty(err), r.Close())
	}
	return src, r.Close, nil
}

// replicas of the plan: those of its data parallelism on each of as many machines.
func (s *simulation) replicas() int64 {
	return max(1, s.q.request.DP) * max(1, int64(s.q.original.Replicas)) * s.q.request.Workers()
}

func (s *simulation) router() sim.Router {
	switch s.q.original.Router {
	case "round-robin":
		return sim.RoundRobin()
	case "prefix-aware":
		return sim.PrefixAware()
	}
	return sim.LeastLoaded()
}

func (s *simulation) goal() (g sim.Goal) {
	if w := s.q.original.Goal; w != nil {
		g.First, g.PerToken = strictest(w.TTFT), strictest(w.TPOT)
	}
	return g
}

// replica of the plan.
func (p *player) replica(v variant) sim.Replica {
	r := sim.Replica{
		Policy: sim.Inflight, Paging: p.paging(v), MaxSequences: p.rules.MaxSequences, Budget: max(p.rules.StepTokens, p.rules.MaxSequences), LongPrompt: p.rules.LongPrompt,
		WholePrompts: p.rules.WholePrompts, Ahead: p.rules.Ahead, Promise: p.rules.Promise, WholeRoom: p.rules.WholeRoom, SlotTokens: p.rules.SlotTokens, MaxLength: int64(p.q.request.Context),
	}
	if p.rules.Rules == "prompts-first" {
		r.Policy = sim.PromptsFirst
	}
	p.time(&r, v)
	p.vary(&r, v)
	r.Tier = p.tier
	p.admission(&r)
	return r
}

// admission has who goes first, who is turned away and whose adapters find room. Replicas that share experts step together.
func (p *player) admission(r *sim.Replica) {
	r.Ranked, r.MaxWaiting = len(p.spec.Priorities) > 0, int(p.q.original.MaxQueued)
	if p.spec.Adapters.Count > 0 {
		r.MaxAdapters = int64(max(1, len(p.q.request.Adapters)))
	}
	if q := p.q.request; q.EP > max(1, q.TP) && q.DP > 1 && p.stream == nil {
		r.Together, r.Ahead = true, false
	}
}

// time gives a replica its clock.
func (p *player) time(r *sim.Replica, v variant) {
	scale := v.scale
	if scale == 0 {
		scale = 1
	}
	if p.stream != nil {
		clock := p.stream.Clock()
		r.Timer = func(b speed.Batch) float64 { return scale * clock.Step(b) }
		return
	}
	m := p.model
	if p.plain != nil && (v.noSpec || v.static) {
		m = p.plain
	} else if d := p.speculation; d != nil {
		r.Speculation = &sim.Speculation{Tokens: d.Tokens, Acceptance: d.Acceptance, Seed: uint64(p.spec.Seed)}
	}
	clock, stages := m.Clock(), int64(m.Stages())
	r.Front = m.Front
	r.Timer = func(b speed.Batch) float64 { return scale * clock.Step(perStage(b, stages)) }
}

// perStage is what a stage of a pipeline computes at a time: the sequences are spread over its stages, and in the time that
// a batch takes from the first to the last each of the others advances as far.
func perStage(b speed.Batch, stages int64) speed.Batch {
	if stages <= 1 {
		return b
	}
	for _, n := range []*int64{&b.Decodes, &b.Prefill, &b.Prompts, &b.Finished} {
		*n = (*n + stages - 1) / stages
	}
	return b
}

// paging of the pool that the ledger found.
func (p *player) paging(v variant) sim.Paging {
	g := p.kv.Pages
	out := sim.Paging{Blocks: p.kv.Blocks, BlockTokens: g.BlockTokens, Full: g.Full, Window: g.Window, Rows: g.Rows, Fixed: g.Fixed, PrefixCache: p.rules.PrefixCache && !v.noPrefix}
	if g.BlockTokens == 0 {
		out.BlockTokens, out.Full = max(1, p.kv.BlockTokens), 1
		if p.rules.SlotTokens > 0 {
			out.Blocks = p.rules.SlotTokens * p.rules.MaxSequences / out.BlockTokens
			return out
		}
		out.Blocks = max(0, p.kv.Tokens) / out.BlockTokens
	}
	if n := int64(p.q.original.KVBlocks); n > 0 {
		out.Blocks = n
	}
	return out
}

// vary a replica. Contiguous caches keep room for the longest request from the start, those of a static batch for what each of
// its requests will be, so that each technique is left out alone.
func (p *player) vary(r *sim.Replica, v variant) {
	whole := func(tokens int64) int64 { return (tokens + r.BlockTokens - 1) / r.BlockTokens }
	switch name := p.q.original.Scheduler; {
	case v.static || name == "static":
		r.Policy, r.PrefixCache = sim.Static, false
		r.Reserve = func(q *workload.Request) int64 { return whole(q.Prompt + q.Output) }
	case v.contiguous || name == "orca":
		longest := whole(r.MaxLength)
		r.PrefixCache = false
		r.Reserve = func(*workload.Request) int64 { return longest }
	}
	if p.q.original.Scheduler == "orca" {
		r.WholePrompts, r.Budget = true, math.MaxInt32
	}
}

// versus plays the same workload with one technique less.
func (s *simulation) versus(name string, with *sim.Result, holds *float64) (*Versus, error) {
	v := variants[name]
	if v.noSpec && s.plain == nil {
		return nil, &Error{Code: BadField, Field: "versus", Value: name, Message: "versus = no-speculation: the plan has no speculation", Hint: "--draft-tokens 3, or leave it out"}
	}
	res, err := s.run(v)
	if err != nil {
		return nil, err
	}
	out := &Versus{Name: name, Load: loadOf(res), TTFT: percentiles(&res.First), TPOT: percentiles(&res.PerToken), E2E: percentiles(&res.Whole), Pool: s.poolOf(res)}
	if mine, its := loadOf(with).Rate.Output, out.Rate.Output; its > 0 {
		out.Throughput = rounded(mine / its)
	}
	if out.Capacity, err = s.capacity(v); err == nil && holds != nil && out.Capacity != nil {
		out.CapacityRatio, out.Published = rounded(*holds / *out.Capacity), inPapers[name]
	}
	return out, err
}

// maxReplicas of a simulation.
const maxReplicas = 4096

func (r *Request) countReplicas() error {
	if n := int64(r.Replicas); n < 0 || n > maxReplicas || r.DP > 0 && max(1, n)*r.DP > maxReplicas {
		return &Error{Code: BadField, Field: "replicas", Value: fmt.Sprint(n), Message: fmt.Sprintf("replicas = %d is not from 1 to %d, those of data parallelism counted", n, maxReplicas), Hint: "fewer replicas, and their share of the rate"}
	}
	return nil
}

// variants refuses techniques that nobody knows, before anything runs.
func (r *Request) variants() error {
	for i, name := range r.Versus {
		if _, ok := variants[name]; !ok {
			return &Error{Code: BadField, Field: "versus", Value: shorten(name), Message: fmt.Sprintf("versus = %s is not known", shorten(name)), Hint: "static, contiguous-kv, no-prefix-cache, no-speculation"}
		}
		if slices.Contains(r.Versus[:i], name) {
			return &Error{Code: BadField, Field: "versus", Value: name, Message: fmt.Sprintf("versus = %s stands twice", name), Hint: "name each once"}
		}
	}
	return nil
}

var variants = map[string]variant{
	"static":          {static: true},
	"contiguous-kv":   {contiguous: true},
	"no-prefix-cache": {noPrefix: true},
	"no-speculation":  {noSpec: true},
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
