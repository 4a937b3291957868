package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memwall/memwall/plan"
)

// described is a plain workload.
func described() Spec {
	return Spec{Arrivals: "poisson", Rate: 4, Requests: 1000, Seed: 1, Prompt: Law{Law: "lognormal", Mean: 1024, CV: 0.5},
		Output: Law{Law: "lognormal", Mean: 256, CV: 0.8}}
}

// source of a workload that is sound.
func source(t testing.TB, s Spec) Source {
	t.Helper()
	src, err := s.Source()
	if err != nil {
		t.Fatalf("%+v: %v", s, err)
	}
	return src
}

// served are the requests of a source in the order in which they come, each of which is answered after a time.
func served(t testing.TB, src Source, took func(*Request) time.Duration) (all []Request) {
	t.Helper()
	ends := map[time.Duration][]Request{}
	come := func(r Request) {
		all = append(all, r)
		at := r.Arrival + took(&r)
		ends[at] = append(ends[at], r)
	}
	next, more, err := src.Next()
	for err == nil && (more || len(ends) > 0) {
		first := time.Duration(math.MaxInt64)
		for at := range ends {
			first = min(first, at)
		}
		if more && next.Arrival <= first {
			come(next)
			next, more, err = src.Next()
			continue
		}
		done := ends[first]
		delete(ends, first)
		for i := range done {
			if r, ok := src.After(&done[i], first); ok {
				come(r)
			}
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func second(*Request) time.Duration { return time.Second }

// TestPinned: a seed means the same requests on every machine and with every version.
func TestPinned(t *testing.T) {
	s := described()
	s.SharedPrefix, s.Sessions, s.Patience, s.Adapters = 100,
		&Sessions{Turns: Law{Law: "uniform", Min: 1, Max: 3}, ThinkS: Law{Law: "gamma", Mean: 2, CV: 2}}, Law{Law: "exponential", Mean: 30},
		Choice{Count: 9, Zipf: 1}
	s.Requests, s.Priorities = 6, []float64{1, 1}
	var got []string
	for _, r := range served(t, source(t, s), second) {
		got = append(got, fmt.Sprint(r))
	}
	want := []string{
		"{0 72.462169ms 1162 247 [{2 100}] 0 1 1 6.492659008s 1}",
		"{1 158.111897ms 929 67 [{2 100}] 0 1 1 17.174613807s 2}",
		"{2 360.32458ms 655 412 [{2 100}] 5 1 1 50.272571178s 3}",
		"{3 624.731154ms 981 409 [{2 100}] 7 1 1 53.089842854s 4}",
		"{4 1.453389356s 1767 41 [{2 100} {5 967}] 0 1 1 24.116995263s 3}",
		"{5 1.755515143s 2799 211 [{2 100} {7 1290}] 0 1 1 9.456310728s 4}",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestSubjectsAreApart: another law of prompts changes neither outputs nor arrivals, and neither does patience.
func TestSubjectsAreApart(t *testing.T) {
	a, b := described(), described()
	b.Prompt, b.Patience, b.SharedPrefix = Law{Mean: 5}, Law{Mean: 10}, 3
	other := served(t, source(t, b), second)
	for i, x := range served(t, source(t, a), second) {
		if y := other[i]; x.Output != y.Output || x.Arrival != y.Arrival || x.Prompt == y.Prompt && x.Prompt != 5 {
			t.Fatalf("%v and %v", x, y)
		}
	}
}

// TestSeeds: another seed, other requests.
func TestSeeds(t *testing.T) {
	a, b := described(), described()
	b.Seed = 2
	x, y := served(t, source(t, a), second), served(t, source(t, b), second)
	same := 0
	for i := range x {
		if x[i].Prompt == y[i].Prompt {
			same++
		}
	}
	if same > 20 {
		t.Errorf("%d of %d prompts are alike", same, len(x))
	}
}

// TestArrivals: gaps have the mean and the cv asked for, and those of one second tell nothing of the next.
func TestArrivals(t *testing.T) {
	cv := func(x float64) *float64 { return &x }
	for _, c := range []struct {
		arrivals string
		cv       *float64
		want     float64
	}{{"poisson", nil, 1}, {"gamma", cv(0), 0}, {"gamma", cv(0.3), 0.3}, {"gamma", cv(3), 3}} {
		s := described()
		s.Arrivals, s.CV, s.Rate, s.Requests = c.arrivals, c.cv, 50, 100_000
		l, err := Survey(source(t, s))
		if err != nil || math.Abs(l.Rate()-50) > 50*5*c.want/math.Sqrt(100_000)+0.001 {
			t.Errorf("%s: rate %.3f, %v", c.arrivals, l.Rate(), err)
		}
		if got := cvOfGaps(t, source(t, s), l.Gap.Mean); math.Abs(got-c.want) > 0.05*c.want+1e-6 {
			t.Errorf("%s: cv %.3f, want %g", c.arrivals, got, c.want)
		}
	}
}

// cvOfGaps is the standard deviation of the times between arrivals over their mean.
func cvOfGaps(t *testing.T, src Source, mean float64) float64 {
	var squares float64
	all := served(t, src, second)
	for i := range all[1:] {
		d := float64(all[i+1].Arrival-all[i].Arrival) - mean
		squares += d * d
	}
	return math.Sqrt(squares/float64(len(all)-2)) / mean
}

// TestPoissonCounts: the variance of how many come in a second is their mean.
func TestPoissonCounts(t *testing.T) {
	s := described()
	s.Rate, s.Requests = 20, 200_000
	counts := map[int64]float64{}
	for _, r := range all(t, s) {
		counts[int64(r.Arrival/time.Second)]++
	}
	var sum, squares float64
	const seconds = 9000
	for i := range int64(seconds) {
		sum += counts[i]
		squares += counts[i] * counts[i]
	}
	mean := sum / seconds
	if ratio := (squares/seconds - mean*mean) / mean; math.Abs(ratio-1) > 5*math.Sqrt(2./seconds) {
		t.Errorf("variance over mean %.3f", ratio)
	}
}

// all that comes by itself.
func all(t testing.TB, s Spec) (out []Request) {
	t.Helper()
	src := source(t, s)
	for {
		r, ok, err := src.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return out
		}
		out = append(out, r)
	}
}

// TestDuration ends a workload by time.
func TestDuration(t *testing.T) {
	s := described()
	s.Requests, s.DurationS, s.Rate = 0, 100, 30
	got := all(t, s)
	if n := len(got); math.Abs(float64(n)-3000) > 5*math.Sqrt(3000) || got[n-1].Arrival > 100*time.Second {
		t.Errorf("%d requests, the last at %v", n, got[n-1].Arrival)
	}
}

// TestBurst comes at once.
func TestBurst(t *testing.T) {
	s := described()
	s.Arrivals, s.Rate = "burst", 0
	got := all(t, s)
	if len(got) != 1000 || got[999].Arrival != 0 {
		t.Errorf("%d, the last at %v", len(got), got[len(got)-1].Arrival)
	}
}

// TestClosed: as many requests are under way as there are users, until none is left to make.
func TestClosed(t *testing.T) {
	s := described()
	s.Arrivals, s.Rate, s.Concurrency = "closed", 0, 16
	took := func(r *Request) time.Duration { return time.Duration(r.Output) * time.Millisecond }
	got := served(t, source(t, s), took)
	if len(got) != 1000 {
		t.Fatal(len(got))
	}
	for _, at := range []time.Duration{0, time.Second, 5 * time.Second} {
		running := 0
		for i := range got {
			if got[i].Arrival <= at && at < got[i].Arrival+took(&got[i]) {
				running++
			}
		}
		if running != 16 {
			t.Errorf("at %v %d run", at, running)
		}
	}
}

// TestClosedLoopAsksTheSame: what is asked does not rest on how fast it is answered.
func TestClosedLoopAsksTheSame(t *testing.T) {
	s := described()
	s.Arrivals, s.Rate, s.Concurrency = "closed", 0, 16
	lengths := func(took func(*Request) time.Duration) (out [][2]int64) {
		for _, r := range served(t, source(t, s), took) {
			out = append(out, [2]int64{r.Prompt, r.Output})
		}
		return out
	}
	slow := lengths(func(r *Request) time.Duration { return time.Duration(r.Prompt) * time.Second })
	if d := cmp.Diff(slow, lengths(second)); d != "" {
		t.Error(d)
	}
}

func chat() Spec {
	s := described()
	s.SharedPrefix = 200
	s.Sessions = &Sessions{Turns: Law{Law: "uniform", Min: 1, Max: 7}, ThinkS: Law{Law: "exponential", Mean: 5}}
	return s
}

// TestSessionsGrow: each turn begins with everything before it, answers too, and nothing else; it comes after the answer.
func TestSessionsGrow(t *testing.T) {
	last := map[uint64]Request{}
	got := served(t, source(t, chat()), second)
	if len(got) != 1000 {
		t.Fatalf("%d requests", len(got))
	}
	names := map[uint64]bool{}
	for _, r := range got {
		if names[r.Own] && r.Own != 0 {
			t.Fatalf("two requests add %d", r.Own)
		}
		names[r.Own] = true
		before, again := last[r.User]
		last[r.User] = r
		if !again {
			continue
		}
		if r.Shared() != before.Prompt+before.Output || r.Prompt <= r.Shared() || before.Own == 0 {
			t.Fatalf("%v\n   after\n%v", r, before)
		}
		n := len(r.Spans) - 1
		if !slices.Equal(r.Spans[:n], before.Spans) || r.Spans[n].ID != before.Own || r.Arrival < before.Arrival+time.Second {
			t.Fatalf("%v\n   after\n%v", r, before)
		}
	}
	if float64(len(last)) > 300 || len(last) < 200 {
		t.Errorf("%d sessions of 4 turns on average", len(last))
	}
}

// TestSessionsAreForgotten when they end.
func TestSessionsAreForgotten(t *testing.T) {
	for _, most := range []plan.Int{0, 3000} {
		s := chat()
		s.Sessions.MaxTokens = most
		src := source(t, s)
		for _, r := range served(t, src, second) {
			if most > 0 && r.Prompt > int64(most) && len(r.Spans) > 1 {
				t.Fatal(r)
			}
		}
		if n := len(src.(*generated).turns.live); n != 0 {
			t.Errorf("%d sessions live on", n)
		}
	}
}

// TestSessionsDoNotRestOnSpeed: the turns of a session are the same for a slow server.
func TestSessionsDoNotRestOnSpeed(t *testing.T) {
	turns := func(took time.Duration) map[uint64][]int64 {
		out := map[uint64][]int64{}
		for _, r := range served(t, source(t, chat()), func(*Request) time.Duration { return took }) {
			out[r.User] = append(out[r.User], r.Prompt, r.Output, int64(len(r.Spans)))
		}
		return out
	}
	if d := cmp.Diff(turns(time.Hour), turns(time.Millisecond)); d != "" {
		t.Error(d)
	}
}

// TestPrefixes: prompts begin with one of them as far as they go, in proportion to their popularity.
func TestPrefixes(t *testing.T) {
	s := described()
	s.SharedPrefix, s.Prefixes, s.Requests = 500, Choice{Count: 4, Zipf: 1}, 20_000
	seen := map[uint64]float64{}
	for _, r := range all(t, s) {
		if len(r.Spans) != 1 || r.Spans[0].Tokens != min(500, r.Prompt) {
			t.Fatal(r)
		}
		seen[r.Spans[0].ID]++
	}
	if len(seen) != 4 || math.Abs(seen[2]/seen[4]-2) > 0.15 {
		t.Error(seen)
	}
}

// TestRandomSpecs: whatever is described and passes the checks gives as many requests as asked for, numbered, in order
// of time and within bounds.
func TestRandomSpecs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		s := randomSpec(r)
		src, err := s.Source()
		if err != nil {
			t.Fatalf("%+v: %v", s, err)
		}
		got := served(t, src, func(r *Request) time.Duration { return time.Duration(r.Output) * time.Millisecond })
		if int64(len(got)) > int64(s.Requests) || s.DurationS == 0 && s.Sessions == nil && int64(len(got)) != int64(s.Requests) {
			t.Fatalf("%+v: %d requests", s, len(got))
		}
		for i, q := range got {
			if err := sound(&q); err != nil || i > 0 && q.Arrival < got[i-1].Arrival && s.Arrivals != "closed" && s.Sessions == nil {
				t.Fatalf("%+v: %v: %v", s, q, err)
			}
		}
	}
}

// sound tells what is wrong with a request.
func sound(r *Request) error {
	switch {
	case r.Prompt < 1 || r.Prompt > MaxTokens || r.Output < 1 || r.Output > MaxTokens:
		return fmt.Errorf("lengths")
	case r.Shared() > r.Prompt:
		return fmt.Errorf("shares more than it has")
	case r.Arrival < 0 || r.Arrival > 2*MaxSeconds*time.Second || r.Patience < 0:
		return fmt.Errorf("times")
	case slices.ContainsFunc(r.Spans, func(s Span) bool { return s.Tokens < 1 }):
		return fmt.Errorf("an empty span")
	}
	return nil
}

func randomSpec(r *rand.Rand) Spec {
	law := func(mean float64) Law {
		return []Law{
			{Mean: mean}, {Law: "uniform", Min: 1, Max: mean}, {Law: "uniform", Mean: mean, CV: 0.5}, {Law: "exponential", Mean: mean},
			{Law: "gamma", Mean: mean, CV: 4 * r.Float64()}, {Law: "lognormal", Mean: mean, CV: 3 * r.Float64(), Max: 10 * mean},
			{Law: "empirical", Values: []float64{1, mean, 3}},
		}[r.IntN(7)]
	}
	cv := 3 * r.Float64()
	s := []Spec{
		{Arrivals: "poisson", Rate: 100 * r.Float64()}, {Arrivals: "gamma", Rate: 1 + r.Float64(), CV: &cv},
		{Arrivals: "closed", Concurrency: plan.Int(1 + r.IntN(40))}, {Arrivals: "burst"},
	}[r.IntN(4)]
	s.Requests, s.Seed = plan.Int(1+r.IntN(200)), plan.Int(r.Int64())
	s.Prompt, s.Output = law(1000), law(50)
	if r.IntN(2) == 0 {
		s.SharedPrefix, s.Prefixes = plan.Int(1+r.IntN(2000)), Choice{Count: plan.Int(r.IntN(5))}
	}
	if r.IntN(2) == 0 {
		s.Sessions = &Sessions{Turns: law(5), ThinkS: law(3), MaxTokens: plan.Int(r.IntN(2) * 5000)}
	}
	if r.IntN(2) == 0 {
		s.Patience, s.Adapters, s.Priorities, s.DurationS = law(60), Choice{Count: 5, Zipf: 1}, []float64{3, 0, 1}, 200*r.Float64()
	}
	return s
}
