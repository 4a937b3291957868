package llamacpp

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/memwall/memwall/plan"
)

// TestKnownGraphs: placements that share compiled graphs are sized as each of them alone is.
func TestKnownGraphs(t *testing.T) {
	for _, c := range fitCases {
		t.Run(c.model+" on "+c.hardware, func(t *testing.T) {
			j := jobOf(t, c.model, "q4_k_m", machineOf(t, c.hardware), Latest, plan.Plan{Context: 8192, Sequences: 1})
			s, err := newSearch(Engine{Server}, j, RoomOf(j))
			if err != nil {
				t.Fatal(err)
			}
			random := rand.New(rand.NewPCG(1, 2))
			for range 12 {
				at := s.random(random)
				together := fmt.Sprint(s.size(at))
				alone := *s
				alone.known = &known{}
				if d := cmp.Diff(fmt.Sprint(alone.size(at)), together); d != "" {
					t.Fatalf("%+v: %s", at, d)
				}
			}
		})
	}
}

// random is any placing.
func (s *search) random(r *rand.Rand) placing {
	at := placing{make([]slice, len(s.mass))}
	first := r.IntN(s.layers + 1)
	for i := range at.slices {
		last := first + r.IntN(s.end(first)-first+1)
		if i == len(at.slices)-1 {
			last = s.end(first)
		}
		at.slices[i] = slice{first, last, 0}
		if s.share < 1 && last > first {
			at.slices[i].hosted = r.IntN(min(last, s.layers) - first + 1)
		}
		first = last
	}
	return at
}
