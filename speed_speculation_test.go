package memwall

import (
	"strings"
	"testing"

	"github.com/memwall/memwall/plan"
)

// TestSpeculationAtTheRoot: drafts that are taken make tokens come faster than without, those that are refused
// slower; the answer says what a step yields, and that an acceptance is assumed where none was given.
func TestSpeculationAtTheRoot(t *testing.T) {
	ask := func(tokens plan.Int, acceptance float64) *Answer {
		r := &Request{Ask: "fit", Model: "llama-3.1-70b", Hardware: "4xh100", Plan: plan.Plan{Context: 4096, DraftTokens: tokens}}
		r.Weights = "fp8"
		if tokens > 0 {
			r.DraftModel = "llama-3.2-1b"
		}
		if acceptance >= 0 {
			r.Acceptance = &acceptance
		}
		a, err := Ask(r)
		if err != nil || a.Speed == nil {
			t.Fatalf("%d tokens: %v, notes %+v", tokens, err, a.Notes)
		}
		return a
	}
	none, taken, refused, assumed := ask(0, -1), ask(4, 1), ask(4, 1e-9), ask(4, -1)
	if r := *none.Speed.TPOT / *taken.Speed.TPOT; r < 2 || r > 5 {
		t.Errorf("4 tokens that are always taken make it %.2f times as fast", r)
	}
	if *refused.Speed.TPOT <= *none.Speed.TPOT {
		t.Errorf("drafts that are never taken cost nothing: %g ms, without %g", *refused.Speed.TPOT, *none.Speed.TPOT)
	}
	if a := assumed.Speed; *a.TPOTHigh <= *refused.Speed.TPOT*0.5 || *a.TPOTLow >= *a.TPOT || *a.TPOTHigh / *a.TPOTLow < 1.5 {
		t.Errorf("an acceptance that nobody knows: %g to %g ms around %g", *a.TPOTLow, *a.TPOTHigh, *a.TPOT)
	}
	said := func(a *Answer, code, text string) bool {
		for _, n := range a.Notes {
			if n.Code == code && strings.Contains(n.Text, text) {
				return true
			}
		}
		return false
	}
	if !said(taken, "speculation", "yields 5.00") || !said(refused, "speculation", "yields 1.00") {
		t.Errorf("what a step yields: %+v and %+v", taken.Notes, refused.Notes)
	}
	if !said(assumed, "acceptance_assumed", "0.7") || said(taken, "acceptance_assumed", "") {
		t.Error("an acceptance is assumed where one is given, or silently")
	}
	drafted, sum := false, 0.0
	for _, p := range taken.Speed.Parts {
		drafted = drafted || p.Name == "draft" && p.MS > 0
		sum += p.MS
	}
	if !drafted || sum > 1.002**taken.Speed.TPOT {
		t.Errorf("parts %+v make %g ms, a token takes %g", taken.Speed.Parts, sum, *taken.Speed.TPOT)
	}
}
