// Package sim simulates a server with many users: requests arrive, wait, are batched step by step under the rules of an
// engine, find space in the KV cache or are preempted, and complete. The result says how long each stage took, what
// filled up and what ran out.
//
// Time is in integer nanoseconds. The duration of a step is predicted from its batch; between two events a batch
// changes only in its contexts, so that long stretches of steps are one event (server.go). Decoding sequences advance
// in lockstep without work per sequence (decoders.go). invariants_test.go numbers the invariants; twin_test.go has a
// reference implementation that works step by step and sequence by sequence.
//
// See fleet.go for the main loop, inflight.go for the rules of vLLM, TensorRT-LLM and llama-server, and pool.go for the
// cache.
package sim

import (
	"time"

	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/workload"
)

// Replica configures a server: its rules, capacity and timing.
type Replica struct {
	// Timer returns the duration of a batch in seconds.
	Timer func(speed.Batch) float64
	Policy
	Paging
	MaxSequences int64 // concurrent sequences
	Budget       int64 // tokens per step
	LongPrompt   int64 // maximum tokens of one prompt per step; 0 for unbounded
	MaxLength    int64 // prompt plus output tokens of a request; 0 for unbounded
	// WholePrompts reports that prompts are not split over steps.
	WholePrompts bool
	// Mixed includes decoding sequences in prefill steps, under PromptsFirst, charged to their budget (SGLang's
	// --enable-mixed-chunk).
	Mixed bool
	// WholeRoom admits a request only if all of its prompt fits, not just the first chunk (scheduler_reserve_full_isl).
	WholeRoom bool
	// Ahead schedules a step when the previous one begins, without knowing its outcome (asynchronous scheduling).
	Ahead bool
	// Promise admits a request only if its longest answer will fit (GUARANTEED_NO_EVICT).
	Promise bool
	// Reserve returns the number of rows that a request occupies from admission to end, contiguously; nil if rows are
	// allocated on demand.
	Reserve func(*workload.Request) int64
	// Ranked serves lower priority numbers first, and preempts the lowest priority.
	Ranked bool
	// MaxWaiting is the maximum queue length, beyond which requests are refused; 0 for unbounded.
	MaxWaiting int
	// MaxAdapters is the maximum number of adapters among running sequences; 0 for unbounded.
	MaxAdapters int64
	// Group identifies replicas that share experts and step together: those with the same number, separately for prefill
	// and decode. They do not schedule ahead. 0 means none.
	Group int
	// Handover returns the seconds to transfer a prompt's cache from its prefill worker.
	Handover func(prompt int64) float64
	// Speculation configures speculative decoding; nil for none.
	Speculation *Speculation
	// SlotTokens is the fixed space per sequence slot, used or not; 0 if nothing is set aside.
	SlotTokens int64
	// From and Until delimit the time in which a replica receives requests, for fleets that scale; Until 0 means
	// forever. It finishes what it received.
	From, Until time.Duration
	// Front returns the seconds before the scheduler sees a request.
	Front func(prompt int64) float64
}

// Policy schedules steps.
type Policy interface {
	// compose schedules a step that begins at start; it returns false if there is nothing to compute.
	compose(s *server, st *step, now, start time.Duration) bool
}

// Inflight is the policy of vLLM, TensorRT-LLM, llama-server and Orca.
var Inflight Policy = inflight{}

// Outcome is how a request ended.
type Outcome uint8

const (
	Finished Outcome = iota
	Failed           // did not fit although nothing else ran
	Refused          // can never be served
	HungUp           // client gave up
)

// Limit is what the first waiting request waits for.
type Limit uint8

const (
	Nothing  Limit = iota
	Room           // space in the KV cache
	Seats          // maximum number of sequences
	Budget         // tokens of a step: compute
	Adapters       // adapters of a step
)

// Done is a completed request.
type Done struct {
	*workload.Request
	Replica                     int
	Ready, Admitted, First, End time.Duration // since the start; First is 0 if no token was generated
	Generated, Cached           int64         // in tokens; Cached is of the prompt
	Preempted                   int
	Outcome                     Outcome
}

// Step is a batch and the number of times it runs in a row.
type Step struct {
	Replica          int
	Start, End       time.Duration
	Times            int64
	Batch            speed.Batch
	Waiting, Running int64
	KV               float64 // share of the cache in use
}
