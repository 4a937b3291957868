package memwall

import (
	"slices"
	"testing"

	"github.com/memwall/memwall/plan"
)

// TestUsersOfLlamaServer: several users share steps, so that they get more together and less each; the answer says
// that this is assumed, with a band wider than that of one.
func TestUsersOfLlamaServer(t *testing.T) {
	ask := func(users int) *Speed {
		return spedUp(t, Request{Model: "llama-3.1-8b", Hardware: "rtx-4090",
			Plan: plan.Plan{Weights: "q4_k_m", Engine: "llama-server", Context: 4096, Sequences: plan.Int(users)}})
	}
	one, eight := ask(1), ask(8)
	if *eight.Decode >= *one.Decode || *eight.Total <= *one.Total || *eight.TTFT <= *one.TTFT {
		t.Errorf("eight users get %g each and %g together, one gets %g", *eight.Decode, *eight.Total, *one.Decode)
	}
	if width := func(v *Speed) float64 { return *v.DecodeHigh / *v.DecodeLow }; width(eight) <= width(one) {
		t.Errorf("the band of eight users is %g wide, that of one %g", width(eight), width(one))
	}
}

// TestUsualBuild: on Strix Halo a plan that names no build gets one with ROCm 7, and a note says so.
func TestUsualBuild(t *testing.T) {
	a, err := Ask(&Request{Ask: "fit", Model: "llama-3.1-8b", Hardware: "ryzen-ai-max-395",
		Plan: plan.Plan{Weights: "q4_k_m", Engine: "llama.cpp", PromptTokens: 512, OutputTokens: 128}})
	if err != nil {
		t.Fatal(err)
	}
	if *a.Speed.PrefillHigh < 700 || *a.Speed.PrefillLow > 1000 {
		t.Errorf("a prompt runs at %g to %g tokens a second, current builds at 700 to 1000", *a.Speed.PrefillLow, *a.Speed.PrefillHigh)
	}
	if !slices.ContainsFunc(a.Notes, func(n Note) bool { return n.Code == "build_assumed" }) {
		t.Errorf("no note says which build is assumed: %v", a.Notes)
	}
}

// TestOldBuild: a build that the plan names is timed by the measurements of its time.
func TestOldBuild(t *testing.T) {
	ask := func(engine string) *Speed {
		return spedUp(t, Request{Model: "llama-3.1-8b", Hardware: "rtx-3090",
			Plan: plan.Plan{Weights: "q4_k_m", Engine: engine, Context: 4096}})
	}
	if now, then := ask("llama.cpp"), ask("llama.cpp@b1500"); *now.Prefill <= *then.Prefill {
		t.Errorf("prompts run at %g tokens a second, with a build of 2023 at %g", *now.Prefill, *then.Prefill)
	}
}

// TestFlashOfTheBuild: before flash attention was chosen where it can be, a build that nobody tells runs without, and
// is timed so.
func TestFlashOfTheBuild(t *testing.T) {
	ask := func(engine, attention string) float64 {
		return *spedUp(t, Request{Model: "llama-3.1-8b", Hardware: "rtx-3090",
			Plan: plan.Plan{Weights: "q4_k_m", Engine: engine, Context: 32768, Attention: attention}}).Decode
	}
	for _, c := range []struct{ engine, same string }{{"llama.cpp@b6300", "eager"}, {"llama.cpp@b6400", "flash"}} {
		if auto, same := ask(c.engine, "auto"), ask(c.engine, c.same); auto != same {
			t.Errorf("%s decodes %g tokens a second by itself, %g with %s", c.engine, auto, same, c.same)
		}
	}
	if eager, fused := ask("llama.cpp@b6300", "eager"), ask("llama.cpp@b6300", "flash"); eager >= fused {
		t.Errorf("at 32k tokens %g a second without flash attention, %g with", eager, fused)
	}
}
