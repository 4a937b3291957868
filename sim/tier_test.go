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

// TestTwoTiers: what the nearer tier has no room for is brought back from the one below it, each in its own time, and nothing is
// in both.
func TestTwoTiers(t *testing.T) {
	r := replica()
	r.Blocks, r.Ahead = 600, false // two prefixes of 250 rows of four
	perRow := func(seconds float64) func(int64) float64 {
		return func(rows int64) float64 { return seconds * float64(rows) }
	}
	near := &Tier{Rows: 260, Fetch: perRow(1e-4)}
	r.Tier = near
	alone := play(t, r, turnsOf(4, 40), Options{})
	r.Tier = &Tier{Rows: 260, Fetch: near.Fetch, Below: &Tier{Rows: 1000, Fetch: perRow(1e-3)}}
	both := play(t, r, turnsOf(4, 40), Options{})
	if want := int64(36 * 4000); both.Cached != want || alone.Cached >= want {
		t.Errorf("%d tokens of prompts came from a cache with two tiers, want %d; %d with one", both.Cached, want, alone.Cached)
	}
	if f := both.FromTiers; f[0]+f[1] > both.Cached || f[1] == 0 || alone.FromTiers[1] != 0 {
		t.Errorf("%v tokens from the tiers of %d cached; %v with one", f, both.Cached, alone.FromTiers)
	}
	r.Tier = &Tier{Rows: 1, Fetch: near.Fetch, Below: near.Below}
	for range 2 * mostTiers {
		r.Tier = &Tier{Rows: 1, Fetch: near.Fetch, Below: r.Tier}
	}
	if err := r.check(); err == nil {
		t.Error("five tiers were played")
	}
}
