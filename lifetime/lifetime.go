// Package lifetime turns allocations and frees into a peak: one engine for the graphs of llama.cpp, the
// profile run of a server and the phases of a training step.
//
// A Program is a sequence of events over slots; sizes come in a table at replay, so that one program
// serves every batch and context. Logical adds what lives; Greedy places it as ggml's graph allocator does,
// so that fragmentation counts. Open greedy.go for the allocator.
package lifetime

// Verb is what an event does with a slot.
type Verb uint8

const (
	// Alloc fills the slot with Size bytes.
	Alloc Verb = iota
	// Free empties it.
	Free
	// Trim gives back the tail: the slot holds Size bytes from now on.
	Trim
)

// Event acts on a slot. Size is an index into the table of sizes.
type Event struct {
	Verb Verb
	Slot int16
	Size int16
}

// Program is segments of events in the order in which they run. Equal segments are stored once.
type Program struct {
	Segments [][]Event
	Order    []int16
	Slots    int
}

// Logical is the peak of live bytes, wherever they lie.
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
