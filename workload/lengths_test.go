package workload

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/quick"
	"time"

	"github.com/memwall/memwall/stat"
)

// TestQuantiles: those of a spread are those of the sorted numbers, within one in 128.
func TestQuantiles(t *testing.T) {
	check := func(seed uint64, size uint8, count uint16) bool {
		r := rand.New(rand.NewPCG(seed, 1))
		var s Spread
		xs := make([]int64, 1+int(count)%3000)
		for i := range xs {
			xs[i] = r.Int64N(1 << (1 + size%62))
			s.add(xs[i])
		}
		slices.Sort(xs)
		floats := make([]float64, len(xs))
		for i, x := range xs {
			floats[i] = float64(x)
		}
		for _, q := range []float64{0, 0.01, 0.5, 0.9, 0.99, 1} {
			want := stat.Quantile(floats, q)
			if got := s.Quantile(q); math.Abs(float64(got)-want) > want/128+0.5 {
				t.Logf("%g: %d, want %g", q, got, want)
				return false
			}
		}
		return s.Min == xs[0] && s.Max == xs[len(xs)-1]
	}
	if err := quick.Check(check, nil); err != nil {
		t.Error(err)
	}
}

// TestSurvey of a few requests.
func TestSurvey(t *testing.T) {
	src := fixedSource{{Prompt: 10, Output: 1}, {Arrival: time.Second, Prompt: 20, Output: 2, Spans: []Span{{1, 15}}},
		{Arrival: 4 * time.Second, Prompt: 60, Output: 3}}
	l, err := Survey(&src)
	if err != nil || l.Requests != 3 || l.Prompt.Mean != 30 || l.Rate() != 0.5 || l.Shared.Max != 15 || l.Output.Quantile(0.5) != 2 {
		t.Errorf("%+v %v", l, err)
	}
	if cv := l.Prompt.CV(); math.Abs(cv-math.Sqrt(700)/30) > 1e-12 {
		t.Error(cv)
	}
	none := fixedSource{}
	if l, _ = Survey(&none); l.Rate() != 0 || l.Prompt.CV() != 0 || l.Prompt.Quantile(0.5) != 0 {
		t.Errorf("%+v", l)
	}
}
