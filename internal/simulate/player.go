package simulate

import (
	"cmp"
	"fmt"
	"math"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/timing"
	"github.com/memwall/memwall/sim"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/speed/stream"
	"github.com/memwall/memwall/workload"
)

// Player is a kind of server of the plan.
type Player struct {
	Question *question.Question
	KV       *engine.KV
	rules    engine.Schedule
	Model    *serving.Model
	// Stream has the time of steps of llama.cpp and its kin, in place of model.
	Stream *stream.Predictor
	// plain is the model without speculation, where the plan has some.
	plain       *serving.Model
	speculation *serving.Speculation
	accepted    timing.Accepted
	Crossing    timing.Crossing
	tiers       []level // below the device, the nearest first
	spec        *workload.Spec
}

// prefillServers are the servers that compute prompts for others.
func (s *Simulation) prefillServers(r *api.Request) error {
	q := s.Question.Prompter
	if q == nil {
		return nil
	}
	ranks := q.Sizer.Size(nil, q.Job.Load())
	p, err := play(q, &ranks[0].KV, s.Question.Original.Scheduler, &s.Spec)
	if err != nil {
		return err
	}
	pools := s.Question.Split(p.Model, s.Model)
	s.Prompts, s.handover = &p, pools.HandOver
	return p.cacheTiers(r)
}

// play takes the rules of the engine and compiles the time of steps.
func play(q *question.Question, kv *engine.KV, scheduler string, w *workload.Spec) (p Player, err error) {
	p = Player{Question: q, KV: kv, spec: w}
	e, ok := q.Engine.(engine.Scheduler)
	if !ok {
		return p, &api.Error{Code: api.Unsupported, Field: "engine", Value: q.Engine.Name(),
			Message: fmt.Sprintf("how %s schedules many users is not described", q.Engine.Name()), Hint: "vllm, sglang or tensorrt-llm"}
	}
	p.rules = ruled(e.Schedule(q.Job), scheduler)
	if engine.ReadsGGUF(q.Engine) {
		_, _, p.Stream, err = timing.CompileStream(q, &api.Speed{})
		return p, err
	}
	in, err := timing.ServingInput(q, question.KV(kv))
	if err != nil {
		return p, err
	}
	in.MaxSequences = p.rules.MaxSequences
	if p.speculation = in.Speculation; p.speculation != nil {
		p.accepted = timing.AcceptedOf(q)
	}
	if p.Crossing, err = timing.NewCrossing(q, in); err != nil {
		return p, err
	}
	if p.Model, err = timing.Compiled(q, in); err != nil || in.Speculation == nil {
		return p, err
	}
	plain := *in
	plain.Speculation = nil
	p.plain, err = timing.Compiled(q, &plain)
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
	case "llama-server":
		r.Rules, r.Promise, r.WholePrompts, r.Ahead = "in-flight", false, false, false
	}
	return r
}

// disaggregate gives a fleet the servers that compute prompts.
func (s *Simulation) disaggregate(f *sim.Fleet, v Variant) {
	if s.Prompts == nil {
		return
	}
	for i := range f.Replicas {
		f.Replicas[i].Handover = s.handover
	}
	d := s.Question.Request.Disaggregated
	first := s.Question.Request.Prompter()
	alike := s.Prompts.replica(Variant{Scale: v.Scale, noPrefix: v.noPrefix})
	alike.MaxLength = int64(s.Question.Request.Context)
	for range max(1, int64(d.Prefill)) * max(1, first.DP) * max(1, int64(s.Question.Original.Replicas)) {
		f.Prefills = append(f.Prefills, alike)
	}
	s.Prompts.shareExperts(f.Prefills, 1+len(f.Replicas))
}

// Replicas of the plan: those of its data parallelism on each of as many machines.
func (s *Simulation) Replicas() int64 {
	return max(1, s.Question.Request.DP) * max(1, int64(s.Question.Original.Replicas)) * s.Question.Request.Workers()
}

func (s *Simulation) router() sim.Router {
	switch s.Question.Original.Router {
	case "round-robin":
		return sim.RoundRobin()
	case "prefix-aware":
		return sim.PrefixAware()
	}
	return sim.LeastLoaded()
}

// replica of the plan.
func (p *Player) replica(v Variant) sim.Replica {
	r := sim.Replica{
		Policy: sim.Inflight, Paging: p.paging(v), MaxSequences: p.rules.MaxSequences,
		Budget:       max(p.rules.StepTokens, p.rules.MaxSequences),
		WholePrompts: p.rules.WholePrompts, Mixed: p.rules.Mixed, Ahead: p.rules.Ahead,
		Promise: p.rules.Promise, WholeRoom: p.rules.WholeRoom,
		SlotTokens: p.rules.SlotTokens, MaxLength: int64(p.Question.Request.Context),
	}
	if p.rules.Rules == "prompts-first" {
		r.Policy = sim.PromptsFirst
	}
	p.setStepTimes(&r, v)
	p.vary(&r, v)
	r.Tier = chain(p.tiers)
	p.admission(&r)
	return r
}

// admission has who goes first, who is turned away and whose adapters find room.
func (p *Player) admission(r *sim.Replica) {
	r.Ranked, r.MaxWaiting = len(p.spec.Priorities) > 0, int(p.Question.Original.MaxQueued)
	r.LongPrompt = int64(p.Question.Original.LongPrompt)
	if p.spec.Adapters.Count > 0 {
		r.MaxAdapters = cmp.Or(int64(p.Question.Original.MaxLoRAs), int64(max(1, len(p.Question.Request.Adapters))))
	}
}

// shareExperts gives replicas that share experts the number of their group: those of one data-parallel group step together, other groups
// and other pools of workers do not wait for them. Requests that go round come to the groups in turn, as to servers behind a router.
func (p *Player) shareExperts(all []sim.Replica, first int) {
	q := &p.Question.Request
	if q.EP <= max(1, q.TP) || q.DP <= 1 || p.Stream != nil {
		return
	}
	groups := max(1, len(all)/int(q.DP))
	for i := range all {
		all[i].Group, all[i].Ahead = first+i%groups, false
	}
}

// setStepTimes gives a replica its clock.
func (p *Player) setStepTimes(r *sim.Replica, v Variant) {
	scale := v.Scale
	if scale == 0 {
		scale = 1
	}
	if p.Stream != nil {
		clock := p.Stream.Clock()
		r.Timer = func(b speed.Batch) float64 { return scale * clock.Step(b) }
		return
	}
	m := p.Model
	if p.plain != nil && (v.noSpec || v.static) {
		m = p.plain
	} else if d := p.speculation; d != nil {
		r.Speculation = &sim.Speculation{Tokens: d.Shape.Tokens, Slots: p.rules.DraftSlots, Accepted: p.accepted.At(v.drafts),
			Seed: uint64(p.spec.Seed)}
	}
	clock, stages := m.Clock(), int64(m.Stages())
	r.Front = func(prompt int64) float64 { return max(0, m.Front(prompt)+v.Later) }
	r.Timer = func(b speed.Batch) float64 { return scale * clock.Step(perStage(b, stages)) }
	if x := p.Crossing; x != nil {
		r.Timer = func(b speed.Batch) float64 {
			b = perStage(b, stages)
			step := clock.Step(b)
			return scale * (step + x(b, step))
		}
	}
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
func (p *Player) paging(v Variant) sim.Paging {
	g := p.KV.Pages
	out := sim.Paging{Blocks: p.KV.Blocks, BlockTokens: g.BlockTokens, Full: g.Full, Window: g.Window, Rows: g.Rows, Fixed: g.Fixed}
	if g.BlockTokens == 0 { // an engine that tells tokens alone
		out.BlockTokens, out.Full = max(1, p.KV.BlockTokens), 1
	}
	out.PrefixCache = p.rules.PrefixCache && !v.noPrefix && out.Full > 0
	if g.BlockTokens == 0 {
		if p.KV.PerToken == 0 { // states alone: one for each that runs
			out.Blocks, out.Full, out.Fixed, out.PrefixCache = max(1, p.rules.MaxSequences), 0, 1, false
			return out
		}
		if p.rules.SlotTokens > 0 {
			out.Blocks = p.rules.SlotTokens * p.rules.MaxSequences / out.BlockTokens
			return out
		}
		out.Blocks = max(0, p.KV.Tokens) / out.BlockTokens
	}
	if n := int64(p.Question.Original.KVBlocks); n > 0 {
		out.Blocks = n
	}
	return out
}

// vary a replica. Contiguous caches keep room for the longest request from the start, those of a static batch for what each of
// its requests will be, so that each technique is left out alone.
func (p *Player) vary(r *sim.Replica, v Variant) {
	whole := func(tokens int64) int64 { return (tokens + r.BlockTokens - 1) / r.BlockTokens }
	switch name := p.Question.Original.Scheduler; {
	case v.static || name == "static":
		r.Policy, r.PrefixCache = sim.Static, false
		r.Reserve = func(q *workload.Request) int64 { return whole(q.Prompt + q.Output) }
	case v.contiguous || name == "orca" || name == "llama-server" && p.Stream == nil:
		longest := whole(r.MaxLength)
		r.PrefixCache = false
		r.Reserve = func(*workload.Request) int64 { return longest }
	}
	if p.Question.Original.Scheduler == "orca" {
		r.WholePrompts, r.Budget = true, math.MaxInt32
	}
}
