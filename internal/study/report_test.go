package study

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/memwall/memwall/search"
)

const factorial = "study: x\nask: sim\nmodels: llama-3.1-8b\nhardware: [h100, l40s, 2xl40s]\nplan: {max_num_seqs: [8, 16]}\nseeds: 1..4\n"

// TestSensitivity: of a measure that is a sum of effects of known sizes, each factor explains its own; of a product, part of
// it is of both together (Saltelli et al. 2008: the indices of an additive model sum to 1).
func TestSensitivity(t *testing.T) {
	s := read(t, factorial)
	for _, c := range []struct {
		name       string
		y          func(l []int64) float64
		hw, seqs   float64
		seed, both float64
	}{
		// variance of 0, 3, 6 is 6; of 0, 4 it is 4; of 0..3 it is 1.25
		{"a sum", func(l []int64) float64 { return 3*float64(l[0]) + 4*float64(l[1]) + float64(l[2]) }, 6 / 11.25, 4 / 11.25, 1.25 / 11.25,
			0},
		{"one alone", func(l []int64) float64 { return float64(l[1]) }, 0, 1, 0, 0},
		// (-1, 0, 1) x (-1, 1): no level's mean differs from 0
		{"a product", func(l []int64) float64 { return (float64(l[0]) - 1) * (2*float64(l[1]) - 1) }, 0, 0, 0, 1},
		{"nothing", func([]int64) float64 { return 7 }, 0, 0, 0, 0},
	} {
		tally := NewTally(s)
		for i := range s.Points() {
			tally.Add(i, "fits", "", Figures{"ttft_p99_ms": {Value: c.y(s.Levels(i))}})
		}
		r, err := tally.Report([]string{"ttft_p99_ms"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, x := range r.Sensitivity[0].Shares {
			got[x.Factor] = x.Share
		}
		for name, want := range map[string]float64{"hardware": c.hw, "max_num_seqs": c.seqs, "seed": c.seed} {
			if math.Abs(got[name]-want) > 1e-9 {
				t.Errorf("%s: %s explains %v, want %v", c.name, name, got[name], want)
			}
		}
		if x := r.Sensitivity[0]; math.Abs(x.Together-c.both) > 1e-9 || x.Uneven {
			t.Errorf("%s: %v together, want %v; uneven %v", c.name, x.Together, c.both, x.Uneven)
		}
	}
}

// TestFront: the front is that of search.Front, which compares all with all.
func TestFront(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		at := make([][]float64, rng.IntN(40))
		for i := range at {
			for range 3 {
				at[i] = append(at[i], float64(rng.IntN(6)))
			}
		}
		at = slices.CompactFunc(at, slices.Equal)
		want := search.Front(len(at), func(i, j int) (better, worse int) {
			for k := range at[i] {
				if at[i][k] < at[j][k] {
					better++
				} else if at[i][k] > at[j][k] {
					worse++
				}
			}
			return better, worse
		})
		for i := range at { // of those that are alike search keeps the first
			if slices.ContainsFunc(want, func(j int) bool { return j < i && slices.Equal(at[i], at[j]) }) {
				want = append(want, i)
			}
		}
		got := front(at)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("%v: %v, want %v", at, got, want)
		}
	}
}

// TestDesigns: seeds of a design are one row with their spread; what fails is counted; what is better stands first.
func TestDesigns(t *testing.T) {
	s := read(t, factorial)
	tally := NewTally(s)
	low, high := 1.0, 9.0
	for i := range s.Points() {
		l := s.Levels(i)
		if l[0] == 2 {
			tally.Add(i, "does_not_fit", "", nil)
			continue
		}
		tally.Add(i, "fits", "", Figures{"usd_per_hour": {Value: float64(2 - l[0])},
			"ttft_p99_ms": {Value: float64(10*l[0]+10*l[1]) + float64(l[2]), Low: &low, High: &high}})
	}
	r, err := tally.Report(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Designs) != 4 || !r.Designs[0].Front || !r.Designs[1].Front || r.Designs[2].Front || r.Failures[0].N != 8 {
		t.Fatalf("%+v", r)
	}
	d := r.Designs[0] // l40s, the cheaper, with few sequences
	x := d.Spreads[1]
	if d.Levels[0] != "l40s" || d.Levels[1] != "8" || d.Seeds != 4 || x.Mean != 11.5 || x.P50 != 11.5 || math.Abs(x.P95-12.85) > 1e-9 ||
		math.Abs(x.P5-10.15) > 1e-9 || *x.Low != 1 || *x.High != 9 {
		t.Errorf("%+v, %+v", d, x)
	}
	if _, err := tally.Report([]string{"ttft_p9_ms"}, nil); err == nil {
		t.Error("a figure that there is not")
	}
	if _, err := tally.Report(nil, []string{"hardwear"}); err == nil {
		t.Error("a factor that there is not")
	}
	r, err = tally.Report(nil, []string{"hardware"}) // as if somebody wanted it: each has a front of its own
	if err != nil || !r.Designs[0].Front || r.Designs[1].Front || !r.Designs[2].Front || r.Designs[0].Levels[0] != "h100" {
		t.Errorf("%+v, %v", r.Designs, err)
	}
}
