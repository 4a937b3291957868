package engine

import (
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// Schedule is how an engine composes its steps: what a simulator of its scheduler needs. Names of the rules are those of
// package sim.
type Schedule struct {
	// Rules are "in-flight" (tokens of those who decode, and prompts in what the budget leaves) or "prompts-first".
	Rules string
	// Sequences that run at once, and tokens of a step.
	MaxSequences, StepTokens int64
	// WholePrompts are computed in one step or not at all.
	WholePrompts bool
	// Mixed: of prompts-first rules, who decodes goes along in steps of prompts, whose pieces leave room for that.
	Mixed bool
	// GraphTokens is the most tokens of a step with prompts that runs as CUDA graphs between its attentions; 0 where none does.
	GraphTokens int64
	// Ahead: a step is composed while the one before it is computed.
	Ahead bool
	// Promise: who is admitted is sure of room for the longest answer.
	Promise bool
	// WholeRoom: a request is admitted only if its whole prompt finds room, not just the first piece of it.
	WholeRoom bool
	// SlotTokens is the cache that each sequence has from the start, in tokens; 0 where it is taken as needed.
	SlotTokens int64
	// PrefixCache keeps caches of requests that ended for others that begin alike.
	PrefixCache bool
	// HostTier is what the plan has host memory keep of the cache when the device evicts it, for others that begin alike.
	HostTier HostTier
}

// HostTier is a size in bytes on each rank, or a multiple of the pool.
type HostTier struct {
	Bytes unit.Bytes
	Pools float64
}

// HostTierOf is what a plan says of it.
func HostTierOf(p *plan.Plan) (t HostTier) {
	t.Bytes = unit.Bytes(p.KVHost)
	if p.KVHostRatio != nil {
		t.Pools = *p.KVHostRatio
	}
	return t
}

// Scheduler is an engine that batches requests as they come.
type Scheduler interface {
	Schedule(j *Job) Schedule
}

// Pages are how a pool of blocks is shared out: a sequence takes Full blocks for each row of BlockTokens tokens, Window
// more for the last Rows of them, and Fixed once.
type Pages struct{ BlockTokens, Full, Window, Rows, Fixed int64 }

// On reports whether a switch of a plan is on, which has a default.
func On(given *bool, otherwise bool) bool {
	if given == nil {
		return otherwise
	}
	return *given
}
