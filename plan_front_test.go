package memwall

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/workload"
)

// comparedBy are the figures of a plan that answers say and plans are compared by, less being better; NaN where one is not said.
func comparedBy(c *Candidate) map[string]float64 {
	out := map[string]float64{"quality": float64(c.QualityRank)}
	say := func(name string, x *float64) {
		if out[name] = math.NaN(); x != nil {
			out[name] = *x
		}
	}
	if f := c.Fleet; f != nil {
		out["devices"], out["sure"] = float64(f.Devices), map[string]float64{"yes": 0}[f.Meets]
		if f.Meets != "yes" {
			out["sure"] = 1
		}
		if say("dollars", f.USDPerHour); f.USDPerHourDay != nil {
			say("dollars", f.USDPerHourDay)
		}
		out["measured"] = 0
		if f.Runs == 0 { // ranked by the slow edge
			out["measured"], out["cautious"], out["slow"] = 1, math.Inf(1), math.Inf(1)
			if f.Sure != nil && c.Simulated.High != nil {
				out["cautious"], out["slow"] = float64(*f.Sure)/float64(f.Replicas)*out["dollars"], c.Simulated.High.E2E.Mean
			}
		}
		out["first"], out["token"], out["whole"] = c.Simulated.TTFT.P99, c.Simulated.TPOT.P99, c.Simulated.E2E.Mean
		return out
	}
	out["effort"], out["room"], out["users"] = float64(c.EffortRank), -float64(c.Headroom), math.Inf(-1)
	say("dollars", c.Cost)
	say("first", c.Speed.TTFT)
	say("token", c.Speed.TPOT)
	if n := c.MaxSequences; n != nil {
		out["users"] = -float64(*n)
	}
	return out
}

// beats: a plan is as good as another in all that is shown, and better in something; alike where it is just as good.
func beats(a, b *Candidate) (better, alike bool) {
	x, y := comparedBy(a), comparedBy(b)
	alike = true
	for name := range x {
		if _, both := y[name]; !both {
			continue // of one whose kind was measured it does not matter
		}
		if math.IsNaN(x[name]) && math.IsNaN(y[name]) {
			continue
		}
		if !(x[name] <= y[name]) {
			return false, false
		}
		if x[name] < y[name] {
			alike = false
		}
	}
	return !alike, alike
}

// faultsOfFront checks a front against all that is shown of its plans: the best is on it, nothing beats a member, and something
// beats or equals whatever is left out.
func faultsOfFront(a *Answer) (out []string) {
	if len(a.Candidates) > 0 && !slices.Contains(a.Pareto, 0) {
		out = append(out, fmt.Sprintf("the best plan, %s, is not on the front %v", a.Candidates[0].Change, a.Pareto))
	}
	for i := range a.Candidates {
		c, beaten := &a.Candidates[i], false
		for j := range a.Candidates {
			if better, alike := beats(&a.Candidates[j], c); better || alike && j < i {
				beaten = true
			}
		}
		if on := slices.Contains(a.Pareto, i); on == beaten {
			out = append(out, fmt.Sprintf("plan %d, %s, is on the front: %v; is beaten: %v", i, c.Change, on, beaten))
		}
	}
	return out
}

func honest(t *testing.T, asked string, a *Answer) {
	t.Helper()
	for _, fault := range faultsOfFront(a) {
		t.Errorf("%s: %s", asked, fault)
	}
}

// TestFronts: a grid of questions of what fits.
func TestFronts(t *testing.T) {
	several := 0
	for _, model := range []string{"qwen3-32b", "llama-3.1-8b", "gpt-oss-20b", "qwen3-30b-a3b", "gemma-3-27b"} {
		for _, hardware := range []string{"rtx-4090", "2xh100", "rtx-3060-12gb", "l4,host=64GiB", "m4-max", "v100"} {
			for want, more := range map[string]plan.Plan{"": {}, "latency": {Sequences: 16},
				"quality_loss": {Context: 32768, Engine: "vllm"}} {
				r := &Request{Ask: api.AskPlan, Model: model, Hardware: hardware, Plan: more, Goal: &Goal{Minimize: want}}
				a, err := Ask(r)
				if err != nil {
					continue // a question that no engine answers
				}
				honest(t, fmt.Sprintf("%s on %s for %q", model, hardware, want), a)
				if len(a.Candidates) > len(a.Pareto) && len(a.Pareto) > 1 {
					several++
				}
			}
		}
	}
	if several < 10 {
		t.Errorf("only %d fronts leave something out and keep something", several)
	}
}

// TestFrontsOfFleets: the same of fleets for a goal, whatever is to be least.
func TestFrontsOfFleets(t *testing.T) {
	for _, want := range []string{"cost", "latency", "devices", "quality_loss"} {
		r := forUsers("llama-3.1-8b", "h100,l40s", 40, 1000, 30)
		r.Goal.Minimize, r.Engine = want, "vllm"
		honest(t, want, goalOf(t, r))
	}
	r := forUsers("llama-3.1-8b", "h100,l40s", 0, 1000, 60)
	r.Workload, r.Engine, r.Day = &workload.Spec{Requests: 600}, "vllm", &Day{Rates: []float64{1, 6, 30, 4}}
	honest(t, "a day", goalOf(t, r))
}

// TestFaultsOfFront: a front that leaves out the best plan, keeps one that is beaten, or leaves out one that is not, is noticed.
func TestFaultsOfFront(t *testing.T) {
	one, two := 1.0, 2.0
	of := func(dollars, seconds *float64) Candidate {
		return Candidate{Cost: dollars, Speed: &Speed{TTFT: seconds, TPOT: seconds}}
	}
	for _, c := range []struct {
		plans  []Candidate
		front  []int
		faults int
	}{
		{[]Candidate{of(&one, &two), of(&two, &one)}, []int{0, 1}, 0},
		{[]Candidate{of(&one, &two), of(&two, &one)}, []int{0}, 1},
		{[]Candidate{of(&one, &two), of(&two, &one)}, []int{1}, 2}, // the best, and one that nothing beats
		{[]Candidate{of(&one, &one), of(&two, &one)}, []int{0}, 0},
		{[]Candidate{of(&one, &one), of(&two, &one)}, []int{0, 1}, 1},
		{[]Candidate{of(&one, &one), of(&one, &one)}, []int{0}, 0},
		{[]Candidate{of(&one, &one), of(nil, &two)}, []int{0, 1}, 0}, // a known price beats none that nobody knows
	} {
		if got := faultsOfFront(&Answer{Candidates: c.plans, Pareto: c.front}); len(got) != c.faults {
			t.Errorf("%d plans, front %v: %q", len(c.plans), c.front, got)
		}
	}
}
