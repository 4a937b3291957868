package lifetime

import "slices"

// Greedy is ggml's graph allocator (ggml/src/ggml-alloc.c, v0.5.0): best fit among the free blocks, the later one on
// ties, the open end of the buffer only if no block fits; neighbours merge. The zero value is ready to use. It keeps
// its memory between replays and is not safe for concurrent use.
type Greedy struct {
	now   state
	peak  int64
	memos []memo
	used  int
}

// block is a range of the buffer.
type block struct{ at, size int64 }

// state is the free blocks, the last being the open end, and what each slot holds. live distinguishes a slot of zero
// bytes from an empty one.
type state struct {
	free  []block
	slots []held
}

type held struct {
	block
	live bool
}

// memo is a replayed segment: the state on entry and on exit.
type memo struct {
	segment       int16
	before, after state
}

const openEnd = int64(1) << 60

// Peak replays a program. Layers repeat: a segment entered in a state seen before is not replayed but leaves the same
// state as then, without any knowledge of which layers are alike.
func (g *Greedy) Peak(p *Program, sizes []int64) int64 {
	g.reset(p.Slots)
	for _, s := range p.Order {
		if m := g.recall(s); m != nil {
			g.now.copy(&m.after)
			continue
		}
		m := g.remember(s)
		g.run(p.Segments[s], sizes)
		m.after.copy(&g.now)
	}
	return g.peak
}

// PeakInFull replays every segment: the reference implementation of Peak.
func (g *Greedy) PeakInFull(p *Program, sizes []int64) int64 {
	g.reset(p.Slots)
	for _, s := range p.Order {
		g.run(p.Segments[s], sizes)
	}
	return g.peak
}

func (g *Greedy) reset(slots int) {
	g.peak, g.used = 0, 0
	g.now.free = append(g.now.free[:0], block{0, openEnd})
	g.now.slots = slices.Grow(g.now.slots[:0], slots)[:slots]
	clear(g.now.slots)
}

func (s *state) copy(o *state) {
	s.free = append(s.free[:0], o.free...)
	s.slots = append(s.slots[:0], o.slots...)
}

func (s *state) equal(o *state) bool {
	return slices.Equal(s.free, o.free) && slices.Equal(s.slots, o.slots)
}

func (g *Greedy) recall(segment int16) *memo {
	for i := range g.used {
		if m := &g.memos[i]; m.segment == segment && m.before.equal(&g.now) {
			return m
		}
	}
	return nil
}

func (g *Greedy) remember(segment int16) *memo {
	if g.used == len(g.memos) {
		g.memos = append(g.memos, memo{})
	}
	m := &g.memos[g.used]
	g.used++
	m.segment = segment
	m.before.copy(&g.now)
	return m
}

func (g *Greedy) run(events []Event, sizes []int64) {
	for _, e := range events {
		slot := &g.now.slots[e.Slot]
		switch e.Verb {
		case Alloc:
			*slot = held{g.place(sizes[e.Size]), true}
		case Free:
			g.release(slot.block)
			*slot = held{}
		case Trim:
			keep := sizes[e.Size]
			if tail := slot.size - keep; tail > 0 {
				g.release(block{slot.at + keep, tail})
			}
			slot.size = keep
		}
	}
}

// place allocates size bytes from the smallest free block that fits.
func (g *Greedy) place(size int64) block {
	free := g.now.free
	best := len(free) - 1
	for i, b := range free[:best] {
		if b.size >= size && (best == len(free)-1 || b.size <= free[best].size) {
			best = i
		}
	}
	got := block{free[best].at, size}
	free[best].at += size
	free[best].size -= size
	if free[best].size == 0 {
		g.now.free = slices.Delete(free, best, best+1)
	}
	g.peak = max(g.peak, got.at+size)
	return got
}

// release frees a block and merges it with adjacent free blocks, including blocks of zero bytes.
func (g *Greedy) release(b block) {
	free := g.now.free
	for i := range free {
		f := &free[i]
		switch {
		case f.at+f.size == b.at:
			f.size += b.size
			if i+1 < len(free) && f.at+f.size == free[i+1].at {
				f.size += free[i+1].size
				g.now.free = slices.Delete(free, i+1, i+2)
			}
			return
		case b.at+b.size == f.at:
			f.at, f.size = b.at, f.size+b.size
			if i > 0 && free[i-1].at+free[i-1].size == b.at {
				free[i-1].size += f.size
				g.now.free = slices.Delete(free, i, i+1)
			}
			return
		}
	}
	at := 0
	for at < len(free) && free[at].at < b.at {
		at++
	}
	g.now.free = slices.Insert(free, at, b)
}
