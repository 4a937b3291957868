package vllm

import (
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// asyncScheduling is the first version that composes a step while the one before it is computed (#27614).
var asyncScheduling = engine.V(0, 14, 0)

// wholePrompts is the first version that asks room for a whole prompt before it admits it (scheduler_reserve_full_isl,
// #37307 of March 2026, on by default in sources of May 2026).
var wholePrompts = engine.V(0, 20, 0)

// recurrentPrefixes is the first version that caches prefixes of recurrent models too unless told otherwise (#50991).
var recurrentPrefixes = engine.V(0, 28, 0)

// Schedule returns the schedule of vLLM V1 (v1/core/sched/scheduler.py). Prefix caching is on except for recurrent
// models, whose states are not cached by default before 0.28 (vllm/config/vllm.py).
func (Engine) Schedule(j *engine.Job) engine.Schedule {
	p := j.Plan
	out := engine.Schedule{
		Rules: "in-flight", MaxSequences: int64(p.MaxSeqs), StepTokens: int64(p.MaxBatchedTokens),
		WholePrompts: !engine.On(p.ChunkedPrefill, true),
		Ahead:        j.Version.AtLeast(asyncScheduling) && p.PP <= 1,
		WholeRoom:    j.Version.AtLeast(wholePrompts),
		GraphTokens:  GraphTokens(j.Version, j.Model.Family, p),
		PrefixCache: engine.On(p.PrefixCache, j.Version.AtLeast(v1Default) &&
			(!j.Model.Recurrent() || j.Version.AtLeast(recurrentPrefixes))),
	}
	if !swaps(j.Version) { // what V0 swaps out is of requests that go on
		out.HostTier = engine.HostTierOf(p)
	}
	return out
}

// pages of a pool, in rows of its longest block of tokens: specs of shorter blocks take several for a row.
func (g *groups) pages() (out engine.Pages) {
	for i := range g.specs {
		if s := &g.specs[i]; s.class != model.StateCache {
			out.BlockTokens = max(out.BlockTokens, s.block)
		}
	}
	out.BlockTokens = max(1, out.BlockTokens)
	for i := range g.specs {
		g.spread(&out, &g.specs[i], g.count[i])
	}
	return out
}

// spread adds the groups of a spec. Windows of several lengths are taken as long as the longest.
func (g *groups) spread(out *engine.Pages, s *spec, groups int64) {
	perRow := groups * max(1, out.BlockTokens/max(1, s.block))
	switch s.class {
	case model.StateCache:
		out.Fixed += groups * s.states
	case model.WindowKV:
		out.Window += perRow
		out.Rows = max(out.Rows, unit.CeilDiv(s.span-1, out.BlockTokens)+1)
	case model.ChunkKV:
		out.Window += perRow
		out.Rows = max(out.Rows, unit.CeilDiv(s.span, out.BlockTokens))
	case model.CrossKV:
		if s.span > 0 {
			out.Fixed += groups * unit.CeilDiv(s.span, s.block)
			return
		}
		out.Full += perRow
	default:
		out.Full += perRow
	}
}
