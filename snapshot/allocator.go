package snapshot

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/memwall/memwall/lifetime"
)

// Setting is what the allocator would have reserved at most, had it played the same requests with other settings. As is the play with the
// recorded settings: its difference from what was recorded says how far the plays can be trusted.
type Setting struct {
	Conf     string `json:"conf"` // "" is as recorded
	Reserved int64  `json:"reserved_peak_bytes"`
	Saves    int64  `json:"saves_bytes"` // against the play as recorded
}

// mostPlayed bounds how long a record is played again.
const mostPlayed = 2_000_000

// otherSettings plays the record with the settings that are known against fragmentation (docs.pytorch.org/docs/stable/notes/cuda.html).
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

// layoutRules are the settings of an allocator.
type layoutRules struct {
	split      int64 // blocks of that size and more are not split
	expandable bool
}

// Sizes of CUDACachingAllocator (c10/cuda/CUDACachingAllocator.h).
const (
	smallSize   = 1 << 20
	smallBuffer = 2 << 20
	largeBuffer = 20 << 20
)

// pool is where requests of one kind and stream are served from.
type pool struct {
	free []*chunk // by size, then address
	tail *chunk   // of an expandable segment: its last piece
	next int64    // address of its end
}

// chunk is a block with its neighbours in the segment.
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

// allocator serves requests by the rules of PyTorch's.
type allocator struct {
	rules          layoutRules
	pools          map[poolKey]*pool
	order          []*pool
	reserved, most int64
	top            int64 // address of the next segment
}

// reserves is the most that an allocator reserves for the requests of a record.
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
			if i != emptied+1 { // the first of a call of empty_cache
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

// alloc takes the smallest free block that holds a request, or reserves more.
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

// splits is should_split: what is left of a block is kept apart.
func (a *allocator) splits(size, rest int64) bool {
	switch {
	case rest <= 0:
		return false
	case size <= smallSize, a.rules.expandable:
		return true // in steps of 512 all that is left is 512 or more
	}
	return size < a.rules.split && rest > smallSize
}

// fitting takes the best free block out of the pool; nil when none will do.
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

// more reserves what a request needs.
func (a *allocator) more(p *pool, size int64) *chunk {
	if a.rules.expandable {
		return a.expand(p, size)
	}
	n := lifetime.TorchSegment(size)
	b := &chunk{at: a.top, size: n, of: p}
	a.top += n + largeBuffer // segments are not neighbours
	a.grow(n)
	return b
}

func (a *allocator) grow(n int64) {
	a.reserved += n
	a.most = max(a.most, a.reserved)
}

// expand maps what is lacking behind the last block, in pieces of 2 or 20 MiB.
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

// place is where a free block stands, or would.
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

// release frees a block and joins it with free neighbours.
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

// join makes two neighbours one.
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

// empty gives back the segments of which nothing is used. Expandable ones are unmapped page by page: all free bytes count.
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
