package snapshot

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/memwall/memwall/lifetime"
)

// Setting is the most that the allocator would have reserved for the same requests under other settings. As is the
// replay with the recorded settings: its difference from the recording indicates the accuracy of the replays.
type Setting struct {
	Conf     string `json:"conf"` // "" for as recorded
	Reserved int64  `json:"reserved_peak_bytes"`
	Saves    int64  `json:"saves_bytes"` // compared to the replay as recorded
}

// mostPlayed is the longest recording that is replayed.
const mostPlayed = 2_000_000

// otherSettings replays the recording with the settings known to reduce fragmentation
// (docs.pytorch.org/docs/stable/notes/cuda.html).
func (r *replay) otherSettings() (out []Setting) {
	if r.events == 0 || r.events > mostPlayed {
		return nil
	}
	recorded := layoutRules{split: math.MaxInt64, expandable: r.Settings.Expandable}
	if r.Settings.MaxSplit > 0 {
		recorded.split = r.Settings.MaxSplit
	}
	was := r.reserves(recorded)
	out = append(out, Setting{Reserved: was})
	if !recorded.expandable {
		n := r.reserves(layoutRules{split: math.MaxInt64, expandable: true})
		out = append(out, Setting{"expandable_segments:True", n, was - n})
		for _, mib := range []int64{128, 512} {
			n := r.reserves(layoutRules{split: mib << 20})
			out = append(out, Setting{fmt.Sprintf("max_split_size_mb:%d", mib), n, was - n})
		}
	}
	return out
}

// layoutRules are an allocator's settings.
type layoutRules struct {
	split      int64 // blocks from this size on are not split
	expandable bool
}

// Sizes of CUDACachingAllocator (c10/cuda/CUDACachingAllocator.h).
const (
	smallSize   = 1 << 20
	smallBuffer = 2 << 20
	largeBuffer = 20 << 20
)

// pool serves requests of one kind and stream.
type pool struct {
	free []*chunk // by size, then address
	tail *chunk   // last piece of an expandable segment
	next int64    // address of its end
}

// chunk is a block, linked to its neighbours in the segment.
type chunk struct {
	at, size   int64
	used       bool
	prev, next *chunk
	of         *pool
}

type poolKey struct {
	stream int64
	small  bool
}

// allocator simulates PyTorch's allocator.
type allocator struct {
	rules          layoutRules
	pools          map[poolKey]*pool
	order          []*pool
	reserved, most int64
	top            int64 // address of the next segment
}

// reserves returns the most that an allocator reserves for the recorded requests.
func (r *replay) reserves(rules layoutRules) int64 {
	a := &allocator{rules: rules, pools: map[poolKey]*pool{}}
	live := map[int64]*chunk{}
	older := slices.Clone(r.older)
	slices.SortFunc(older, func(x, y life) int { return cmp.Compare(x.address, y.address) })
	for i := range older {
		live[older[i].address] = a.alloc(older[i].size, 0)
	}
	emptied := -2
	r.tape.each(r.of, func(i int, e *event) {
		switch e.action {
		case alloc:
			if p := live[e.address]; p != nil {
				a.release(p)
			}
			live[e.address] = a.alloc(tensorBytes(e.size), e.stream)
		case freeCompleted:
			if p := live[e.address]; p != nil {
				a.release(p)
				delete(live, e.address)
			}
		case segmentFree, segmentUnmap:
			if i != emptied+1 { // the first of an empty_cache call
				a.empty()
			}
			emptied = i
		}
	})
	return a.most
}

func (a *allocator) pool(size, stream int64) *pool {
	k := poolKey{stream, size <= smallSize}
	p := a.pools[k]
	if p == nil {
		p = &pool{}
		a.pools[k], a.order = p, append(a.order, p)
	}
	return p
}

// alloc returns the smallest free block that fits, or reserves more memory.
func (a *allocator) alloc(size, stream int64) *chunk {
	p := a.pool(size, stream)
	b := a.fitting(p, size)
	if b == nil {
		b = a.more(p, size)
	}
	b.used = true
	if a.splits(size, b.size-size) {
		rest := &chunk{at: b.at + size, size: b.size - size, prev: b, next: b.next, of: p}
		if b.next != nil {
			b.next.prev = rest
		}
		if p.tail == b {
			p.tail = rest
		}
		b.next, b.size = rest, size
		p.put(rest)
	}
	return b
}

// splits is should_split: whether the remainder of a block is split off.
func (a *allocator) splits(size, rest int64) bool {
	switch {
	case rest <= 0:
		return false
	case size <= smallSize, a.rules.expandable:
		return true // in multiples of 512, any remainder is at least 512
	}
	return size < a.rules.split && rest > smallSize
}

// fitting removes and returns the best free block of the pool; nil if none fits.
func (a *allocator) fitting(p *pool, size int64) *chunk {
	i, _ := slices.BinarySearchFunc(p.free, size, func(b *chunk, n int64) int { return cmp.Compare(b.size, n) })
	if i == len(p.free) {
		return nil
	}
	b := p.free[i]
	if size <= smallSize || a.rules.split == math.MaxInt64 ||
		(size >= a.rules.split || b.size < a.rules.split) && (size < a.rules.split || b.size < size+largeBuffer) {
		p.free = slices.Delete(p.free, i, i+1)
		return b
	}
	return nil
}

// more reserves memory for a request.
func (a *allocator) more(p *pool, size int64) *chunk {
	if a.rules.expandable {
		return a.expand(p, size)
	}
	n := lifetime.TorchSegment(size)
	b := &chunk{at: a.top, size: n, of: p}
	a.top += n + largeBuffer // segments are not adjacent
	a.grow(n)
	return b
}

func (a *allocator) grow(n int64) {
	a.reserved += n
	a.most = max(a.most, a.reserved)
}

// expand maps what is missing after the last block, in pieces of 2 or 20 MiB.
func (a *allocator) expand(p *pool, size int64) *chunk {
	page := int64(largeBuffer)
	if size <= smallSize {
		page = smallBuffer
	}
	have := int64(0)
	if p.tail != nil && !p.tail.used {
		have = p.tail.size
	}
	n := (size - have + page - 1) / page * page
	a.grow(n)
	if have > 0 {
		p.take(p.tail)
		p.tail.size += n
		p.next += n
		return p.tail
	}
	b := &chunk{at: p.next, size: n, prev: p.tail, of: p}
	if p.tail != nil {
		p.tail.next = b
	}
	p.tail, p.next = b, p.next+n
	return b
}

// place returns the index of a free block, or where to insert it.
func (p *pool) place(b *chunk) int {
	i, _ := slices.BinarySearchFunc(p.free, b, func(x,
		y *chunk) int {
		return cmp.Or(cmp.Compare(x.size, y.size), cmp.Compare(x.at, y.at))
	})
	return i
}

func (p *pool) put(b *chunk) { p.free = slices.Insert(p.free, p.place(b), b) }

func (p *pool) take(b *chunk) {
	if i := p.place(b); i < len(p.free) && p.free[i] == b {
		p.free = slices.Delete(p.free, i, i+1)
	}
}

// release frees a block and merges it with free neighbours.
func (a *allocator) release(b *chunk) {
	p := b.of
	b.used = false
	if n := b.next; n != nil && !n.used {
		p.take(n)
		a.join(b, n)
	}
	if before := b.prev; before != nil && !before.used {
		p.take(before)
		a.join(before, b)
		b = before
	}
	p.put(b)
}

// join merges two neighbours.
func (a *allocator) join(b, n *chunk) {
	b.size += n.size
	b.next = n.next
	if n.next != nil {
		n.next.prev = b
	}
	if b.of.tail == n {
		b.of.tail = b
	}
}

// empty releases unused segments. Expandable ones are unmapped page by page: all free bytes count.
func (a *allocator) empty() {
	for _, p := range a.order {
		if a.rules.expandable {
			if t := p.tail; t != nil && !t.used {
				p.take(t)
				a.reserved -= t.size
				p.tail, p.next = t.prev, p.next-t.size
				if t.prev != nil {
					t.prev.next = nil
				}
			}
			continue
		}
		p.free = slices.DeleteFunc(p.free, func(b *chunk) bool {
			whole := b.prev == nil && b.next == nil
			if whole {
				a.reserved -= b.size
			}
			return whole
		})
	}
}
