package vllm

import (
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/search"
	"github.com/memwall/memwall/unit"
)

// Pages computes pool sizes under a plan from any given pool, such as one from a log.
type Pages struct{ s *sizer }

// PagesOf returns the Pages of a Sizer of this package; ok is false for another engine's.
func PagesOf(z engine.Sizer) (p Pages, ok bool) {
	s, ok := z.(*sizer)
	return Pages{s}, ok
}

// Blocks returns the blocks that a pool of the given size holds on every rank: the minimum over ranks.
func (p Pages) Blocks(pool unit.Bytes) int64 {
	least := p.s.ranks[0].g.blocks(pool)
	for i := range p.s.ranks {
		least = min(least, p.s.ranks[i].g.blocks(pool))
	}
	return least
}

// Tokens returns "GPU KV cache size" for a number of blocks.
func (p Pages) Tokens(blocks int64, l engine.Load) int64 {
	return p.s.poolTokens(p.groups(), blocks, l)
}

// Concurrency returns "Maximum concurrency" for a number of blocks.
func (p Pages) Concurrency(blocks int64, l engine.Load) float64 {
	return p.s.concurrency(p.groups(), blocks, l)
}

// BlocksOf returns the range of blocks that print as the given tokens.
func (p Pages) BlocksOf(tokens int64) (low, high int64) {
	g := p.groups()
	if g.total() == 0 || g.block == 0 {
		return 0, 0
	}
	low = unit.CeilDiv(tokens, g.block) * g.total()
	return low, low + g.total() - 1
}

// ByConcurrency reports whether the printed tokens are concurrency times length, and so carry no further information.
func (p Pages) ByConcurrency() bool { return p.s.job.Version.AtLeast(tokensByConcurrency) }

// Needed returns the bytes of the pool that one request of a length takes.
func (p Pages) Needed(length int64) unit.Bytes {
	g := p.groups()
	if g.total() == 0 {
		return 0
	}
	return unit.Bytes(g.perRequest(length, p.s.inFlight())*g.size) * g.page()
}

// Longest returns "estimated maximum model length": the longest request, up to most, that a pool holds.
func (p Pages) Longest(pool unit.Bytes, most int64) int64 {
	return search.Largest(0, most, 0, func(n int64) bool { return p.Needed(n) <= pool })
}

// groups returns those of the first rank; all ranks form the same.
func (p Pages) groups() *groups { return &p.s.ranks[0].g }
