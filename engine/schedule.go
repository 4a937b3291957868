package engine

import (
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// Schedule describes how an engine composes its steps, for the scheduler simulation. Rule names are those of package
// sim.
type Schedule struct {
	// Rules is "in-flight" (decoding tokens first, prompts in what remains of the budget) or "prompts-first".
	Rules string
	// Limits on concurrent sequences, and on tokens per step.
	MaxSequences, StepTokens int64
	// WholePrompts reports that prompts are not split over steps.
	WholePrompts bool
	// Mixed reports, for prompts-first rules, that decodes are included in prefill steps, whose chunks leave room for
	// them.
	Mixed bool
	// GraphTokens is the largest step with prompts that runs as piecewise CUDA graphs; 0 if none does.
	GraphTokens int64
	// Ahead reports that a step is scheduled while the previous one runs.
	Ahead bool
	// Promise reports that admission guarantees room for the longest answer.
	Promise bool
	// WholeRoom reports that admission requires room for the whole prompt, not just its first chunk.
	WholeRoom bool
	// SlotTokens is the cache reserved for each sequence from the start, in tokens; 0 if allocated on demand.
	SlotTokens int64
	// DraftSlots is the cache that a decoding sequence holds beyond its own tokens while it drafts, in tokens; 0 if only for the tokens
	// that a step verifies.
	DraftSlots int64
	// PrefixCache reports that caches of finished requests are kept for later ones with the same prefix.
	PrefixCache bool
	// HostTier is the host memory that holds cache evicted from the device for reuse.
	HostTier HostTier
}

// HostTier is a size in bytes per rank, or a multiple of the pool.
type HostTier struct {
	Bytes unit.Bytes
	Pools float64
}

// HostTierOf returns the host tier that a plan specifies.
func HostTierOf(p *plan.Plan) (t HostTier) {
	t.Bytes = unit.Bytes(p.KVHost)
	if p.KVHostRatio != nil {
		t.Pools = *p.KVHostRatio
	}
	return t
}

// Scheduler is an engine with continuous batching.
type Scheduler interface {
	Schedule(j *Job) Schedule
}

// Pages describes the allocation of a paged pool: a sequence takes Full blocks for each row of BlockTokens tokens,
// Window more for each of the last Rows of them, and Fixed once.
type Pages struct{ BlockTokens, Full, Window, Rows, Fixed int64 }

// On returns the value of a plan's switch, or its default if not given.
func On(given *bool, otherwise bool) bool {
	if given == nil {
		return otherwise
	}
	return *given
}
