package snapshot

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"

	"github.com/memwall/memwall/fault"
	"github.com/memwall/memwall/format/pickle"
)

const fixSnapshot = "give the file that torch.cuda.memory._dump_snapshot(\"snapshot.pickle\") wrote, after " +
	"torch.cuda.memory._record_memory_history()"

// Strings of a snapshot, in the order of their identifiers.
const (
	wAction pickle.Word = iota
	wAddr
	wSize
	wStream
	wTime
	wFrames
	wFilename
	wLine
	wName
	wDevice
	wAddress
	wTotal
	wType
	wPool
	wExpandable
	wBlocks
	wRequested
	wState
	wFree
	wSegments
	wTraces
	wSettings
	wordCount
)

var words = [wordCount]string{
	"action", "addr", "size", "stream", "time_us", "frames", "filename", "line", "name", "device", "address", "total_size", "segment_type",
	"segment_pool_id", "is_expandable", "blocks", "requested_size", "state", "device_free", "segments", "device_traces",
	"allocator_settings",
}

// Tags of packed records.
const (
	anEvent uint8 = iota // never referred to again
	aFrame
	aStack
	aBlock
	aSegment
)

// reader builds a Snapshot from a pickle.
type reader struct {
	*pickle.Reader
	out    *Snapshot
	frames []uint32
	fields record // of the dict being packed
	err    error
}

// Read reads a snapshot, optionally gzip-compressed. Errors in the file are *fault.Error.
func Read(in io.Reader) (*Snapshot, error) {
	b := bufio.NewReader(in)
	head, _ := b.Peek(4) // a truncated file is reported by the pickle reader
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return nil, fault.New("the file is a zip archive, as torch.save writes, and no memory snapshot", fixSnapshot)
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		unpacked, err := gzip.NewReader(b)
		if err != nil {
			return nil, fault.New("the file begins as one of gzip and is none: "+err.Error(), "give it unpacked")
		}
		in = unpacked
	default:
		in = b
	}
	r := &reader{Reader: pickle.NewReader(in), out: &Snapshot{stacks: newStacks()}}
	for _, w := range words {
		r.Word(w)
	}
	r.Whole = r.pack
	v, err := r.Read()
	if err == nil {
		err = r.err
	}
	if e, ok := errors.AsType[*pickle.Error](err); ok {
		return nil, fault.New("the snapshot: "+e.Error(), fixSnapshot)
	}
	if errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.As(err, new(flate.CorruptInputError)) {
		return nil, fault.New("the packed file is broken: "+err.Error(), "pack it again, or give it unpacked")
	}
	if err != nil {
		return nil, err
	}
	return r.out, r.finish(v)
}

// record holds the fields of a dict.
type record struct {
	has   uint32
	value [wordCount]pickle.Value
}

func (r *record) hasAll(ws ...pickle.Word) bool {
	for _, w := range ws {
		if r.has&(1<<w) == 0 {
			return false
		}
	}
	return true
}

// field returns a field's value; none if missing.
func (r *record) field(w pickle.Word) pickle.Value {
	if r.has&(1<<w) == 0 {
		return pickle.Value{}
	}
	return r.value[w]
}

func (r *record) number(w pickle.Word) int64 {
	n, _ := r.field(w).Int()
	return n
}

// bytes returns a plausible memory size: sums of all of them fit in 64 bits.
func (r *record) bytes(w pickle.Word) int64 {
	const most = 1 << 44
	return min(max(0, r.number(w)), most)
}

// pack packs frames, stacks, events, blocks and segments.
func (r *reader) pack(c *pickle.Container) (pickle.Value, bool) {
	if c.Kind == pickle.List {
		return r.stack(c)
	}
	rec := &r.fields
	rec.has = 0
	for i := 0; i+1 < len(c.Items); i += 2 {
		if w, ok := c.Items[i].Word(); ok && w < wordCount {
			rec.has |= 1 << w
			rec.value[w] = c.Items[i+1]
		}
	}
	switch {
	case rec.hasAll(wAction, wSize):
		return r.event(rec), true
	case rec.hasAll(wFilename, wLine):
		n, isNew := r.out.stacks.frame(r.Text(rec.field(wFilename)), r.Text(rec.field(wName)), rec.number(wLine))
		r.hold(isNew, 64)
		return pickle.Pack(aFrame, uint64(n)), true
	case rec.hasAll(wState, wSize):
		return r.block(rec), true
	case rec.hasAll(wTotal, wBlocks):
		return r.segment(rec), true
	}
	return pickle.Value{}, false
}

func (r *reader) hold(isNew bool, bytes int64) {
	if isNew {
		if err := r.Hold(bytes); err != nil && r.err == nil {
			r.err = err
		}
	}
}

// stack packs a list of frames.
func (r *reader) stack(c *pickle.Container) (pickle.Value, bool) {
	r.frames = r.frames[:0]
	for _, v := range c.Items {
		tag, n, count, ok := v.Unpack()
		if !ok || tag != aFrame {
			return pickle.Value{}, false
		}
		for range count {
			r.frames = append(r.frames, uint32(n))
			n++
		}
	}
	if len(r.frames) == 0 {
		return pickle.Value{}, false
	}
	n, isNew := r.out.stacks.stack(r.frames)
	r.hold(isNew, 96+8*int64(len(r.frames)))
	return pickle.Pack(aStack, uint64(n)), true
}

// stackOf returns a record's stack; 0 if it has none.
func (rec *record) stackOf() uint32 {
	if tag, n, _, ok := rec.field(wFrames).Unpack(); ok && tag == aStack {
		return uint32(n)
	}
	return 0
}

func (r *reader) event(rec *record) pickle.Value {
	a, ok := actions[r.Text(rec.field(wAction))]
	if !ok {
		a = unknownAction
	}
	e := event{action: a, address: rec.number(wAddr), size: rec.bytes(wSize), stream: rec.number(wStream), time: rec.number(wTime),
		stack: rec.stackOf()}
	if a == outOfMemory {
		e.address = rec.number(wFree)
	}
	return pickle.Pack(anEvent, r.out.tape.add(e))
}

var states = map[string]state{"active_allocated": allocated, "active_pending_free": pendingFree, "active_awaiting_free": pendingFree}

func (r *reader) block(rec *record) pickle.Value {
	b := block{address: rec.number(wAddress), size: rec.bytes(wSize), requested: rec.bytes(wRequested),
		state: states[r.Text(rec.field(wState))], stack: rec.stackOf()}
	r.hold(true, 40)
	r.out.blocks = append(r.out.blocks, b)
	return pickle.Pack(aBlock, uint64(len(r.out.blocks)-1))
}

func (r *reader) segment(rec *record) pickle.Value {
	s := segment{
		device: rec.number(wDevice), address: rec.number(wAddress), size: rec.bytes(wTotal), stream: rec.number(wStream),
		small: r.Text(rec.field(wType)) == "small", expandable: rec.number(wExpandable) != 0, private: privatePool(rec.field(wPool).Of()),
	}
	if list := rec.field(wBlocks).Of(); list != nil && len(list.Items) == 1 {
		if tag, first, count, ok := list.Items[0].Unpack(); ok && tag == aBlock {
			s.first, s.count = first, count
		}
	}
	at := s.address
	for i := s.first; i < s.first+s.count; i++ {
		r.out.blocks[i].address = at // missing in old snapshots
		at += r.out.blocks[i].size
	}
	r.hold(true, 96)
	r.out.segments = append(r.out.segments, s)
	return pickle.Pack(aSegment, uint64(len(r.out.segments)-1))
}

// privatePool reports whether the pool belongs to a CUDA graph: ids are pairs, and the default pool is (0, 0).
func privatePool(pair *pickle.Container) bool {
	if pair == nil {
		return false
	}
	for _, v := range pair.Items {
		if n, ok := v.Int(); ok && n != 0 {
			return true
		}
	}
	return false
}

// finish reads the top-level dict.
func (r *reader) finish(v pickle.Value) error {
	root := v.Of()
	segments, hasSegments := root.At(wSegments)
	traces, hasTraces := root.At(wTraces)
	if !hasSegments && !hasTraces || len(r.out.segments) == 0 && r.out.tape.count == 0 {
		return fault.New("the file is a pickle of plain data, and no memory snapshot: it has neither segments nor device_traces",
			fixSnapshot)
	}
	_ = segments // packed in order
	if list := traces.Of(); list != nil {
		for _, t := range list.Items {
			r.out.traces = append(r.out.traces, traceOf(t.Of()))
		}
	}
	if settings, ok := root.At(wSettings); ok {
		r.settings(settings.Of())
	}
	for i := range r.out.segments {
		if d := r.out.segments[i].device; d < 0 || d > mostDevices {
			return fault.New("the snapshot has segments of a device that cannot be", fixSnapshot)
		}
	}
	return nil
}

const mostDevices = 1024

// traceOf returns a list of events, which were packed consecutively.
func traceOf(list *pickle.Container) (t trace) {
	if list == nil || len(list.Items) == 0 {
		return t
	}
	if tag, first, count, ok := list.Items[0].Unpack(); ok && tag == anEvent {
		t = trace{first, count}
	}
	return t
}

func (r *reader) settings(c *pickle.Container) {
	if c == nil {
		return
	}
	s := &r.out.Settings
	s.recorded = true
	for _, key := range []string{"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"} {
		if v, ok := c.At(r.Word(key)); ok && r.Text(v) != "" {
			s.Conf = r.Text(v)
		}
	}
	if v, ok := c.At(r.Word("max_split_size")); ok {
		s.MaxSplit, _ = v.Int()
	}
	if v, ok := c.At(r.Word("expandable_segments")); ok {
		n, _ := v.Int()
		s.Expandable = n != 0
	}
	if v, ok := c.At(r.Word("garbage_collection_threshold")); ok {
		s.GCThreshold, _ = v.Float()
	}
}
