package lifetime

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// gaps is the slow twin of Greedy: it keeps what lives, sorted by address, and looks for room between. The
// two agree unless blocks of no bytes are freed in the middle of others.
type gaps struct {
	live map[int16]block
	peak int64
}

func (g *gaps) room(size int64) int64 {
	var blocks []block
	for _, b := range g.live {
		if b.size > 0 {
			blocks = append(blocks, b)
		}
	}
	slices.SortFunc(blocks, func(a, b block) int { return int(a.at - b.at) })
	at, best, end := int64(-1), int64(1)<<62, int64(0)
	for _, b := range blocks {
		if gap := b.at - end; gap > 0 && gap >= size && gap <= best {
			at, best = end, gap
		}
		end = b.at + b.size
	}
	if at < 0 {
		return end
	}
	return at
}

func (g *gaps) run(p *Program, sizes []int64) int64 {
	g.live = map[int16]block{}
	for _, s := range p.Order {
		for _, e := range p.Segments[s] {
			switch e.Verb {
			case Alloc:
				b := block{g.room(sizes[e.Size]), sizes[e.Size]}
				g.live[e.Slot] = b
				g.peak = max(g.peak, b.at+b.size)
			case Free:
				delete(g.live, e.Slot)
			case Trim:
				g.live[e.Slot] = block{g.live[e.Slot].at, sizes[e.Size]}
			}
		}
	}
	return g.peak
}

// random gives a program of balanced segments over a few sizes, in an order that repeats some.
func random(r *rand.Rand) (*Program, []int64) {
	sizes := make([]int64, 2+r.IntN(6))
	for i := range sizes {
		sizes[i] = int64(1+r.IntN(9)) * 32
	}
	slices.Sort(sizes)
	p := &Program{Slots: 12}
	for range 1 + r.IntN(3) {
		var events []Event
		held := map[int16]int16{}
		for range r.IntN(40) {
			slot := int16(r.IntN(p.Slots))
			size, used := held[slot]
			switch {
			case !used:
				held[slot] = int16(r.IntN(len(sizes)))
				events = append(events, Event{Alloc, slot, held[slot]})
			case r.IntN(4) == 0:
				held[slot] = int16(r.IntN(int(size) + 1))
				events = append(events, Event{Trim, slot, held[slot]})
			default:
				delete(held, slot)
				events = append(events, Event{Free, slot, 0})
			}
		}
		for slot := range int16(p.Slots) {
			if _, used := held[slot]; used {
				events = append(events, Event{Free, slot, 0})
			}
		}
		p.Segments = append(p.Segments, events)
	}
	for range 1 + r.IntN(8) {
		p.Order = append(p.Order, int16(r.IntN(len(p.Segments))))
	}
	return p, sizes
}

// TestGreedyTwin: placing among merged free blocks is placing in the gaps between live ones; recalling a
// segment is running it; no placement needs less than what lives.
func TestGreedyTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var g Greedy
	for i := range 3000 {
		p, sizes := random(r)
		var slow gaps
		want := slow.run(p, sizes)
		if got := g.Peak(p, sizes); got != want {
			t.Fatalf("program %d: peak %d, in gaps %d: %v %v", i, got, want, p, sizes)
		}
		if got := g.PeakInFull(p, sizes); got != want {
			t.Fatalf("program %d: peak %d in full, in gaps %d", i, got, want)
		}
		if live := Logical(p, sizes); live > want {
			t.Fatalf("program %d: %d bytes live, %d placed", i, live, want)
		}
	}
}

// TestGreedyRules: one rule of the allocator each (ggml/src/ggml-alloc.c, v0.5.0).
func TestGreedyRules(t *testing.T) {
	alloc := func(slot, size int16) Event { return Event{Alloc, slot, size} }
	free := func(slot int16) Event { return Event{Verb: Free, Slot: slot} }
	sizes := []int64{0, 10, 20, 30, 40, 50}
	for _, c := range []struct {
		rule   string
		events []Event
		want   int64
	}{
		{"side by side", []Event{alloc(0, 1), alloc(1, 2)}, 30},
		{"a freed block is taken again", []Event{alloc(0, 3), alloc(1, 1), free(0), alloc(2, 3)}, 40},
		{"a block that is too small is not", []Event{alloc(0, 1), alloc(1, 1), free(0), alloc(2, 2)}, 40},
		{"the smallest block that fits", []Event{alloc(0, 4), alloc(1, 1), alloc(2, 2), alloc(3, 1), free(0), free(2), alloc(4, 2),
			alloc(5, 4)}, 80},
		{"the later of two alike", []Event{alloc(0, 2), alloc(1, 1), alloc(2, 2), alloc(3, 1), free(0), free(2), alloc(4, 1), free(1),
			alloc(5, 3)}, 60},
		{"neighbours merge", []Event{alloc(0, 2), alloc(1, 2), alloc(2, 1), free(0), free(1), alloc(3, 4)}, 50},
		{"a closed gap merges both sides", []Event{alloc(0, 1), alloc(1, 1), alloc(2, 1), alloc(3, 1), free(0), free(2), free(1),
			alloc(4, 3)}, 40},
		{"what borders on the open end joins it", []Event{alloc(0, 1), alloc(1, 2), free(1), alloc(2, 4)}, 50},
		{"a trimmed tail is room", []Event{alloc(0, 4), alloc(1, 1), {Trim, 0, 2}, alloc(2, 2)}, 50},
		{"no bytes take no room", []Event{alloc(0, 0), alloc(1, 1), free(0), alloc(2, 0), free(1), alloc(3, 2)}, 20},
	} {
		p := &Program{Segments: [][]Event{c.events}, Order: []int16{0}, Slots: 6}
		var g Greedy
		if got := g.Peak(p, sizes); got != c.want {
			t.Errorf("%s: %d, want %d", c.rule, got, c.want)
		}
	}
}

// TestReplayKeepsMemory: replays allocate nothing once a Greedy is warm.
func TestReplayKeepsMemory(t *testing.T) {
	p, sizes := random(rand.New(rand.NewPCG(5, 6)))
	var g Greedy
	g.Peak(p, sizes)
	if n := testing.AllocsPerRun(100, func() { g.Peak(p, sizes) }); n > 0 {
		t.Errorf("%g allocations a replay", n)
	}
}

// FuzzGreedy: TestGreedyTwin for any seed.
func FuzzGreedy(f *testing.F) {
	f.Add(uint64(3), uint64(4))
	f.Fuzz(func(t *testing.T, a, b uint64) {
		p, sizes := random(rand.New(rand.NewPCG(a, b)))
		var g Greedy
		var slow gaps
		if got, want := g.Peak(p, sizes), slow.run(p, sizes); got != want || Logical(p, sizes) > got {
			t.Errorf("peak %d, in gaps %d, %d live", got, want, Logical(p, sizes))
		}
	})
}
