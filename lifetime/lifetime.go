// Package lifetime computes peak memory from allocations and frees, for the graphs of llama.cpp, the profile run of a
// server and the phases of a training step.
//
// A Program is a sequence of events on slots; sizes are given at replay, so that one program serves every batch and
// context. Logical sums live bytes; Greedy places them like ggml's graph allocator, including fragmentation. See
// greedy.go for the allocator.
package lifetime

// Verb is what an event does to a slot.
type Verb uint8

const (
	// Alloc allocates Size bytes in the slot.
	Alloc Verb = iota
	// Free frees the slot.
	Free
	// Trim shrinks the slot to Size bytes.
	Trim
)

// Event acts on a slot. Size is an index into the table of sizes.
type Event struct {
	Verb Verb
	Slot int16
	Size int16
}

// Program is a sequence of segments of events. Equal segments are stored once.
type Program struct {
	Segments [][]Event
	Order    []int16
	Slots    int
}

// Logical returns the peak of live bytes, ignoring placement.
func Logical(p *Program, sizes []int64) (peak int64) {
	live := make([]int64, p.Slots)
	var now int64
	for _, s := range p.Order {
		for _, e := range p.Segments[s] {
			size := int64(0)
			if e.Verb != Free {
				size = sizes[e.Size]
			}
			now += size - live[e.Slot]
			live[e.Slot] = size
			peak = max(peak, now)
		}
	}
	return peak
}
