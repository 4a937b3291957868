// Package sim plays many users of a server: requests arrive, wait, are batched step by step by the rules of an engine, find
// room in the KV cache or are preempted, and end. It says how long each part took, what filled up and what ran out.
//
// Time is an integer of nanoseconds. A step takes what package speed says of its batch; between two events the batch does
// not change but for its contexts, so that whole stretches of steps are one event (server.go). Sequences that decode advance
// in lockstep, and nothing is done for each of them (decoders.go). Invariants are numbered in invariants_test.go; a twin that
// does everything step by step and sequence by sequence is in twin_test.go.
//
// Open fleet.go for the loop, inflight.go for the rules of vLLM, TensorRT-LLM and llama-server, pool.go for the cache.
package sim

import (
	"time"

	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/workload"
)

// Replica is a server: its rules, its room and its clock.
type Replica struct {
	// Timer says how many seconds a batch takes.
	Timer func(speed.Batch) float64
	Policy
	Paging
	MaxSequences int64 // that run at once
	Budget       int64 // tokens of a step
	LongPrompt   int64 // most tokens of one prompt in a step; 0 for no bound
	MaxLength    int64 // tokens of a request, prompt and answer; 0 for no bound
	// WholePrompts: a prompt is computed in one step or not at all.
	WholePrompts bool
	// Mixed: with prompts first, who decodes goes along in steps of prompts, and takes its tokens from their budget
	// (--enable-mixed-chunk of SGLang).
	Mixed bool
	// WholeRoom: a request is admitted only if there is room for all of its prompt, not only for its first piece
	// (scheduler_reserve_full_isl).
	WholeRoom bool
	// Ahead: a step is composed when the one before it begins, without knowing how that ends (asynchronous scheduling).
	Ahead bool
	// Promise: a request is admitted only if its longest answer will find room (GUARANTEED_NO_EVICT).
	Promise bool
	// Reserve says how many rows a request takes from its admission to its end, in one piece; nil where rows are taken
	// as they are needed.
	Reserve func(*workload.Request) int64
	// Ranked: requests of a lower priority number go first, and who ranks last is preempted.
	Ranked bool
	// MaxWaiting is how many may wait; who comes then is refused. 0 for no bound.
	MaxWaiting int
	// MaxAdapters of the sequences that run at once; 0 for no bound.
	MaxAdapters int64
	// Group is of replicas that share experts, and step together: those with the same number, of prompts or of answers alike. None of
	// them composes ahead. 0 steps alone.
	Group int
	// Handover is how many seconds the cache of a prompt takes from the server that computed it.
	Handover func(prompt int64) float64
	// Speculation of those who decode; nil without.
	Speculation *Speculation
	// SlotTokens: each seat has room for so many from the start, whether it is taken or not; 0 where nothing is set apart.
	SlotTokens int64
	// From and Until are when a replica is given requests, of fleets that grow and shrink; Until 0 is ever after. What it was given it
	// finishes.
	From, Until time.Duration
	// Front is how many seconds pass before the scheduler sees a request.
	Front func(prompt int64) float64
}

// Policy composes steps.
type Policy interface {
	// compose a step that begins at a time; false where there is nothing to compute.
	compose(s *server, st *step, now, start time.Duration) bool
}

// Inflight are the rules of vLLM, TensorRT-LLM, llama-server and Orca.
var Inflight Policy = inflight{}

// Outcome of a request.
type Outcome uint8

const (
	Finished Outcome = iota
	Failed           // found no room to go on though nothing else ran
	Refused          // can never be served
	HungUp           // its client lost patience
)

// Limit is what the first who waits waits for.
type Limit uint8

const (
	Nothing  Limit = iota
	Room           // in the KV cache
	Seats          // the most sequences
	Budget         // tokens of a step: arithmetic
	Adapters       // adapters of a step
)

// Done is a request that ended.
type Done struct {
	*workload.Request
	Replica                     int
	Ready, Admitted, First, End time.Duration // since the beginning; First is 0 where no token was generated
	Generated, Cached           int64         // tokens; cached ones of the prompt
	Preempted                   int
	Outcome                     Outcome
}

// Step is a batch, computed so often in a row.
type Step struct {
	Replica          int
	Start, End       time.Duration
	Times            int64
	Batch            speed.Batch
	Waiting, Running int64
	KV               float64 // share of the cache in use
}
