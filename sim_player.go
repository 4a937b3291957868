package memwall

import (
	"cmp"
	"fmt"
	"math"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/sim"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/speed/stream"
	"github.com/memwall/memwall/unit"
	"github.com/memwall/memwall/workload"
)

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
	crossing    crossing
	tier        *sim.Tier
	spec        *workload.Spec
}

// below is the tier that keeps what is evicted: each rank keeps its own part of a row, and reads it over its own link.
func (p *player) below(r *Request) error {
	if r.KVTier <= 0 {
		return nil
	}
	if p.stream != nil || !p.rules.PrefixCache {
		return &Error{Code: BadField, Field: "kv_tier_bytes", Value: unit.Bytes(r.KVTier).String(), Message: "kv_tier_bytes: nothing is evicted that could be asked for again", Hint: "vllm or sglang with their prefix cache, or leave it out"}
	}
	where := cmp.Or(r.KVTierOn, "host")
	rate, err := p.q.linkTo(p.q.job.Device(0), where)
	if err != nil {
		return &Error{Code: Unsupported, Field: "kv_tier", Value: where, Message: err.Error(), Hint: "hardware of which that is known"}
	}
	page := p.paging(variant{})
	row := float64(page.BlockTokens) * float64(p.kv.PerToken)
	ranks := float64(max(1, p.q.request.TP) * max(1, p.q.request.PP))
	if least := unit.Bytes(math.Ceil(row * ranks)); unit.Bytes(r.KVTier) < least {
		return &Error{Code: BadField, Field: "kv_tier_bytes", Value: unit.Bytes(r.KVTier).String(), Message: fmt.Sprintf("kv_tier_bytes: a row of the cache takes %s on all ranks together, and the tier holds none", least), Hint: "a few GiB"}
	}
	p.tier = &sim.Tier{Rows: int64(float64(r.KVTier) / (row * ranks)), Fetch: func(rows int64) float64 { return float64(rows) * row / float64(rate) }}
	return nil
}

// apart are the servers that compute prompts for others.
func (s *simulation) apart(r *Request) error {
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
	s.prompts, s.handover = &p, pools.HandOver
	return p.below(r)
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
	if p.crossing, err = q.crossing(in); err != nil {
		return p, err
	}
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
	case "llama-server":
		r.Rules, r.Promise, r.WholePrompts, r.Ahead = "in-flight", false, false, false
	}
	return r
}

// disaggregate gives a fleet the servers that compute prompts.
func (s *simulation) disaggregate(f *sim.Fleet, v variant) {
	if s.prompts == nil {
		return
	}
	for i := range f.Replicas {
		f.Replicas[i].Handover = s.handover
	}
	d := s.q.request.Disaggregated
	first := s.q.request.Prompter()
	alike := s.prompts.replica(variant{scale: v.scale, noPrefix: v.noPrefix})
	alike.MaxLength = int64(s.q.request.Context)
	for range max(1, int64(d.Prefill)) * max(1, first.DP) * max(1, int64(s.q.original.Replicas)) {
		f.Prefills = append(f.Prefills, alike)
	}
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

// replica of the plan.
func (p *player) replica(v variant) sim.Replica {
	r := sim.Replica{
		Policy: sim.Inflight, Paging: p.paging(v), MaxSequences: p.rules.MaxSequences, Budget: max(p.rules.StepTokens, p.rules.MaxSequences),
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
	r.LongPrompt = int64(p.q.original.LongPrompt)
	if p.spec.Adapters.Count > 0 {
		r.MaxAdapters = cmp.Or(int64(p.q.original.MaxLoRAs), int64(max(1, len(p.q.request.Adapters))))
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
		r.Speculation = &sim.Speculation{Tokens: d.Tokens, Acceptance: cmp.Or(v.acceptance, d.Acceptance), Seed: uint64(p.spec.Seed)}
	}
	clock, stages := m.Clock(), int64(m.Stages())
	r.Front = m.Front
	r.Timer = func(b speed.Batch) float64 { return scale * clock.Step(perStage(b, stages)) }
	if x := p.crossing; x != nil {
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
func (p *player) paging(v variant) sim.Paging {
	g := p.kv.Pages
	out := sim.Paging{Blocks: p.kv.Blocks, BlockTokens: g.BlockTokens, Full: g.Full, Window: g.Window, Rows: g.Rows, Fixed: g.Fixed, PrefixCache: p.rules.PrefixCache && !v.noPrefix && g.Full > 0}
	if g.BlockTokens == 0 {
		out.BlockTokens, out.Full = max(1, p.kv.BlockTokens), 1
		if p.kv.PerToken == 0 { // states alone: one for each that runs
			out.Blocks, out.Full, out.Fixed, out.PrefixCache = max(1, p.rules.MaxSequences), 0, 1, false
			return out
		}
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
	case v.contiguous || name == "orca" || name == "llama-server" && p.stream == nil:
		longest := whole(r.MaxLength)
		r.PrefixCache = false
		r.Reserve = func(*workload.Request) int64 { return longest }
	}
	if p.q.original.Scheduler == "orca" {
		r.WholePrompts, r.Budget = true, math.MaxInt32
	}
}
