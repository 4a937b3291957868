package trend

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

const (
	mib   = 1 << 20
	floor = 8 * mib
)

// drawn is a series of n seconds; noise is normal, of so many MiB.
func drawn(n int, rng *rand.Rand, noise float64, at func(i int) float64) (out []Point) {
	for i := range n {
		out = append(out, Point{float64(i), (1000 + at(i) + noise*rng.NormFloat64()) * mib})
	}
	return out
}

// shapes are what memory does, in MiB over seconds.
var shapes = []struct {
	name string
	leak bool
	at   func(rng *rand.Rand, n int) func(i int) float64
}{
	{"nothing", false, func(*rand.Rand, int) func(int) float64 { return func(int) float64 { return 0 } }},
	{"a pool filled once", false, func(_ *rand.Rand, n int) func(int) float64 {
		return func(i int) float64 { return 4000 * math.Min(1, float64(i)/30) }
	}},
	{"a warm-up that settles", false, func(_ *rand.Rand, n int) func(int) float64 {
		return func(i int) float64 { return 600 * (1 - math.Exp(-float64(i)/(float64(n)/8))) }
	}},
	{"a slow warm-up", false, func(_ *rand.Rand, n int) func(int) float64 {
		return func(i int) float64 { return 600 * (1 - math.Exp(-float64(i)/(float64(n)/3))) }
	}},
	{"steps at load", false, func(rng *rand.Rand, n int) func(int) float64 {
		var at []int
		for range 1 + rng.IntN(4) {
			at = append(at, rng.IntN(n))
		}
		return func(i int) (v float64) {
			for _, a := range at {
				if i >= a {
					v += 200
				}
			}
			return v
		}
	}},
	{"load that comes and goes", false, func(rng *rand.Rand, n int) func(int) float64 {
		phase, times := 2*math.Pi*rng.Float64(), 1.5+4*rng.Float64()
		return func(i int) float64 { return 100 * math.Sin(phase+2*math.Pi*times*float64(i)/float64(n)) }
	}},
	{"a random walk", false, func(rng *rand.Rand, n int) func(int) float64 {
		v, walk := 0.0, []float64(nil)
		for range n {
			v += 2 * rng.NormFloat64()
			walk = append(walk, v)
		}
		return func(i int) float64 { return walk[i] }
	}},
	{"noise that lasts", false, func(rng *rand.Rand, n int) func(int) float64 {
		v, all := 0.0, []float64(nil)
		for range n {
			v = 0.98*v + 4*rng.NormFloat64()
			all = append(all, v)
		}
		return func(i int) float64 { return all[i] }
	}},
	{"a leak", true, func(_ *rand.Rand, n int) func(int) float64 {
		return func(i int) float64 { return 100 * float64(i) / float64(n) }
	}},
	{"a leak in pieces of 2 MiB", true, func(_ *rand.Rand, n int) func(int) float64 {
		return func(i int) float64 { return 2 * math.Floor(50*float64(i)/float64(n)) }
	}},
	{"a leak behind a warm-up", true, func(_ *rand.Rand, n int) func(int) float64 {
		return func(i int) float64 { return 400*math.Min(1, float64(i)/60) + 100*float64(i)/float64(n) }
	}},
}

// TestAlarms counts alarms on drawn series of each shape, with little noise and with much.
func TestAlarms(t *testing.T) {
	const runs = 150
	for _, s := range shapes {
		for _, noise := range []float64{0, 1, 4} {
			for _, n := range []int{700, 3600} {
				found := map[Finding]int{}
				for run := range runs {
					rng := rand.New(rand.NewPCG(uint64(run), 7))
					found[Of(drawn(n, rng, noise, s.at(rng, n)), floor).Finding]++
				}
				rate := float64(found[Growing]) / runs
				t.Logf("%-26s noise %g MiB, %4d s: %5.1f %% alarms  %v", s.name, noise, n, 100*rate, found)
				if !s.leak && rate > 0.02 || s.leak && rate < 0.95 {
					t.Errorf("%s, noise %g, %d s: %g alarms", s.name, noise, n, rate)
				}
			}
		}
	}
}

// TestWatchedForHours: looked at every half minute for four hours, how many series ever raise an alarm. What warms up for
// half an hour, and load that rises for as long, look like a leak until they end, and nobody can know better from the
// memory alone.
func TestWatchedForHours(t *testing.T) {
	const runs, n, every = 24, 4 * 3600, 30
	for i, s := range shapes[:8] {
		alarms := 0
		for run := range runs {
			rng := rand.New(rand.NewPCG(uint64(run), 11))
			var kept Series
			for at, p := range drawn(n, rng, 1, s.at(rng, n)) {
				kept.Add(p)
				if at%every == 0 && Of(kept.Points(), floor).Finding == Growing {
					alarms++
					break
				}
			}
		}
		t.Logf("%-26s %d of %d", s.name, alarms, runs)
		if i < 2 && alarms > 0 || s.name == "steps at load" && alarms > runs/10 || s.name == "a random walk" && alarms > runs/5 {
			t.Errorf("%s: %d of %d", s.name, alarms, runs)
		}
	}
}

// TestSlope: against all pairs and their median by hand, and where points change places or scale.
func TestSlope(t *testing.T) {
	line := []Point{{0, 1}, {1, 3}, {2, 5}, {3, 100}, {4, 9}}
	if mid, low, high := slope(line); mid != 2 || low > mid || high < mid {
		t.Errorf("%g, %g to %g", mid, low, high)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var p []Point
		for i := range 3 + rng.IntN(20) {
			p = append(p, Point{float64(i), rng.NormFloat64()})
		}
		mid, low, high := slope(p)
		scaled := slices.Clone(p)
		for i := range scaled {
			scaled[i] = Point{2*p[i].At + 5, -8*p[i].Value + 1}
		}
		m2, l2, h2 := slope(scaled)
		if !(low <= mid && mid <= high) || math.Abs(m2+4*mid) > 1e-9 || l2 > m2 || h2 < m2 {
			t.Fatalf("%g %g %g, scaled %g %g %g", low, mid, high, l2, m2, h2)
		}
	}
}

// TestBandHolds: nine bands in ten hold the slope of series with independent noise.
func TestBandHolds(t *testing.T) {
	const runs, slope = 1000, 0.1 * mib
	held := 0
	for run := range runs {
		rng := rand.New(rand.NewPCG(uint64(run), 5))
		tr := Of(drawn(900, rng, 4, func(i int) float64 { return 0.1 * float64(i) }), floor)
		if tr.Low <= slope && slope <= tr.High {
			held++
		}
	}
	if share := float64(held) / runs; share < 0.87 || share > 0.95 {
		t.Errorf("%g of the bands hold the slope", share)
	}
}

// TestUntil: a limit ahead, one that is met, and growth that is none.
func TestUntil(t *testing.T) {
	tr := Trend{Slope: 2, Low: 1, High: 4}
	if u, ok := tr.Until(10, 30); !ok || u != (Until{10, 5, 20}) {
		t.Error(u, ok)
	}
	if u, ok := tr.Until(40, 30); !ok || u.Seconds != 0 {
		t.Error(u, ok)
	}
	if u, ok := (&Trend{Slope: 2, Low: -1, High: 4}).Until(0, 8); !ok || !math.IsInf(u.High, 1) {
		t.Error(u, ok)
	}
	for _, none := range []Trend{{}, {Slope: -1}, {Slope: math.NaN()}} {
		if _, ok := none.Until(0, 1); ok {
			t.Errorf("%+v", none)
		}
	}
}

// TestSeries: bounded, in order, and with the mean of what was added.
func TestSeries(t *testing.T) {
	var s Series
	for i := range 100_000 {
		s.Add(Point{float64(i), float64(i)})
		if len(s.Points()) > Most {
			t.Fatal(len(s.Points()))
		}
	}
	p := s.Points()
	for i := range p {
		if p[i].At != p[i].Value || i > 0 && p[i].At <= p[i-1].At {
			t.Fatalf("%d: %+v", i, p[i])
		}
	}
	if len(p) < Most/4 {
		t.Error(len(p))
	}
}

// FuzzOf: whatever is read, judging ends and the band holds the slope.
func FuzzOf(f *testing.F) {
	f.Add(uint64(1), 300, 2.0)
	f.Fuzz(func(t *testing.T, seed uint64, n int, scale float64) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var p []Point
		at := 0.0
		for range min(max(n, 0), 2000) {
			at += rng.ExpFloat64() * 3
			p = append(p, Point{at, scale * rng.NormFloat64()})
		}
		tr := Of(p, 0)
		if tr.Low > tr.Slope || tr.Slope > tr.High {
			t.Errorf("%+v", tr)
		}
		if u, ok := tr.Until(0, 1); ok && (u.Low > u.Seconds || u.Seconds > u.High) {
			t.Errorf("%+v", u)
		}
	})
}

func BenchmarkOf(b *testing.B) {
	p := drawn(Most-1, rand.New(rand.NewPCG(1, 2)), 2, func(i int) float64 { return float64(i) })
	for b.Loop() {
		Of(p, floor)
	}
}
