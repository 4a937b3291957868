package snapshot

import "encoding/binary"

// action of an entry of a trace.
type action uint8

const (
	alloc action = iota
	freeRequested
	freeCompleted
	segmentAlloc
	segmentFree
	segmentMap
	segmentUnmap
	outOfMemory
	taken // the snapshot itself
	unknownAction
)

// actions by their names in PyTorch.
var actions = map[string]action{
	"alloc": alloc, "free_requested": freeRequested, "free_completed": freeCompleted, "segment_alloc": segmentAlloc,
	"segment_free": segmentFree,
	"segment_map":  segmentMap, "segment_unmap": segmentUnmap, "oom": outOfMemory, "snapshot": taken,
}

// event is an entry of a trace. Of one that ran out of memory the address is what the device had free.
type event struct {
	action        action
	address, size int64
	stream        int64
	time          int64 // microseconds
	stack         uint32
}

// tape keeps events one after the other as differences from the one before, in pieces that are read on their own.
type tape struct {
	pieces []piece
	last   event
	count  uint64
}

type piece struct {
	first uint64 // event
	bytes []byte
}

const (
	pieceBytes = 1 << 20
	mostEvent  = 1 + 5*binary.MaxVarintLen64
)

// add puts an event at the end and gives its number.
func (t *tape) add(e event) uint64 {
	n := len(t.pieces)
	if n == 0 || len(t.pieces[n-1].bytes) > pieceBytes-mostEvent {
		t.pieces = append(t.pieces, piece{first: t.count, bytes: make([]byte, 0, pieceBytes)})
		t.last = event{}
		n++
	}
	p := &t.pieces[n-1]
	p.bytes = append(p.bytes, byte(e.action))
	p.bytes = binary.AppendVarint(p.bytes, e.address-t.last.address)
	p.bytes = binary.AppendVarint(p.bytes, e.size)
	p.bytes = binary.AppendVarint(p.bytes, e.stream-t.last.stream)
	p.bytes = binary.AppendVarint(p.bytes, e.time-t.last.time)
	p.bytes = binary.AppendUvarint(p.bytes, uint64(e.stack))
	t.last = e
	t.count++
	return t.count - 1
}

// each calls f with the events of a trace, numbered from 0.
func (t *tape) each(of trace, f func(i int, e *event)) {
	end := of.first + of.count
	for _, p := range t.pieces {
		var e event
		b := p.bytes
		for n := p.first; len(b) > 0 && n < end; n++ {
			b = e.next(b)
			if n >= of.first {
				f(int(n-of.first), &e)
			}
		}
	}
}

// next is the event after this one.
func (e *event) next(b []byte) []byte {
	e.action, b = action(b[0]), b[1:]
	field := func() int64 {
		x, n := binary.Varint(b)
		b = b[n:]
		return x
	}
	e.address += field()
	e.size = field()
	e.stream += field()
	e.time += field()
	x, n := binary.Uvarint(b)
	e.stack = uint32(x)
	return b[n:]
}
