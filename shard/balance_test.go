package shard_test

import (
	"math"
	"testing"

	"github.com/memwall/memwall/shard"
)

func zipf(n int, s float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.Pow(float64(i+1), -s)
	}
	return out
}

func TestBusiest(t *testing.T) {
	for _, c := range []struct {
		name          string
		loads         []float64
		copies, ranks int64
		want          float64
		placed        bool
	}{
		{"even", zipf(256, 0), 0, 32, 1, true},
		{"even, with copies of some", zipf(8, 0), 4, 4, 1, true},
		{"in order: the first rank has the heaviest", []float64{4, 2, 1, 1}, 0, 2, 1.5, true},
		{"a copy of the heaviest, packed", []float64{4, 2, 1, 1}, 2, 2, 13.0 / 12, true},
		{"slots do not go over the ranks", zipf(256, 1), 1, 72, 1, false},
		{"no rank", zipf(4, 1), 0, 0, 1, false},
		{"no expert", nil, 0, 8, 1, false},
	} {
		got, placed := shard.Busiest(c.loads, c.copies, c.ranks)
		if placed != c.placed || math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, %v, want %v, %v", c.name, got, placed, c.want, c.placed)
		}
	}
}

// TestBalanceLaws: nobody is busier than all together, nor less than the mean; copies that are placed by load are no worse than experts in
// their order; and no rank can be busier than what its heaviest slot makes of it at the least.
func TestBalanceLaws(t *testing.T) {
	for _, ranks := range []int64{8, 16, 32, 72} {
		for _, s := range []float64{0, 0.3, 0.6, 1, 1.5} {
			loads := zipf(256, s)
			copies := (ranks-256%ranks)%ranks + ranks
			with, ok := shard.Busiest(loads, copies, ranks)
			if !ok || with < 1-1e-9 || with > float64(ranks) {
				t.Errorf("%d ranks, zipf %v: %v", ranks, s, with)
			}
			if plain, ok := shard.Busiest(loads, 0, ranks); ok && with > plain+1e-9 {
				t.Errorf("%d ranks, zipf %v: %v with copies, %v without", ranks, s, with, plain)
			}
		}
	}
}
