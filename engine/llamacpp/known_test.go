package llamacpp

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model"
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
				alone.known = knownOf(j)
				if d := cmp.Diff(fmt.Sprint(alone.size(at)), together); d != "" {
					t.Fatalf("%+v: %s", at, d)
				}
			}
		})
	}
}

// TestSharedGraphs: plans of all kinds that share what is known are sized as each of them alone is, whatever the build,
// the cache, the batch and the place of things.
func TestSharedGraphs(t *testing.T) {
	shared, sized, q8 := engine.NewShared(), 0, map[*model.Model]*model.Weights{}
	for _, id := range []string{"gemma-3n-e4b", "deepseek-v2-lite", "llama-3.2-1b"} {
		m, _ := gguf(t, id, "q4_k_m")
		q8[m] = m.Store(dtype.FindRecipe("q8_0").InGGUF())
		for _, hardware := range []string{"rtx-2060", "rtx-4090+rtx-3060-12gb"} {
			for _, build := range []string{"b2400", "b6000", "b8700", "b8800", "0.5.0"} {
				for n := range 64 { // bits: sequences, cache, batch, layers on the host, cache on the host, weights; --fit too
					p := plan.Plan{Context: 4096, Sequences: plan.Int(1 + n&1), KV: []string{"q4_0", "q8_0"}[n>>1&1]}
					p.UBatch = plan.Int(16 << (n & 4))
					if n&8 > 0 {
						p.GPULayers = layers(9)
					} else if n&4 > 0 {
						p.Fit = "on"
					}
					if n&16 > 0 {
						p.KVOffload = new(bool)
					}
					sized += sizedAlike(t, id, hardware, build, p, shared, n&32 > 0, q8)
				}
			}
		}
	}
	if sized < 500 {
		t.Errorf("only %d plans were compared", sized)
	}
}

// sizedAlike compares a plan with others before it and the same alone; 0 where the build refuses it.
func sizedAlike(t *testing.T, id, hardware, build string, p plan.Plan, shared *engine.Shared, other bool, q8 map[*model.Model]*model.Weights) int {
	t.Helper()
	e := Engine{Server}
	v, err := e.ParseVersion(build)
	if err != nil {
		t.Fatal(err)
	}
	size := func(s *engine.Shared) string {
		j := jobOf(t, id, "q4_k_m", machineOf(t, hardware), v, p)
		if j.Shared = s; other {
			j.Weights = q8[j.Model]
		}
		e.Defaults(j)
		if e.Check(j) != nil {
			return ""
		}
		z, err := e.Sizer(j)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(z.Size(nil, j.Load()))
	}
	alone, together := size(nil), size(shared)
	if d := cmp.Diff(alone, together); d != "" {
		t.Fatalf("%s on %s with %s, %+v: %s", id, hardware, build, p, d)
	}
	return min(1, len(alone))
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
