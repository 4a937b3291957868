package vllm

import "github.com/memwall/memwall/unit"

// caching is torch's CUDA caching allocator for blocks of more than 1 MiB
// (c10/cuda/CUDACachingAllocator.cpp): a block comes from the smallest free piece that holds it, else from a
// new segment; what is left of a piece is split off only when it is more than 1 MiB, and counts as allocated
// otherwise. Smaller blocks lose nothing but the rounding to 512 bytes.
type caching struct {
	free                []piece
	segments            int
	allocated, reserved unit.Bytes
}

// piece is a run of a segment.
type piece struct {
	segment  int
	at, size unit.Bytes
}

const (
	blockRound   = 512           // kMinBlockSize
	smallBlock   = unit.MiB      // kSmallSize
	midSegment   = 20 * unit.MiB // kLargeBuffer
	ownSegment   = 10 * unit.MiB // kMinLargeAlloc: from here a block has a segment of its own
	segmentRound = 2 * unit.MiB  // kRoundLarge
)

func rounded(b unit.Bytes) unit.Bytes { return unit.Bytes(unit.PadUp(int64(b), blockRound)) }

// take allocates a block of a multiple of 512 bytes, more than 1 MiB.
func (c *caching) take(b unit.Bytes) piece {
	p := c.best(b)
	if rest := p.size - b; rest > smallBlock {
		c.free = append(c.free, piece{p.segment, p.at + b, rest})
		p.size = b
	}
	c.allocated += p.size
	return p
}

// best returns the smallest free piece that holds b, the earliest on a tie, or a new segment.
func (c *caching) best(b unit.Bytes) piece {
	found := -1
	for i := range c.free {
		if f := &c.free[i]; f.size >= b && (found < 0 || f.before(&c.free[found])) {
			found = i
		}
	}
	if found >= 0 {
		p := c.free[found]
		c.remove(found)
		return p
	}
	size := midSegment
	if b >= ownSegment {
		size = unit.Bytes(unit.PadUp(int64(b), int64(segmentRound)))
	}
	c.segments++
	c.reserved += size
	return piece{segment: c.segments, size: size}
}

func (p *piece) before(o *piece) bool {
	if p.size != o.size {
		return p.size < o.size
	}
	return p.segment < o.segment || p.segment == o.segment && p.at < o.at
}

func (c *caching) remove(i int) {
	last := len(c.free) - 1
	c.free[i] = c.free[last]
	c.free = c.free[:last]
}

// give frees a block, merging it with free neighbors.
func (c *caching) give(p piece) {
	c.allocated -= p.size
	for i := 0; i < len(c.free); {
		f := c.free[i]
		switch {
		case f.segment == p.segment && f.at+f.size == p.at:
			p.at, p.size = f.at, p.size+f.size
		case f.segment == p.segment && p.at+p.size == f.at:
			p.size += f.size
		default:
			i++
			continue
		}
		c.remove(i)
	}
	c.free = append(c.free, p)
}
