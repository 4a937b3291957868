package sim

import (
	"testing"
	"time"
)

// pair are two replicas in turn, each with room for two prefixes of 250 rows.
func pair(store *Store) *Fleet {
	r := replica()
	r.Blocks, r.Ahead = 600, false
	return &Fleet{Replicas: []Replica{r, r}, Router: RoundRobin(), Store: store}
}

// TestStoreIsShared: what one replica computed the other reads, in the time that this takes; a store without room keeps nothing.
func TestStoreIsShared(t *testing.T) {
	const fetch = 50 * time.Millisecond
	run := func(s *Store) *Result {
		r, err := Run(pair(s), turnsOf(3, 30), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	seconds := func(int64) float64 { return fetch.Seconds() }
	without, with := run(nil), run(&Store{Fetch: seconds})
	if want := int64(27 * 4000); with.Cached != want || without.Cached >= want {
		t.Errorf("%d tokens came from a cache, want %d; %d without a store", with.Cached, want, without.Cached)
	}
	if with.FromTiers[InStore] == 0 || with.FromTiers[0] != 0 || without.FromTiers[InStore] != 0 {
		t.Errorf("from tiers %v, without a store %v", with.FromTiers, without.FromTiers)
	}
	if q := with.First.Quantile(0.5); q < fetch || q >= without.First.Quantile(0.5) {
		t.Errorf("first token after %v with a store that takes %v, %v without", q, fetch, without.First.Quantile(0.5))
	}
	if small := run(&Store{Rows: 100, Fetch: seconds}); small.Cached >= with.Cached {
		t.Errorf("a store of 100 rows gave %d tokens, one without bound %d", small.Cached, with.Cached)
	}
	if twice := run(&Store{Fetch: seconds, Hits: 2}); twice.FromTiers[InStore] >= with.FromTiers[InStore] || twice.FromTiers[InStore] == 0 {
		t.Errorf("written at the second request %v, at the first %v", twice.FromTiers, with.FromTiers)
	}
}

// TestTierByHits: rows that one request alone began with are lost; the tier has the others, those on the device too.
func TestTierByHits(t *testing.T) {
	r := replica()
	r.Blocks, r.Ahead = 600, false
	tier := func(hits int32, src *list) *Result {
		r.Tier = &Tier{Rows: 1000, Hits: hits, Fetch: func(int64) float64 { return 0.01 }}
		return play(t, r, src, Options{})
	}
	once, every := tier(2, turnsOf(3, 30)), tier(0, turnsOf(3, 30))
	if once.FromTiers[0] >= every.FromTiers[0] {
		t.Errorf("%v tokens of what was hardly asked for again in time, %v of a tier for all", once.FromTiers, every.FromTiers)
	}
	twice := func() *list {
		out := turnsOf(3, 60)
		for i := range *out {
			(*out)[i].Spans[0].ID = uint64(1 + i/2%3)
		}
		return out
	}
	all, often := tier(0, twice()), tier(2, twice())
	if often.FromTiers[0] == 0 || often.FromTiers[0] > all.FromTiers[0] || often.Cached > all.Cached {
		t.Errorf("%v tokens by hits, %v of a tier for all", often.FromTiers, all.FromTiers)
	}
}
