package serving_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/memwall/memwall/drafts"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/serving"
)

// TestClockIsStep: what the clock keeps adds up to the step, of any batch, asked once or twice.
func TestClockIsStep(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range grid {
		in := plan(t, c.id, c.recipe, c.device, c.p)
		in.GraphTokens = 512
		for _, drafted := range []int64{0, 3} {
			if drafted > 0 {
				in.Speculation = serving.Verifying(drafts.Shape{Tokens: drafted}, nil)
			}
			m := compile(t, in)
			clock := m.Clock()
			for range 300 {
				b := batch(r)
				for range 2 {
					if got, want := clock.Step(b), m.Step(b); math.Abs(got-want) > 1e-9*want {
						t.Fatalf("%s on %s, %+v: the clock says %g s, the step takes %g", c.id, c.device, b, got, want)
					}
				}
			}
		}
	}
}

func batch(r *rand.Rand) (b speed.Batch) {
	if r.IntN(4) > 0 {
		b.Decodes, b.Context = 1+r.Int64N(400), r.Int64N(8000)
	}
	if b.Decodes == 0 || r.IntN(2) > 0 {
		b.Prefill, b.Prompts, b.Cached = 1+r.Int64N(4000), 1, r.Int64N(3000)
		b.Finished = r.Int64N(2)
	}
	return b
}

func BenchmarkClock(b *testing.B) {
	for _, c := range grid[:5] {
		clock := compile(b, plan(b, c.id, c.recipe, c.device, c.p)).Clock()
		b.Run(c.id+" "+c.recipe, func(b *testing.B) {
			for i := int64(0); b.Loop(); i++ {
				clock.Step(speed.Batch{Decodes: 150 + i%50, Context: 64 * (i % 32), Prefill: 512 + i%999, Prompts: 1, Finished: 1})
			}
		})
	}
}
