package sim

import (
	"testing"
	"time"

	"github.com/memwall/memwall/workload"
)

// turnsOf are requests that begin with one of some long prefixes, one after the other.
func turnsOf(prefixes, requests int) *list {
	out := &list{}
	for i := range requests {
		id := uint64(1 + i%prefixes)
		*out = append(*out, workload.Request{ID: int64(i), Arrival: time.Duration(i) * 10 * time.Second, Prompt: 4100, Output: 2,
			Spans: []workload.Span{{ID: id, Tokens: 4000}}})
	}
	return out
}

// TestTier: prefixes that do not find room together are brought back from below, in the time that this takes, where they
// would be computed again without.
func TestTier(t *testing.T) {
	const fetch = 50 * time.Millisecond
	r := replica()
	r.Blocks, r.Ahead = 600, false // two prefixes of 250 rows, not three
	without := play(t, r, turnsOf(3, 30), Options{})
	if without.Cached > 27*4000/2 {
		t.Fatalf("%d tokens were cached where there was hardly room for them", without.Cached)
	}
	r.Tier = &Tier{Rows: 1000, Fetch: func(int64) float64 { return fetch.Seconds() }}
	with := play(t, r, turnsOf(3, 30), Options{})
	if want := int64(27 * 4000); with.Cached != want {
		t.Errorf("%d tokens of prompts came from a cache, want %d", with.Cached, want)
	}
	if gain := without.First.Quantile(0.5) - with.First.Quantile(0.5); gain <= 0 || with.First.Quantile(0.5) < fetch {
		t.Errorf("first token after %v with a tier that takes %v, %v without", with.First.Quantile(0.5), fetch, without.First.Quantile(0.5))
	}
	r.Tier.Rows = 100
	if small := play(t, r, turnsOf(3, 30), Options{}); small.Cached >= with.Cached {
		t.Errorf("a tier of 100 rows gave %d tokens, one of 1,000 %d", small.Cached, with.Cached)
	}
}
