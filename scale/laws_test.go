package scale

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// batched is a replica of ten requests a second, whose requests take longer the more there are.
func batched(t testing.TB, goal Goal) *Curve {
	t.Helper()
	var points []Point
	for rate := 0.5; rate <= 10; rate += 0.5 {
		stay := 2 / (1.1 - rate/10)
		p := Point{Rate: rate, In: rate * stay, Running: rate * stay, KV: rate / 10}
		for i := range 100 {
			p.Requests = append(p.Requests, Request{First: 0.1 + 0.01*float64(i)*rate/10, PerToken: 0.02 + 0.003*rate})
		}
		points = append(points, p)
	}
	c, err := NewCurve(points, goal)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func fleet(t testing.TB) *Fleet {
	return &Fleet{Curve: batched(t, Goal{First: 1.2, PerToken: 0.045}), Least: 1, Most: 40, Begin: 1, Start: 90, Grace: 30}
}

// wandering is a load that goes up and down by chance, in minutes of some hours.
func wandering(r *rand.Rand) *Load {
	l := &Load{Part: 60}
	x := 20 * r.Float64()
	for range 240 {
		x = min(max(0, x+6*(r.Float64()-0.5)), 80)
		if r.IntN(40) == 0 {
			x = 80 * r.Float64()
		}
		l.Rates = append(l.Rates, x)
	}
	return l
}

func policies(c *Curve) map[string]func() Policy {
	up, down := Usual()
	hpa := func(metric int, target float64, external bool) func() Policy {
		return func() Policy {
			return &HPA{Metric: Metrics[metric], Target: target, External: external, Up: up, Down: down, Most: 40}
		}
	}
	return map[string]func() Policy{
		"hpa running": hpa(0, 15, false), "hpa in flight": hpa(2, 20, true), "hpa kv": hpa(3, 0.5, false),
		"keda":   func() Policy { return &KEDA{HPA: *hpa(4, 6, true)().(*HPA)} },
		"dynamo": func() Policy { return &Planner{Each: c.Holds(0.99)} },
		"llm-d":  func() Policy { return &Saturation{} },
		"fixed":  func() Policy { return Fixed(12) },
	}
}

func played(t testing.TB, l *Load, f *Fleet, p Policy) *Replay {
	t.Helper()
	r, err := Play(l, f, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRequestsAreConserved(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		l, f := wandering(r), fleet(t)
		asked := 0.0
		for _, x := range l.Rates {
			asked += x * l.Part
		}
		for name, p := range policies(f.Curve) {
			out := played(t, l, f, p())
			if math.Abs(out.Arrived-asked) > 1e-6*asked || out.Good > out.Arrived+1e-6 || out.Good < 0 || out.Shed != 0 {
				t.Errorf("%s: %v arrived of %v, %v good, %v shed", name, out.Arrived, asked, out.Good, out.Shed)
			}
		}
	}
}

func TestOneReplicaMoreNeverKeepsLess(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	for range 10 {
		l, f, last := wandering(r), fleet(t), -1.0
		for n := 1; n <= 12; n++ {
			f.Begin = n
			kept := played(t, l, f, Fixed(n)).Kept()
			if kept < last-1e-9 {
				t.Fatalf("%d replicas keep %v, one less %v", n, kept, last)
			}
			last = kept
		}
	}
}

func TestNoPolicyBeatsTheOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	const share = 0.98
	for range 5 {
		l, f := wandering(r), fleet(t)
		var all []*Replay
		for _, p := range policies(f.Curve) {
			all = append(all, played(t, l, f, p()))
		}
		best, by, err := Oracle(l, f, share, all, nil)
		if err != nil || best == nil || best.Kept() < share {
			t.Fatalf("no oracle: %v, %v", best, err)
		}
		least := 0.0
		for _, x := range l.Rates {
			least += share * x * l.Part / f.Curve.Capacity()
		}
		if best.ReplicaSeconds < least-f.Curve.Full()*float64(f.Most) {
			t.Errorf("the oracle pays %v replica-seconds, and the load takes %v", best.ReplicaSeconds, least)
		}
		for _, x := range all {
			if x.Kept() >= share && x.ReplicaSeconds < best.ReplicaSeconds-1e-6 {
				t.Errorf("a policy pays %v, the oracle %v", x.ReplicaSeconds, best.ReplicaSeconds)
			}
		}
		g := *f
		g.Begin = by[0]
		if again := played(t, l, &g, &Schedule{Grid, by}); math.Abs(again.ReplicaSeconds-best.ReplicaSeconds) > 1e-6 {
			t.Errorf("the oracle's schedule pays %v, not %v", again.ReplicaSeconds, best.ReplicaSeconds)
		}
	}
}

func TestNobodyAsks(t *testing.T) {
	l, f := &Load{Rates: make([]float64, 120), Part: 60}, fleet(t)
	for i := range 30 {
		l.Rates[i] = 40
	}
	for name, p := range policies(f.Curve) {
		if out := played(t, l, f, p()); name != "fixed" && out.Parts[119].Wanted != 1 {
			t.Errorf("%s wants %v replicas an hour after the last request", name, out.Parts[119].Wanted)
		}
	}
	f.Least = 0
	up, down := Usual()
	k := &KEDA{HPA: HPA{Metric: Metrics[2], Target: 20, Up: up, Down: down, Most: 40}, ToZero: true}
	if out := played(t, l, f, k); out.Parts[119].Wanted != 0 {
		t.Errorf("KEDA from none wants %v replicas an hour after the last request", out.Parts[119].Wanted)
	}
}

// From none, the first requests wait for as long as a replica takes to start, and the look of KEDA before.
func TestColdStart(t *testing.T) {
	l, f := &Load{Rates: []float64{0, 0, 0, 2, 2, 2, 2, 2}, Part: 60}, fleet(t)
	f.Least, f.Begin = 0, 0
	up, down := Usual()
	out := played(t, l, f, &KEDA{HPA: HPA{Metric: Metrics[2], Target: 20, Up: up, Down: down, Most: 40}, ToZero: true})
	if worst := out.First.Quantile(1); worst < 90 || worst > 140 {
		t.Errorf("the first request waited %v s for a start of 90 s", worst)
	}
	if out.Kept() > 0.8 || out.Kept() < 0.4 {
		t.Errorf("%v of the requests are in time", out.Kept())
	}
}

func TestOscillationIsNamedWithItsPeriod(t *testing.T) {
	l, f := &Load{Rates: make([]float64, 240), Part: 60}, fleet(t)
	for i := range l.Rates {
		l.Rates[i] = 12
	}
	swing, err := Parse("hour * 60 % 10 < 5 ? 2 : 4", f.Curve, 0.99)
	if err != nil {
		t.Fatal(err)
	}
	each := f.Curve.Holds(0.99)
	o := played(t, l, f, swing).Oscillates(l, each)
	if o == nil || math.Abs(o.Period-600) > 15 || o.From != 2 || o.To != 4 || o.Turns < 40 {
		t.Errorf("found %+v", o)
	}
	if o := played(t, l, f, Fixed(3)).Oscillates(l, each); o != nil {
		t.Errorf("a fixed number oscillates: %+v", o)
	}
	for i := range l.Rates { // a load that swings by itself is not a fault of a policy that follows
		l.Rates[i] = 12
		if i/10%2 == 0 {
			l.Rates[i] = 30
		}
	}
	follow, _ := Parse("ceil(rate / holds)", f.Curve, 0.99)
	if out := played(t, l, f, follow); out.Oscillates(l, each) != nil || out.Ups < 5 {
		t.Errorf("a policy that follows the load oscillates: %d ups", out.Ups)
	}
}

// The first class is served as if the second were not there.
func TestPrioritiesAndShedding(t *testing.T) {
	l, f := &Load{Rates: []float64{5, 5, 5, 5, 5, 18, 18, 18, 18, 18, 5, 5, 5}, Part: 60}, fleet(t)
	f.Curve, f.Classes = batched(t, Goal{First: 1.2}), []float64{0.3, 0.7}
	plain := played(t, l, f, Fixed(1))
	if a, b := plain.Classes[0], plain.Classes[1]; a.Good/a.Arrived < 0.9*plain.Kept() || a.Good/a.Arrived <= b.Good/b.Arrived {
		t.Errorf("first class %v of %v, second %v of %v", a.Good, a.Arrived, b.Good, b.Arrived)
	}
	f.MaxWaiting = 10
	shed := played(t, l, f, Fixed(1))
	if shed.Shed < 1000 || shed.Classes[0].Shed > 0 || math.Abs(shed.Classes[1].Shed-shed.Shed) > 1e-6 {
		t.Errorf("turned away %v: %+v", shed.Shed, shed.Classes)
	}
	if shed.First.Quantile(0.99) >= plain.First.Quantile(0.99) {
		t.Errorf("TTFT p99 %v with a bounded queue, %v without", shed.First.Quantile(0.99), plain.First.Quantile(0.99))
	}
}

func TestEvictionsAreReplacedAndRepeat(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	l, f := wandering(r), fleet(t)
	f.Begin = 12
	calm := played(t, l, f, Fixed(12))
	f.Evicted, f.Notice, f.Seed = 1, 30, 7
	a, b := played(t, l, f, Fixed(12)), played(t, l, f, Fixed(12))
	if a.Evictions != b.Evictions || a.Good != b.Good || a.Evictions < 20 || a.Evictions > 90 {
		t.Errorf("%d and %d evictions of 48 expected, %v and %v good", a.Evictions, b.Evictions, a.Good, b.Good)
	}
	if a.Good > calm.Good || a.ReplicaSeconds <= calm.ReplicaSeconds {
		t.Errorf("evictions help: %v good of %v, %v s of %v", a.Good, calm.Good, a.ReplicaSeconds, calm.ReplicaSeconds)
	}
}

func TestStopAndBadInput(t *testing.T) {
	l, f := &Load{Rates: make([]float64, 1440), Part: 60}, fleet(t)
	if _, err := Play(l, f, Fixed(1), func() bool { return true }); !errors.Is(err, ErrStopped) {
		t.Errorf("stopped: %v", err)
	}
	for _, c := range []struct {
		change func(*Load, *Fleet)
		says   string
	}{
		{func(l *Load, _ *Fleet) { l.Rates = nil }, "0 parts"},
		{func(l *Load, _ *Fleet) { l.Part = 0 }, "parts of 0 s"},
		{func(l *Load, _ *Fleet) { l.Part = math.NaN() }, "parts of NaN s"},
		{func(l *Load, _ *Fleet) { l.Rates = []float64{1, -1} }, "part 2 has -1"},
		{func(l *Load, _ *Fleet) { l.Rates = []float64{math.Inf(1)} }, "part 1 has +Inf"},
		{func(_ *Load, f *Fleet) { f.Most = 0 }, "not a range"},
		{func(_ *Load, f *Fleet) { f.Most = 1 << 30 }, "not a range"},
		{func(_ *Load, f *Fleet) { f.Start = -1 }, "start of -1 s"},
		{func(_ *Load, f *Fleet) { f.Evicted = math.Inf(1) }, "evictions"},
		{func(_ *Load, f *Fleet) { f.Classes = []float64{0.5} }, "add up to 0.5"},
		{func(_ *Load, f *Fleet) { f.Classes = []float64{1, 0} }, "share of 0"},
		{func(_ *Load, f *Fleet) { f.Curve = nil }, "no replica"},
	} {
		l, f := &Load{Rates: []float64{1}, Part: 60}, fleet(t)
		c.change(l, f)
		if _, err := Play(l, f, Fixed(1), nil); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, where %q was expected", err, c.says)
		}
	}
}
