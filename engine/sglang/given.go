package sglang

import (
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/unit"
)

// Pools computes pool sizes under a plan from any given size, such as one from a log.
type Pools struct{ s *sizer }

// PoolsOf returns the Pools of a Sizer of this package; ok is false for another engine's.
func PoolsOf(z engine.Sizer) (p Pools, ok bool) {
	s, ok := z.(*sizer)
	return Pools{s}, ok
}

// Rest is what loading leaves for pools, in GiB: available after loading, less the share of what was
// available before that is kept free (model_runner.py, profile_max_num_token).
func (p Pools) Rest(before, after float64) float64 {
	f := share(p.s.job)
	if f == 0 {
		f = 1
	}
	return after - before*(1-f)
}

// Tokens is max_total_num_tokens for so many bytes: the fewest of any rank.
func (p Pools) Tokens(rest unit.Bytes) int64 {
	least := int64(-1)
	for i := range p.s.ranks {
		q := &p.s.ranks[i].pool
		_, cells := q.split(rest)
		if n, _ := q.tokens(cells); least < 0 || n < least {
			least = n
		}
	}
	return least
}

// Bytes is what the pool of so many tokens takes on the rank that takes most, with the page that only pads.
func (p Pools) Bytes(tokens int64) (b unit.Bytes) {
	for i := range p.s.ranks {
		q := &p.s.ranks[i].pool
		if len(q.sliding) == 0 {
			b = max(b, unit.Bytes(tokens+q.page)*perToken(q.full))
		}
	}
	return b
}

// Latent reports whether one buffer holds keys and values.
func (p Pools) Latent() bool { return p.s.ranks[0].pool.latent }
