package memwall

import (
	"slices"
	"testing"

	"github.com/memwall/memwall/workload"
)

// TestAssumedBounds: bounds that nobody gave are in the answer and said to be assumed, hold for every fleet, and leave those alone that
// somebody gave; a burst has none.
func TestAssumedBounds(t *testing.T) {
	assumed := func(a *Answer, field string) bool {
		return slices.ContainsFunc(a.Notes, func(n Note) bool { return n.Code == "default_used" && n.Field == field })
	}
	for _, c := range []struct {
		first, token         float64
		prompt               float64
		wantFirst, wantToken float64
	}{
		{0, 0, 1000, 10_000, 200}, {500, 0, 1000, 500, 200}, {0, 30, 1000, 10_000, 30}, {0, 0, 20_000, 30_000, 200},
		{900, 40, 20_000, 900, 40},
	} {
		r := forUsers("llama-3.1-8b", "h100", 8, c.first, c.token)
		r.Engine, r.Weights, r.Workload.Prompt, r.Workload.Requests = "vllm", "fp8", workload.Law{Mean: c.prompt}, 100
		a := goalOf(t, r)
		g := a.Plan.Goal
		if g.TTFT["p99"] != c.wantFirst || g.TPOT["p99"] != c.wantToken || assumed(a, "goal.ttft_ms") != (c.first == 0) ||
			assumed(a, "goal.tpot_ms") != (c.token == 0) {
			t.Errorf("%+v: %v, %v", c, g.TTFT, g.TPOT)
		}
		for i := range a.Candidates {
			if s := a.Candidates[i].Simulated; s.TTFT.P99 > c.wantFirst || s.TPOT.P99 > c.wantToken {
				t.Errorf("%+v: %s takes %g and %g ms", c, a.Candidates[i].Change, s.TTFT.P99, s.TPOT.P99)
			}
		}
	}
	r := forUsers("llama-3.1-8b", "h100", 0, 0, 0)
	r.Engine, r.Workload = "vllm", &workload.Spec{Arrivals: "burst", Requests: 300}
	if a := goalOf(t, r); a.Best == nil || assumed(a, "goal.ttft_ms") {
		t.Errorf("a burst has a bound: %+v", a.Plan.Goal)
	}
}

// TestForRequest: single requests are judged by the bound of the highest percentile, however they are ordered.
func TestForRequest(t *testing.T) {
	g := Goal{TTFT: map[string]float64{"p50": 300, "p99": 1000, "p90": 700}, TPOT: map[string]float64{"p50": 20}}
	if first, token := g.ForRequest(); first != 1000 || token != 20 {
		t.Errorf("%g and %g ms", first, token)
	}
	if first, token := (&Goal{}).ForRequest(); first != 0 || token != 0 {
		t.Errorf("no bounds: %g and %g ms", first, token)
	}
}

// TestSeveralPercentiles: a goal of several percentiles is as easy as the hardest of them, not as its lowest bound for all.
func TestSeveralPercentiles(t *testing.T) {
	r := forUsers("llama-3.1-8b", "h100", 32, 0, 60)
	r.Engine, r.Weights, r.Workload.Requests = "vllm", "fp8", 600
	alone := goalOf(t, r).Best.Simulated.TTFT
	r.Goal.TTFT = map[string]float64{"p50": alone.P50 * 1.2, "p99": alone.P99 * 1.2}
	r.Goal.Attainment = 0.97
	if a := goalOf(t, r); a.Best == nil || a.Best.Fleet.Replicas != 1 {
		t.Errorf("p50 ≤ %g and p99 ≤ %g ms are not held by what takes %g and %g", alone.P50*1.2, alone.P99*1.2, alone.P50, alone.P99)
	}
}

// TestNobodyServesFromALittle: where other hardware may be had, no server keeps most of the model on its host.
func TestNobodyServesFromALittle(t *testing.T) {
	r := forUsers("gpt-oss-120b", "rtx-3060,rtx-4060-ti-16gb,h100-sxm-80gb", 2, 60_000, 2000)
	r.Workload.Requests = 60
	a := goalOf(t, r)
	if a.Best == nil {
		t.Fatal("no fleet")
	}
	for i := range a.Candidates {
		if c := &a.Candidates[i]; 2*int64(c.Capacity) < c.Fleet.Replicas*int64(a.Model.WeightsBytes) {
			t.Errorf("%s holds %s of %s", c.Change, c.Capacity, a.Model.WeightsBytes)
		}
	}
	r.Hardware = "1xrtx-3060"
	if a := goalOf(t, r); a.Best == nil || a.Best.Fleet.Devices != 1 {
		t.Errorf("who has one card may serve from it: %+v", a.NearestMiss)
	}
}
