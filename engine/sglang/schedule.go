package sglang

import "github.com/memwall/memwall/engine"

// mostRequests that run where nobody says: max(2048, min(4096, tokens of the pool / context × 512)) of
// model_runner.py; its least is taken.
const mostRequests = 2048

// overlap is the first version whose scheduler prepares a step while the one before it is computed.
var overlap = engine.V(0, 4, 0)

// Schedule of SGLang (srt/managers/scheduler.py, schedule_policy.py): prompts first, in pieces of chunked_prefill_size.
func (Engine) Schedule(j *engine.Job) engine.Schedule {
	p := j.Plan
	s := engine.Schedule{Rules: "prompts-first", MaxSequences: int64(p.MaxSeqs), StepTokens: int64(p.MaxBatchedTokens),
		WholePrompts: !chunked(p), Mixed: engine.On(p.MixedChunk, false) && chunked(p) && p.DraftTokens == 0, DraftSlots: draftCells(j),
		Ahead: j.Version.AtLeast(overlap), PrefixCache: engine.On(p.PrefixCache, true)}
	s.HostTier = engine.HostTierOf(p)
	if s.MaxSequences == 0 {
		s.MaxSequences = mostRequests
	}
	return s
}
