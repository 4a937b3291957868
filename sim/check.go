package sim

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/memwall/memwall/workload"
)

// Limits of a replica, so that sums of blocks fit in an int64 and window rows in memory.
const (
	mostBlocks      = 1 << 40
	mostBlockTokens = 1 << 20
	mostOfRow       = 1 << 20 // groups, rows of a window, states
	mostTokens      = 1 << 40 // per step
)

// longestStep is the longest duration that a Timer may return.
const longestStep = 1e8

func (f *Fleet) check() error {
	if len(f.Replicas) == 0 {
		return errors.New("no replica")
	}
	if f.Router == nil {
		return errors.New("no router")
	}
	if len(f.Prefills) > 0 && slices.ContainsFunc(f.Replicas, func(r Replica) bool { return r.Policy == Static }) {
		return errors.New("static batches compute their prompts themselves, not on servers of their own")
	}
	for i, r := range slices.Concat(f.Replicas, f.Prefills) {
		if err := r.check(); err != nil {
			return fmt.Errorf("replica %d: %w", i, err)
		}
	}
	return nil
}

func (r *Replica) check() error {
	switch {
	case r.Timer == nil || r.Policy == nil:
		return errors.New("no clock or no rules")
	case r.MaxSequences < 1:
		return fmt.Errorf("%d sequences at once", r.MaxSequences)
	case r.Budget < r.MaxSequences || r.Budget > mostTokens:
		return fmt.Errorf("a step of %d tokens has no room for one of each of %d sequences, or for more than there are", r.Budget,
			r.MaxSequences)
	case r.LongPrompt < 0 || r.MaxLength < 0 || r.MaxWaiting < 0 || r.MaxAdapters < 0 || r.SlotTokens < 0:
		return fmt.Errorf("a bound below zero: %d tokens of a prompt in a step, %d of a request, %d who wait, %d adapters, %d tokens "+
			"of a seat",
			r.LongPrompt, r.MaxLength, r.MaxWaiting, r.MaxAdapters, r.SlotTokens)
	case r.From < 0 || r.Until < 0 || r.Until > 0 && r.Until <= r.From:
		return fmt.Errorf("it serves from %v until %v", r.From, r.Until)
	case r.Reserve != nil && r.PrefixCache:
		return errors.New("rows in one piece cannot be shared: no prefix cache where rows are reserved")
	}
	if s := r.Speculation; s != nil && !s.possible() {
		return fmt.Errorf("drafts of %d tokens of which %v are accepted, with %d held", s.Tokens, s.Accepted, s.Slots)
	}
	tiers := r.Tier.tiers()
	for _, t := range tiers {
		if t.Rows < 1 || t.Fetch == nil {
			return fmt.Errorf("a tier for %d rows", t.Rows)
		}
	}
	if len(tiers) > mostTiers {
		return fmt.Errorf("%d tiers below the cache: at most %d", len(tiers), mostTiers)
	}
	return r.Paging.check()
}

func (s *Speculation) possible() bool {
	return s.Tokens >= 0 && s.Tokens <= mostOfRow && s.Slots >= 0 && s.Slots <= mostBlockTokens && int64(len(s.Accepted)) <= s.Tokens &&
		falling(s.Accepted)
}

func (p *Paging) check() error {
	switch {
	case p.Blocks < 1 || p.Blocks > mostBlocks || p.BlockTokens < 1 || p.BlockTokens > mostBlockTokens:
		return fmt.Errorf("a KV cache of %d blocks of %d tokens", p.Blocks, p.BlockTokens)
	case p.Full == 0 && (p.PrefixCache || p.Window+p.Fixed == 0) || !among(p.Full) || !among(p.Window) || !among(p.Rows) || !among(p.Fixed):
		return fmt.Errorf("a row of %d blocks, windows of %d groups and %d rows, states of %d blocks", p.Full, p.Window, p.Rows, p.Fixed)
	}
	return nil
}

func among(n int64) bool { return n >= 0 && n <= mostOfRow }

// follows checks a request of a source and that it is not earlier than the previous one.
func follows(r *workload.Request, last time.Duration) error {
	switch {
	case r.Prompt < 1 || r.Output < 1 || r.Prompt > 2*workload.MaxTokens || r.Output > workload.MaxTokens:
		return fmt.Errorf("request %d has a prompt of %d tokens and an answer of %d", r.ID, r.Prompt, r.Output)
	case r.Arrival < last || r.Arrival > never/4:
		return fmt.Errorf("request %d arrives at %v, after one that arrives at %v", r.ID, r.Arrival, last)
	}
	left := r.Prompt
	for _, s := range r.Spans {
		if left -= s.Tokens; s.Tokens < 1 || left < 0 {
			return fmt.Errorf("request %d begins with spans that are empty or longer than its prompt of %d tokens", r.ID, r.Prompt)
		}
	}
	return nil
}

// span converts a duration returned by a caller's function; an invalid one fails the run.
func (m *meter) span(seconds float64, least time.Duration, what string) time.Duration {
	if !(seconds >= 0 && seconds <= longestStep) || seconds == 0 && least > 0 {
		m.fail(fmt.Errorf("%s of %v seconds", what, seconds))
		return least
	}
	return max(least, time.Duration(math.Round(1e9*seconds)))
}

// fail ends a run with its first error.
func (m *meter) fail(err error) {
	if m.fault == nil {
		m.fault = err
	}
}

// falling reports whether probabilities are non-increasing.
func falling(chances []float64) bool {
	last := 1.0
	for _, p := range chances {
		if !(p >= 0 && p <= last) {
			return false
		}
		last = p
	}
	return true
}
