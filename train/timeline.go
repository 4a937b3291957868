package train

// Pass is a kind of work that a pipeline stage does for a micro-batch.
type Pass uint8

const (
	Forward Pass = iota
	Backward
	Weights // weight gradients alone, in schedules that separate them from input gradients
)

// Slot is a pass of a micro-batch on a stage, with its time in units of a chunk's forward pass (the stage's, if it is
// not divided).
type Slot struct {
	Stage, Micro, Chunk int64
	Pass                Pass
	From, To            int64
}

// mostSlots bounds the size of a timeline.
const mostSlots = 1 << 14

// Timeline returns the passes of a pipeline step: which stage runs which pass of which micro-batch when. A backward
// pass takes twice as long as a forward pass; if split in two, each part takes as long. Schedules: GPipe
// arXiv:1811.06965; 1F1B and interleaved chunks arXiv:2104.04473; zero bubble, with the schedule's number of
// micro-batches in flight, arXiv:2401.10241. It returns nil for other schedules, and for more slots than a picture can
// show.
func Timeline(schedule string, stages, chunks, micro int64) []Slot {
	if stages < 1 || chunks < 1 || micro < 1 || stages > mostSlots || chunks > mostSlots || micro > mostSlots || 3*stages*chunks*micro > mostSlots {
		return nil
	}
	t := &timeline{stages: stages, chunks: 1, micro: micro, ends: map[Slot]int64{}, free: make([]int64, stages)}
	switch schedule {
	case "gpipe":
		return t.inOrder(t.gpipe)
	case "1f1b":
		return t.inOrder(t.oneByOne)
	case "interleaved":
		if t.chunks = chunks; micro%stages != 0 {
			return nil
		}
		return t.inOrder(t.interleaved)
	case "zb-h1", "zb-h2":
		return t.parted(schedule)
	}
	return nil
}

// timeline is a Timeline under construction. Passes are identified by slots without times.
type timeline struct {
	stages, chunks, micro int64
	ends                  map[Slot]int64
	free                  []int64 // time at which each stage is free
	out                   []Slot
}

// place schedules a pass after its dependencies.
func (t *timeline) place(s Slot, ready, took int64) {
	from := max(ready, t.free[s.Stage])
	t.ends[s], t.free[s.Stage] = from+took, from+took
	s.From, s.To = from, from+took
	t.out = append(t.out, s)
}

// ready returns the earliest start of a pass; false if its dependency is not scheduled yet.
func (t *timeline) ready(s Slot) (at int64, ok bool) {
	before, first := t.before(s)
	if first {
		return 0, true
	}
	at, ok = t.ends[before]
	return at, ok
}

// before returns the dependency of a pass: the previous stage in forward, the next in backward; at the end of the
// pipeline its own forward pass; for weight gradients its own backward pass. first reports that it has none.
func (t *timeline) before(s Slot) (before Slot, first bool) {
	place := s.Chunk*t.stages + s.Stage
	switch {
	case s.Pass == Weights:
		s.Pass = Backward
		return s, false
	case s.Pass == Forward && place == 0:
		return s, true
	case s.Pass == Forward:
		place--
	case place == t.stages*t.chunks-1:
		s.Pass = Forward
	default:
		place++
	}
	s.Chunk, s.Stage = place/t.stages, place%t.stages
	return s, false
}

// inOrder schedules every stage's passes in the order of a schedule.
func (t *timeline) inOrder(order func(stage int64) []Slot) []Slot {
	queues := make([][]Slot, t.stages)
	left := 0
	for s := range queues {
		queues[s] = order(int64(s))
		left += len(queues[s])
	}
	for left > 0 {
		before := left
		for s := range queues {
			for len(queues[s]) > 0 {
				next := queues[s][0]
				at, ok := t.ready(next)
				if !ok {
					break
				}
				t.place(next, at, 1+int64(next.Pass))
				queues[s] = queues[s][1:]
				left--
			}
		}
		if left == before {
			return nil
		}
	}
	return t.out
}

// gpipe returns all forward passes, then all backward passes in reverse order.
func (t *timeline) gpipe(stage int64) (out []Slot) {
	for m := range t.micro {
		out = append(out, Slot{Stage: stage, Micro: m})
	}
	for m := t.micro - 1; m >= 0; m-- {
		out = append(out, Slot{Stage: stage, Micro: m, Pass: Backward})
	}
	return out
}

// oneByOne returns one forward pass per following stage, then one forward and one backward pass alternately.
func (t *timeline) oneByOne(stage int64) []Slot {
	return t.alternating(t.micro, min(t.micro, t.stages-1-stage), func(k int64, p Pass) Slot { return Slot{Stage: stage, Micro: k, Pass: p} })
}

// interleaved cycles through the chunks of a stage with as many micro-batches as there are stages.
func (t *timeline) interleaved(stage int64) []Slot {
	all := t.micro * t.chunks
	return t.alternating(all, min(all, 2*(t.stages-1-stage)+(t.chunks-1)*t.stages), func(k int64, p Pass) Slot {
		round := t.stages * t.chunks
		chunk := k % round / t.stages
		if p == Backward {
			chunk = t.chunks - 1 - chunk
		}
		return Slot{Stage: stage, Micro: k/round*t.stages + k%t.stages, Chunk: chunk, Pass: p}
	})
}

// alternating returns first forward passes, then one of each alternately, then the remaining backward passes.
func (t *timeline) alternating(all, first int64, pass func(k int64, p Pass) Slot) (out []Slot) {
	for k := range all + first {
		if k < all {
			out = append(out, pass(k, Forward))
		}
		if k >= first {
			out = append(out, pass(k-first, Backward))
		}
	}
	return out
}

// parted schedules forward and backward passes in order and fills idle time with weight gradients, also when a stage
// holds as many micro-batches as the first may.
func (t *timeline) parted(schedule string) []Slot {
	most := int64(inFlight(schedule, 0, t.stages, 1, t.micro))
	queues := make([][]Slot, t.stages)
	for s := range t.stages {
		first := int64(inFlight(schedule, s, t.stages, 1, t.micro)) - 1
		queues[s] = t.alternating(t.micro, first, func(k int64, p Pass) Slot { return Slot{Stage: s, Micro: k, Pass: p} })
	}
	begun, let := make([]int64, t.stages), make([]int64, t.stages)
	for now := int64(0); int64(len(t.out)) < 3*t.stages*t.micro; now++ {
		if now > 8*(t.micro+t.stages) {
			return nil
		}
		for s := range t.stages {
			if q := queues[s]; len(q) > 0 && (q[0].Pass == Backward || begun[s]-let[s] < most) {
				if at, ok := t.ready(q[0]); ok && at <= now {
					t.place(q[0], now, 1)
					begun[s] += 1 - int64(q[0].Pass)
					queues[s] = q[1:]
					continue
				}
			}
			weights := Slot{Stage: s, Micro: let[s], Pass: Weights}
			if at, ok := t.ready(weights); ok && at <= now && let[s] < t.micro {
				t.place(weights, now, 1)
				let[s]++
			}
		}
	}
	return t.out
}

// Waiting returns the end of a timeline, and the share of all stages' time until then spent idle.
func Waiting(all []Slot, stages int64) (span int64, share float64) {
	work := int64(0)
	for i := range all {
		span, work = max(span, all[i].To), work+all[i].To-all[i].From
	}
	if span == 0 || stages == 0 {
		return span, 0
	}
	return span, 1 - float64(work)/float64(span*stages)
}
