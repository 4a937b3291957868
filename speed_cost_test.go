package memwall

import (
	"testing"

	"github.com/memwall/memwall/plan"
)

// TestEnergyOfTurns: two cards that take turns at one stream draw less than twice what one of them does alone,
// and no card draws more than its limit allows.
func TestEnergyOfTurns(t *testing.T) {
	watts := func(on string) float64 {
		a, err := Ask(&Request{Ask: "fit", Model: "qwen2.5-14b", Hardware: on, Plan: plan.Plan{Weights: "q4_k_m", Context: 4096}})
		if err != nil || a.Speed == nil || a.Speed.JoulesPerToken == nil {
			t.Fatalf("%s: %v", on, err)
		}
		return *a.Speed.JoulesPerToken * *a.Speed.Total
	}
	one, two := watts("rtx-3090"), watts("2xrtx-3090")
	if one > 350 || two > 1.9*one || two < one {
		t.Errorf("one card draws %.0f W, two that take turns %.0f", one, two)
	}
}
