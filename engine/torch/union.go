package torch

import "math"

// union sums up times of which some overlap. They come nearly in order: so many are kept until an earlier one can hardly
// come any more.
type union struct {
	waiting []span // a heap, the earliest first
	end     float64
	last    float64 // begin of the one that was summed up last
	worked  float64
	some    bool
	late    bool // one came after its time was summed up
}

type span struct{ begin, end float64 }

const mostWaiting = 1 << 16

func (u *union) add(begin, seconds float64) {
	if len(u.waiting) == mostWaiting {
		u.take()
	}
	u.waiting = append(u.waiting, span{begin, begin + seconds})
	for i := len(u.waiting) - 1; i > 0; {
		up := (i - 1) / 2
		if u.waiting[up].begin <= u.waiting[i].begin {
			return
		}
		u.waiting[up], u.waiting[i] = u.waiting[i], u.waiting[up]
		i = up
	}
}

// take sums up the earliest.
func (u *union) take() {
	s := u.waiting[0]
	last := len(u.waiting) - 1
	u.waiting[0] = u.waiting[last]
	u.waiting = u.waiting[:last]
	u.sink()
	if !u.some {
		u.some, u.end, u.last = true, s.begin, s.begin
	}
	begin := math.Max(s.begin, u.end)
	u.late = u.late || s.begin < u.last
	u.last = s.begin
	u.worked += math.Max(0, s.end-begin)
	u.end = math.Max(u.end, s.end)
}

// sink puts the first of the heap where it belongs.
func (u *union) sink() {
	for i := 0; ; {
		least := i
		for _, c := range [2]int{2*i + 1, 2*i + 2} {
			if c < len(u.waiting) && u.waiting[c].begin < u.waiting[least].begin {
				least = c
			}
		}
		if least == i {
			return
		}
		u.waiting[i], u.waiting[least] = u.waiting[least], u.waiting[i]
		i = least
	}
}

// close gives the sum; known is false when the times were too far out of order for it.
func (u *union) close() (seconds float64, known bool) {
	for len(u.waiting) > 0 {
		u.take()
	}
	return u.worked, !u.late
}
