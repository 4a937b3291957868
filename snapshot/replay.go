package snapshot

import (
	"cmp"
	"math"
)

// phase of a run.
type phase uint8

const (
	elsewhere phase = iota
	inForward
	inBackward
	inOptimizer
)

var phaseNames = [...]string{"outside of steps", "forward", "backward", "optimizer step"}

// span is a range of events in one phase of one step.
type span struct {
	from  int
	phase phase
	step  int
}

// mostSamples is the number of points of a timeline.
const mostSamples = 360

const never = math.MaxInt32

// life of an allocation: from its event to that of its release, exclusive. If allocated before the recording it begins
// at -1.
type life struct {
	born, died int
	size       int64
	asked      int64 // for a block allocated before: the part used by the tensor
	stack      uint32
	address    int64
}

// moment is what the allocator held after an event.
type moment struct {
	event          int
	time           int64
	live, reserved int64
}

// replay is a device's recording, replayed from its beginning; what was allocated before follows from its end.
type replay struct {
	*Snapshot
	device             int
	of                 trace
	events             int
	begun, ended       int64   // microseconds
	ends               []int32 // by allocation; never if still alive
	older              []life  // allocated before the recording
	ooms               []oom
	spans              []span
	peak               moment
	most               int64 // maximum reserved
	last               moment
	base, baseReserved int64
	samples            []moment // the fullest moment of each interval
}

// oom is a failed request.
type oom struct {
	moment      moment
	asked, free int64
	stack       uint32
}

// tensorBytes rounds a request to what it takes of a block (roundup_power2_divisions aside): kMinBlockSize of
// CUDACachingAllocator.
func tensorBytes(n int64) int64 {
	const least = 512
	return max(least, (n+least-1)/least*least)
}

// play replays a device's recording.
func (s *Snapshot) play(device int) *replay {
	r := &replay{Snapshot: s, device: device}
	if device < len(s.traces) {
		r.of = s.traces[device]
	}
	r.samples = make([]moment, min(mostSamples, int(r.of.count)))
	for i := range r.samples {
		r.samples[i].event = -1
	}
	p := player{replay: r, live: map[int64]int32{}, size: map[int64]int64{}}
	s.tape.each(r.of, p.event)
	p.finish()
	return r
}

// player is the state of a replay.
type player struct {
	*replay
	live     map[int64]int32 // allocation index by address
	size     map[int64]int64
	sum, seg int64 // since the beginning
	high     moment
	highSeg  int64
	now      phase
}

func (p *player) event(i int, e *event) {
	p.events = i + 1
	if i == 0 {
		p.begun = e.time
	}
	p.ended = e.time
	switch e.action {
	case alloc:
		p.free(i, e.address, 0) // a block whose allocation was not recorded
		p.turn(i, e.stack, e.stack == 0)
		p.live[e.address] = int32(len(p.ends))
		p.size[e.address] = tensorBytes(e.size)
		p.ends = append(p.ends, never)
		p.sum += tensorBytes(e.size)
	case freeCompleted:
		p.turn(i, e.stack, false) // many recordings have stacks for allocations only
		p.free(i, e.address, e.size)
	case segmentAlloc, segmentMap:
		p.seg += e.size
	case segmentFree, segmentUnmap:
		p.seg -= e.size
	case outOfMemory:
		p.ooms = append(p.ooms, oom{moment{i, e.time, p.sum, p.seg}, e.size, e.address, e.stack})
	}
	now := moment{i, e.time, p.sum, p.seg}
	if p.sum > p.high.live || i == 0 {
		p.high = now
	}
	if n := i * len(p.samples) / int(p.of.count); p.samples[n].event < 0 || p.sum > p.samples[n].live {
		p.samples[n] = now
	}
	p.highSeg = max(p.highSeg, p.seg)
}

// free ends the life at an address; with size 0 there need not be one. What was not recorded as allocated existed
// before.
func (p *player) free(i int, address, size int64) {
	n, ok := p.live[address]
	switch {
	case ok:
		p.ends[n] = int32(i)
		p.sum -= p.size[address]
		delete(p.live, address)
		delete(p.size, address)
	case size > 0:
		p.older = append(p.older, life{born: -1, died: i, size: tensorBytes(size), asked: tensorBytes(size), address: address})
		p.sum -= tensorBytes(size)
	}
}

// turn tracks phases by the stacks of allocations and frees. Autograd's own threads have no Python frames: allocations
// without any after a forward pass are backward.
func (p *player) turn(i int, stack uint32, bare bool) {
	to := phaseOf(p.stacks.roles[stack], p.now, bare)
	if to == p.now {
		return
	}
	p.now = to
	p.spans = append(p.spans, span{from: i, phase: to})
}

// count numbers the steps: one ends with its optimizer step, or without optimizer with each backward pass.
func (p *player) count() {
	ends := inBackward
	for _, s := range p.spans {
		if s.phase == inOptimizer {
			ends = inOptimizer
		}
	}
	step := 0
	for i := range p.spans {
		if i > 0 && p.spans[i-1].phase == ends && p.spans[i].phase == inForward {
			step++
		}
		p.spans[i].step = step
	}
}

func phaseOf(r role, now phase, bare bool) phase {
	switch {
	case r&optimizing != 0:
		return inOptimizer
	case r&backward != 0:
		return inBackward
	case r&forward != 0:
		return inForward
	case bare && now == inForward:
		return inBackward
	}
	return now
}

// finish determines what was allocated before the recording, from the blocks at its end.
func (p *player) finish() {
	p.count()
	reserved := int64(0)
	for i := range p.segments {
		s := &p.segments[i]
		if s.device != int64(p.device) {
			continue
		}
		reserved += s.size
		for j := s.first; j < s.first+s.count; j++ {
			b := &p.blocks[j]
			if _, known := p.live[b.address]; b.state != inactive && !known {
				asked := tensorBytes(cmp.Or(b.requested, b.size))
				p.older = append(p.older, life{born: -1, died: never, size: b.size, asked: asked, stack: b.stack, address: b.address})
			}
		}
	}
	for i := range p.older {
		p.base += p.older[i].size
	}
	p.baseReserved = reserved - p.seg
	p.most = max(p.highSeg, 0) + p.baseReserved
	p.peak = moment{p.high.event, p.high.time, p.high.live + p.base, p.high.reserved + p.baseReserved}
	if p.base > p.peak.live || p.events == 0 {
		p.peak = moment{-1, p.begun, p.base, p.baseReserved}
	}
	for i := range p.samples {
		p.samples[i].live += p.base
		p.samples[i].reserved += p.baseReserved
	}
	for i := range p.ooms {
		p.ooms[i].moment.live += p.base
		p.ooms[i].moment.reserved += p.baseReserved
	}
	p.last = moment{p.events - 1, p.ended, p.sum + p.base, reserved}
}

// spanAt returns the span of an event.
func (r *replay) spanAt(event int) span {
	lo, hi := 0, len(r.spans)
	for lo < hi {
		if mid := (lo + hi) / 2; r.spans[mid].from <= event {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return span{}
	}
	return r.spans[lo-1]
}

// lives calls f for every allocation, those from before the recording first.
func (r *replay) lives(f func(*life)) {
	for i := range r.older {
		f(&r.older[i])
	}
	n := 0
	r.tape.each(r.of, func(i int, e *event) {
		if e.action == alloc {
			l := life{born: i, died: int(r.ends[n]), size: tensorBytes(e.size), stack: e.stack, address: e.address}
			n++
			f(&l)
		}
	})
}
