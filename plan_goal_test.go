package memwall

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/workload"
)

// forUsers is a question for the best way to serve so many users, on few requests.
func forUsers(model, hardware string, users int64, first, token float64) *Request {
	g := &Goal{}
	if first > 0 {
		g.TTFT = map[string]float64{"p99": first}
	}
	if token > 0 {
		g.TPOT = map[string]float64{"p99": token}
	}
	return &Request{Ask: api.AskPlan, Model: model, Hardware: hardware, Goal: g,
		Workload: &workload.Spec{Concurrency: plan.Int(users), Requests: 1000}}
}

func goalOf(t *testing.T, r *Request) *Answer {
	t.Helper()
	a, err := Ask(r)
	if err != nil {
		t.Fatalf("%s on %s: %v", r.Model, r.Hardware, err)
	}
	return a
}

// TestGoalHolds: every fleet that is said to hold keeps within the bounds as played, costs what it costs, and has a reason;
// the best is the cheapest of those that runs were measured of, or of those that none was, and the front is not beaten by any other.
func TestGoalHolds(t *testing.T) {
	a := goalOf(t, forUsers("llama-3.1-70b", "h100-sxm-80gb,a100-sxm-80gb,l40s", 50, 2000, 50))
	if a.Best == nil || len(a.Candidates) < 5 {
		t.Fatalf("%d fleets", len(a.Candidates))
	}
	kinds := map[string]bool{}
	for i := range a.Candidates {
		c := &a.Candidates[i]
		kinds[c.Fleet.Hardware] = true
		if c.Simulated.TTFT.P99 > 2000 || c.Simulated.TPOT.P99 > 50 || !*c.Simulated.GoalMet || c.Verdict != Fits {
			t.Errorf("%s: %+v, %+v", c.Change, c.Simulated.TTFT, c.Simulated.TPOT)
		}
		before := a.Candidates[max(0, i-1)]
		alike := (before.Fleet.Runs > 0) == (c.Fleet.Runs > 0)
		if alike && c.USDPerHour != nil && *c.USDPerHour < *before.USDPerHour {
			t.Errorf("%s at $%g comes behind $%g", c.Change, *c.USDPerHour, *before.USDPerHour)
		}
		if c.Why == "" || c.Fleet.Devices != c.Fleet.Replicas*replicaDevices(c.Plan) {
			t.Errorf("%s: %d devices of %d replicas, because %q", c.Change, c.Fleet.Devices, c.Fleet.Replicas, c.Why)
		}
	}
	if !kinds["a100-sxm-80gb"] || !kinds["h100-sxm-80gb"] {
		t.Errorf("only fleets of %v", kinds)
	}
	if !slices.Contains(a.Pareto, 0) {
		t.Errorf("the cheapest is not on the front %v", a.Pareto)
	}
	if len(a.Best.Fleet.Curve) == 0 || a.Best.Fleet.HoldsUsers == nil || *a.Best.Fleet.HoldsUsers < 50 {
		t.Errorf("the best holds %v users", a.Best.Fleet.HoldsUsers)
	}
}

// replicaDevices are the devices of one replica by its hardware's name.
func replicaDevices(r *Request) int64 {
	m, _, err := (&Asker{}).env().Find(r.Hardware, 0)
	if err != nil {
		return 0
	}
	return int64(m.Devices())
}

// TestGoalIsSame: however many simulations run at a time, the answer is the same to the byte.
func TestGoalIsSame(t *testing.T) {
	ask := func(parallel func(int, func(int))) string {
		a, err := (&Asker{Parallel: parallel}).Ask(forUsers("qwen3-8b", "h100-sxm-80gb,l40s", 40, 500, 20))
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	alone := ask(nil)
	together := ask(func(n int, do func(int)) {
		var wg sync.WaitGroup
		for i := n - 1; i >= 0; i-- {
			wg.Go(func() { do(i) })
		}
		wg.Wait()
	})
	if alone != together {
		t.Error("simulations at the same time change the answer")
	}
}

// TestGoalPinned: what is given stays, a list is a set, and a given number of devices is not exceeded.
func TestGoalPinned(t *testing.T) {
	r := forUsers("llama-3.1-70b", "8xh100-sxm-80gb", 30, 0, 60)
	r.Engine, r.Weights, r.TP, r.All = "vllm,sglang", "fp8", 2, true
	a := goalOf(t, r)
	if len(a.Candidates) < 2 {
		t.Fatalf("%d plans", len(a.Candidates))
	}
	engines := map[string]bool{}
	for i := range a.Candidates {
		p := a.Candidates[i].Plan
		engines[strings.Split(p.Engine, "@")[0]] = true
		if p.Weights != "fp8" || p.TP != 2 {
			t.Errorf("%s", a.Candidates[i].Change)
		}
		if f := a.Candidates[i].Fleet; f != nil && f.Meets != "estimated" && f.Devices > 8 {
			t.Errorf("%s: %d devices of 8", a.Candidates[i].Change, f.Devices)
		}
	}
	if len(engines) != 2 || !engines["vllm"] || !engines["sglang"] {
		t.Errorf("engines %v", engines)
	}
}

// TestGoalLaws: more users never cost less, a looser bound never more.
func TestGoalLaws(t *testing.T) {
	dollars := func(users int64, token float64) float64 {
		r := forUsers("qwen3-8b", "l40s", users, 0, token)
		r.Engine = "vllm"
		a := goalOf(t, r)
		if a.Best == nil {
			return math.Inf(1)
		}
		return *a.Best.USDPerHour
	}
	last := 0.0
	for _, users := range []int64{8, 32, 128} {
		x := dollars(users, 40)
		if x < last {
			t.Errorf("%d users cost $%g, fewer $%g", users, x, last)
		}
		last = x
	}
	if loose, strict := dollars(64, 80), dollars(64, 25); loose > strict {
		t.Errorf("80 ms cost $%g, 25 ms $%g", loose, strict)
	}
}

// TestGoalNothing: where nothing holds, the nearest miss says what it lacks.
func TestGoalNothing(t *testing.T) {
	small := forUsers("llama-3.1-70b", "rtx-4090", 10, 0, 50)
	small.Engine, small.MaxDevices = "vllm", 1
	small.CPUOffload = 1 << 30
	for _, c := range []struct {
		r    *Request
		says string
	}{
		{forUsers("llama-3.1-70b", "h100-sxm-80gb", 50, 0, 1), "one user alone waits"},
		{forUsers("llama-3.1-70b", "8xh100-sxm-80gb", 500, 0, 14), "but the hardware has 8"},
		{small, "short in each"},
	} {
		a := goalOf(t, c.r)
		if a.Best != nil || a.Verdict != DoesNotFit || a.NearestMiss == nil || !strings.Contains(a.NearestMiss.Why, c.says) {
			t.Errorf("%s on %s: %+v", c.r.Model, c.r.Hardware, a.NearestMiss)
		}
	}
}

// TestGoalUnpriced: hardware without a price comes behind what has one, and is named.
func TestGoalUnpriced(t *testing.T) {
	a := goalOf(t, forUsers("llama-3.1-8b", "name=x,memory=80GB,bandwidth=3TB/s,bf16=900TFLOPS,l40s", 10, 0, 60))
	unpriced := false
	for i := range a.Candidates {
		if a.Candidates[i].USDPerHour == nil {
			unpriced = true
		} else if unpriced {
			t.Fatal("a fleet with a price comes behind one without")
		}
	}
	if !unpriced || !slices.ContainsFunc(a.Notes, func(n Note) bool { return n.Code == "unpriced" && strings.Contains(n.Text, "x") }) {
		t.Errorf("%v", a.Notes)
	}
}

// TestGoalRefused: what contradicts itself is refused, and both sides are named.
func TestGoalRefused(t *testing.T) {
	base := func(change func(*Request)) *Request {
		r := forUsers("llama-3.1-8b", "h100", 10, 1000, 0)
		change(r)
		return r
	}
	loss := -1.0
	for _, c := range []struct {
		r           *Request
		field, says string
	}{
		{base(func(r *Request) { r.Goal.TTFT["p50"] = 2000 }), "goal.ttft_ms", "p50"},
		{base(func(r *Request) { r.Workload.Rate = 3 }), "workload.rate", "contradicts"},
		{base(func(r *Request) { r.MaxDevices, r.TP = 2, 4 }), "max_devices", "tp"},
		{base(func(r *Request) { r.MaxDevices, r.Devices = 2, 4 }), "max_devices", "devices = 4"},
		{base(func(r *Request) { r.Day = &Day{Rates: []float64{1}} }), "day", "users"},
		{base(func(r *Request) { r.Workload, r.Day = nil, &Day{} }), "day.rates", "1440"},
		{base(func(r *Request) { r.Workload, r.Day = nil, &Day{Rates: []float64{0, 0}} }), "day.rates", "no requests"},
		{base(func(r *Request) { r.Workload, r.Day = nil, &Day{Rates: []float64{math.NaN()}} }), "day.rates", "not a rate"},
		{base(func(r *Request) { r.Workload, r.Day = &workload.Spec{Rate: 2}, &Day{Rates: []float64{1}} }), "workload.rate", "contradicts"},
		{base(func(r *Request) { r.Goal.Attainment = 1.5 }), "goal.attainment", "not a share"},
		{base(func(r *Request) { r.Goal.Attainment, r.Goal.TTFT = 0.9, nil }), "goal.attainment", "there are none"},
		{base(func(r *Request) { r.Goal.QualityLoss = &loss }), "goal.quality_loss", "0 to 100"},
		{base(func(r *Request) { r.Goal.Minimize = "fun" }), "goal.minimize", "not known"},
		{base(func(r *Request) { r.Goal.TTFT = map[string]float64{"p99": math.Inf(1)} }), "goal.ttft_ms", "not a time"},
		{base(func(r *Request) { r.Goal.Own = &Ownership{} }), "goal.own.lifetime_hours", "hours"},
		{base(func(r *Request) {
			r.Hardware, r.Goal.Own = "h100,l40s", &Ownership{LifetimeHours: 1000, PerKWh: 0.1, Overhead: 1, Purchase: 5000}
		}), "goal.own.usd_per_device", "one kind"},
		{base(func(r *Request) { r.Workload.Concurrency, r.Workload.Requests = 100_000, 0 }), "workload.concurrency", "a rate"},
		{base(func(r *Request) { r.Workload.Requests = 2_000_000 }), "workload.requests", "dozens"},
		{base(func(r *Request) { r.Workload.Concurrency = 900 }), "workload.requests", "two for each"},
		{base(func(r *Request) { r.Workload = &workload.Spec{} }), "workload", "no users"},
		{base(func(r *Request) { r.Hardware = "h100,nosuch" }), "hardware", "nosuch"},
	} {
		_, err := Ask(c.r)
		var e *Error
		if !errors.As(err, &e) || e.Field != c.field || !strings.Contains(e.Message+e.Hint, c.says) {
			t.Errorf("%s: %v", c.field, err)
		}
	}
}

// TestDay: a replica holds 2 a second, so that 7 take 4 and 1 takes 1; the load doubles within an hour from 2 on, of which
// five minutes are a twelfth.
func TestDay(t *testing.T) {
	rates := make([]float64, 24)
	for i := range rates {
		rates[i] = 1
	}
	rates[10], rates[11] = 2, 4
	d := &Day{Rates: rates}
	if got := d.Growth(10, 300); math.Abs(got-1./12) > 1e-9 {
		t.Errorf("grows by %g", got)
	}
	if d.Growth(11, 300) != 0 {
		t.Error("a load that falls grows")
	}
	r := &Request{Ask: api.AskPlan, Model: "qwen3-8b", Hardware: "l40s", Plan: plan.Plan{Engine: "vllm"},
		Goal: &Goal{TPOT: map[string]float64{"p99": 40}}, Day: &Day{Rates: []float64{1, 2, 12, 6}}, Workload: &workload.Spec{Requests: 600}}
	a := goalOf(t, r)
	if a.Day == nil || len(a.Day.Parts) != 4 || a.Day.Peak != a.Best.Fleet.Replicas {
		t.Fatalf("%+v", a.Day)
	}
	sum := 0.0
	for _, p := range a.Day.Parts {
		sum += float64(p.Replicas)
		if float64(p.Replicas)*a.Day.Each < p.Rate && p.Replicas < a.Day.Peak {
			t.Errorf("%d replicas of %g/s for %g/s", p.Replicas, a.Day.Each, p.Rate)
		}
	}
	if math.Abs(sum/4-a.Day.Mean) > 1e-3 || *a.Day.USDScaled > *a.Day.USDFixed {
		t.Errorf("%+v", a.Day)
	}
}

// TestOwned: what a fleet costs its owner is its price over its life and energy, and it is even with rent where both have
// cost the same.
func TestOwned(t *testing.T) {
	r := forUsers("qwen3-8b", "rtx-4090", 8, 0, 60)
	r.Goal.Own = &Ownership{LifetimeHours: 20_000, PerKWh: 0.2, Overhead: 1.5, Purchase: 2000}
	a := goalOf(t, r)
	f := a.Best.Fleet
	o := f.Owned
	if o == nil || o.Purchase != 2000*float64(f.Devices) {
		t.Fatalf("%+v", o)
	}
	if want := o.Purchase/20_000 + o.EnergyPerHour; math.Abs(*o.USDPerHour-want) > 1e-3 {
		t.Errorf("$%g an hour, want $%g", *o.USDPerHour, want)
	}
	if o.BreakEvenHours != nil && *o.BreakEvenHours <= 0 {
		t.Errorf("even after %g hours", *o.BreakEvenHours)
	}
}

// TestGoalAgain: the plan of a fleet is one that a simulation answers, and its patch leads back to it.
func TestGoalAgain(t *testing.T) {
	r := forUsers("qwen3-8b", "l40s,h100-sxm-80gb", 30, 0, 30)
	a := goalOf(t, r)
	again, err := Patch(r, a.Best.Patch)
	if err != nil {
		t.Fatal(err)
	}
	b := goalOf(t, again)
	if b.Best == nil || b.Best.Change != a.Best.Change || b.Best.Fleet.Replicas != a.Best.Fleet.Replicas {
		t.Errorf("%s leads to %+v", a.Best.Change, b.Best)
	}
	played := *a.Best.Plan
	s, err := Ask(&played)
	if err != nil || !s.Simulated.Holds {
		t.Errorf("%v", err)
	}
}

// TestClosedLoopHolds: users of a closed loop never make a queue that grows without end, however unlike their first prompts.
func TestClosedLoopHolds(t *testing.T) {
	a, err := Ask(&Request{Ask: api.AskSim, Model: "llama-3.1-70b", Hardware: "8xa100-sxm-80gb",
		Workload: &workload.Spec{Concurrency: 13, Requests: 2000, Prompt: workload.Law{Law: "lognormal", Mean: 1024, CV: 1},
			Output: workload.Law{Law: "exponential", Mean: 256}}})
	if err != nil || !a.Simulated.Holds || a.Simulated.DivergesAt != nil {
		t.Errorf("%v since %v", err, a.Simulated.DivergesAt)
	}
}

// TestHostedIsPlayed: steps of a simulation bring weights of the host too, as the steady state says.
func TestHostedIsPlayed(t *testing.T) {
	r := Request{Model: "llama-3.1-70b", Hardware: "h100-sxm-80gb",
		Plan: plan.Plan{Serving: plan.Serving{CPUOffload: plan.Size(80 << 30)}, Sequences: 2, PromptTokens: 512, OutputTokens: 64}}
	f, s := r, r
	f.Ask, s.Ask = "fit", api.AskSim
	s.Workload = &workload.Spec{Requests: 50}
	one, err := Ask(&f)
	if err != nil {
		t.Fatal(err)
	}
	two, err := Ask(&s)
	if err != nil {
		t.Fatal(err)
	}
	if x := two.Simulated.TPOT.Mean / *one.Speed.TPOT; x < 0.8 || x > 1.25 {
		t.Errorf("a token takes %g ms in a simulation, %g in a steady state", two.Simulated.TPOT.Mean, *one.Speed.TPOT)
	}
}

// TestGoalStops: a search that is stopped before anything was played says so by its error, and one that is stopped later
// gives the fleets that hold and says that it was stopped.
func TestGoalStops(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := (&Asker{}).AskContext(ctx, forUsers("qwen3-8b", "l40s", 8, 0, 60)); err == nil {
		t.Error("a search that never began has an answer")
	}
	ctx, stop = context.WithCancel(t.Context())
	played := 0
	a := &Asker{Parallel: func(n int, do func(int)) {
		for i := range n {
			do(i)
		}
		if played++; played == 1 {
			stop()
		}
	}}
	out, err := a.AskContext(ctx, forUsers("qwen3-8b", "l40s", 8, 0, 60))
	if err != nil || out.Best == nil || !slices.ContainsFunc(out.Notes, func(n Note) bool { return n.Code == "stopped" }) {
		t.Errorf("%v, %+v", err, out.Notes)
	}
}

// TestGoalEachUsers: whoever holds so many users holds fewer; powers of two are numbers like others.
func TestGoalEachUsers(t *testing.T) {
	for _, users := range []int{1, 2, 3, 4, 7, 8, 9, 16, 31, 32, 64} {
		r := Request{Ask: api.AskPlan, Model: "llama-3.1-8b", Hardware: "h100",
			Workload: &workload.Spec{Concurrency: plan.Int(users), Requests: 200},
			Goal:     &Goal{TTFT: map[string]float64{"p99": 5000}, TPOT: map[string]float64{"p99": 100}}}
		r.Engine, r.Weights = "vllm", "fp8"
		if a := asked(t, api.AskPlan, r); a.Best == nil || a.Best.Fleet.Replicas != 1 {
			t.Errorf("%d users: %+v", users, a.NearestMiss)
		}
	}
}
