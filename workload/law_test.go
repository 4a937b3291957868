package workload

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

const draws = 200_000

// drawn from a law, each draw at a session of its own, as a workload does.
func drawn(l Law, whole bool) []float64 {
	r, s := newStream(7, "test"), l.sampler(whole)
	out := make([]float64, draws)
	for i := range out {
		r.seek(uint64(i), 0)
		out[i] = s.draw(&r)
		if whole {
			r.seek(uint64(i), 0)
			out[i] = float64(s.tokens(&r))
		}
	}
	return out
}

// TestLawsAreTheirs: the greatest distance between what is drawn and the law is what chance leaves (Kolmogorov and
// Smirnov; a fair sample is further off once in ten thousand).
func TestLawsAreTheirs(t *testing.T) {
	sigma := func(cv float64) float64 { return math.Sqrt(math.Log(1 + cv*cv)) }
	for _, c := range []struct {
		law  Law
		want interface{ CDF(float64) float64 }
	}{
		{Law{Law: "uniform", Min: 3, Max: 8}, distuv.Uniform{Min: 3, Max: 8}},
		{Law{Law: "uniform", Mean: 10, CV: 0.3}, distuv.Uniform{Min: 10 - math.Sqrt(27), Max: 10 + math.Sqrt(27)}},
		{Law{Law: "exponential", Mean: 250}, distuv.Exponential{Rate: 1. / 250}},
		{Law{Law: "gamma", Mean: 5, CV: 1}, distuv.Gamma{Alpha: 1, Beta: 0.2}},
		{Law{Law: "gamma", Mean: 5, CV: 0.2}, distuv.Gamma{Alpha: 25, Beta: 5}},
		{Law{Law: "gamma", Mean: 5, CV: 3}, distuv.Gamma{Alpha: 1. / 9, Beta: 1. / 45}},
		{Law{Law: "lognormal", Mean: 1024, CV: 0.5}, distuv.LogNormal{Mu: math.Log(1024) - math.Log(1.25)/2, Sigma: sigma(0.5)}},
		{Law{Law: "lognormal", Mean: 3, CV: 4}, distuv.LogNormal{Mu: math.Log(3) - math.Log(17)/2, Sigma: sigma(4)}},
	} {
		if err := c.law.check("x", 0, MaxTokens); err != nil {
			t.Fatal(err)
		}
		if d := distance(drawn(c.law, false), c.want.CDF); d > 2.23/math.Sqrt(draws) {
			t.Errorf("%v: %.5f away from its law", c.law, d)
		}
	}
}

// TestWrongLawIsSeen: the check above tells a law from one that is little off.
func TestWrongLawIsSeen(t *testing.T) {
	xs := drawn(Law{Law: "lognormal", Mean: 1000, CV: 0.5}, false)
	near := distuv.LogNormal{Mu: math.Log(1010) - math.Log(1.25)/2, Sigma: math.Sqrt(math.Log(1.25))}
	if d := distance(xs, near.CDF); d < 2.23/math.Sqrt(draws) {
		t.Errorf("a mean of 1010 passes for one of 1000, at %.5f", d)
	}
}

func distance(xs []float64, cdf func(float64) float64) (d float64) {
	slices.Sort(xs)
	n := float64(len(xs))
	for i, x := range xs {
		f := cdf(x)
		d = max(d, f-float64(i)/n, float64(i+1)/n-f)
	}
	return d
}

// TestMomentsOfLengths: means and cvs of whole tokens are those asked for, to five standard errors of the mean.
func TestMomentsOfLengths(t *testing.T) {
	for _, c := range []struct {
		law      Law
		mean, cv float64
	}{
		{Law{Mean: 77}, 77, 0},
		{Law{Law: "uniform", Min: 1, Max: 9}, 5, math.Sqrt(80./12) / 5},
		{Law{Law: "uniform", Mean: 500, CV: 0.2}, 500, 0.2},
		{Law{Law: "gamma", Mean: 300, CV: 0.7}, 300, 0.7},
		{Law{Law: "lognormal", Mean: 1024, CV: 0.5}, 1024, 0.5},
		{Law{Law: "lognormal", Mean: 200, CV: 1.5}, 200, 1.5},
		{Law{Law: "empirical", Values: []float64{10, 100, 1000}, Weights: []float64{2, 1, 1}}, 280,
			math.Sqrt(.5*270*270+.25*180*180+.25*720*720) / 280},
	} {
		mean, dev := stat.MeanStdDev(drawn(c.law, true), nil)
		if math.Abs(mean-c.mean) > 5*c.mean*c.cv/math.Sqrt(draws)+1e-9 {
			t.Errorf("%v: mean %.2f, want %.2f", c.law, mean, c.mean)
		}
		if math.Abs(dev/mean-c.cv) > 0.03*c.cv {
			t.Errorf("%v: cv %.4f, want %.4f", c.law, dev/mean, c.cv)
		}
	}
}

// TestWholeUniform: each whole number between the bounds comes as often as any other, the bounds too.
func TestWholeUniform(t *testing.T) {
	var seen [5]float64
	for _, x := range drawn(Law{Law: "uniform", Min: 2, Max: 4}, true) {
		seen[int(x)]++
	}
	var chi float64
	for _, n := range seen[2:] {
		chi += (n - draws/3.) * (n - draws/3.) / (draws / 3.)
	}
	if seen[0]+seen[1] > 0 || chi > 18.4 { // one sample in ten thousand
		t.Error(seen, chi)
	}
}

// TestChoices: adapters are as popular as the k-th power says.
func TestChoices(t *testing.T) {
	c := Choice{Count: 100, Zipf: 1.2}
	of, r := c.alias(), newStream(1, "x")
	seen := make([]float64, 100)
	for range draws {
		seen[of.draw(&r)]++
	}
	var sum, chi float64
	for k := range seen {
		sum += math.Pow(float64(k+1), -1.2)
	}
	for k, n := range seen {
		want := draws * math.Pow(float64(k+1), -1.2) / sum
		chi += (n - want) * (n - want) / want
	}
	if chi > 160 { // of 99 degrees: one sample in ten thousand
		t.Error(chi)
	}
}

// TestBoundsCut: what lies beyond a bound becomes it, and lengths are never below one token.
func TestBoundsCut(t *testing.T) {
	xs := drawn(Law{Law: "lognormal", Mean: 100, CV: 2, Min: 20, Max: 200}, true)
	if slices.Min(xs) != 20 || slices.Max(xs) != 200 {
		t.Error(slices.Min(xs), slices.Max(xs))
	}
	if xs = drawn(Law{Law: "lognormal", Mean: 1, CV: 5}, true); slices.Min(xs) != 1 {
		t.Error(slices.Min(xs))
	}
}

// TestOwnFunctions: logarithms and powers are those of mathematics.
func TestOwnFunctions(t *testing.T) {
	r := newStream(3, "x")
	for range draws {
		x := math.Exp(r.float()*400 - 200)
		if got, want := logarithm(x), math.Log(x); math.Abs(got-want) > 1e-13*(math.Abs(want)+1) {
			t.Fatalf("ln %g = %g, want %g", x, got, want)
		}
		y := r.float()*1300 - 650
		if got, want := exponent(y), math.Exp(y); math.Abs(got/want-1) > 1e-11 {
			t.Fatalf("exp %g = %g, want %g", y, got, want)
		}
	}
}

// TestNormal: with its tail, which the tests of other laws hardly reach.
func TestNormal(t *testing.T) {
	r := newStream(5, "x")
	var far float64
	xs := make([]float64, 8*draws)
	for i := range xs {
		xs[i] = r.normal()
		if math.Abs(xs[i]) > tail {
			far++
		}
	}
	want := 2 * distuv.UnitNormal.Survival(tail) * float64(len(xs))
	if math.Abs(far-want) > 4*math.Sqrt(want) {
		t.Errorf("%v beyond %v, want %.0f", far, tail, want)
	}
	if d := distance(xs, distuv.UnitNormal.CDF); d > 2.23/math.Sqrt(float64(len(xs))) {
		t.Errorf("%.6f away from its law", d)
	}
}
