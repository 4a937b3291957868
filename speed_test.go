package memwall

import (
	"strings"
	"testing"

	"github.com/memwall/memwall/plan"
)

func spedUp(t *testing.T, r Request) *Speed {
	t.Helper()
	r.Ask = "fit"
	a, err := Ask(&r)
	if err != nil {
		t.Fatalf("%+v: %v", r, err)
	}
	if a.Speed == nil || a.Speed.Decode == nil {
		t.Fatalf("%s on %s with %s has no speed: %+v", r.Model, r.Hardware, r.Engine, a.Notes)
	}
	return a.Speed
}

// TestSpeedBelowTheRoof: no prediction beats what the datasheet allows one user, and every figure lies in its band.
func TestSpeedBelowTheRoof(t *testing.T) {
	asked := 0
	for _, m := range []string{"llama-3.1-8b", "qwen3-30b-a3b", "gemma-3-27b", "deepseek-v2-lite", "nemotron-h-8b", "gpt-oss-20b"} {
		for _, on := range []string{"h100", "rtx-4090", "mi300x", "rtx-3060", "m4-max", "b200"} {
			for _, e := range []string{"llama.cpp", "vllm"} {
				if e == "vllm" && on == "m4-max" {
					continue
				}
				r := Request{Model: m, Hardware: on, Plan: plan.Plan{Engine: e, Context: 4096}}
				a, err := Ask(&Request{Ask: "fit", Model: m, Hardware: on, Plan: r.Plan})
				if err != nil || a.Speed == nil || a.Speed.Decode == nil {
					continue
				}
				asked++
				checkSpeed(t, &r, a.Speed)
			}
		}
	}
	if asked < 55 {
		t.Errorf("only %d plans have a speed", asked)
	}
}

func checkSpeed(t *testing.T, r *Request, v *Speed) {
	t.Helper()
	roof, err := (&Asker{}).Roof(&Request{Model: r.Model, Hardware: r.Hardware,
		Plan: plan.Plan{Context: 3584}}) // the mean depth of the answer
	if err != nil {
		t.Fatal(err)
	}
	if *v.Decode > 1.02*roof.Decode.Value {
		t.Errorf("%s on %s with %s decodes %g tokens a second, the roof is %g", r.Model, r.Hardware, r.Engine, *v.Decode, roof.Decode.Value)
	}
	for _, f := range [][3]*float64{{v.Decode, v.DecodeLow, v.DecodeHigh}, {v.Prefill, v.PrefillLow, v.PrefillHigh},
		{v.TTFT, v.TTFTLow, v.TTFTHigh}, {v.TPOT, v.TPOTLow, v.TPOTHigh}} {
		if f[0] != nil && !(0 < *f[1] && *f[1] <= *f[0] && *f[0] <= *f[2]) {
			t.Errorf("%s on %s with %s: %g..%g around %g", r.Model, r.Hardware, r.Engine, *f[1], *f[2], *f[0])
		}
	}
	if v.Bound == "" || len(v.Parts) < 3 || v.RestsOn == "" {
		t.Errorf("%s on %s with %s: bound %q, parts %v, rests on %q", r.Model, r.Hardware, r.Engine, v.Bound, v.Parts, v.RestsOn)
	}
}

// TestMoreUsersShare: more users get less each and more together, until the caches are full.
func TestMoreUsersShare(t *testing.T) {
	var last *Speed
	for _, n := range []plan.Int{1, 4, 16, 64, 128} {
		v := spedUp(t, Request{Model: "llama-3.1-8b", Hardware: "h200", Plan: plan.Plan{Engine: "vllm", Context: 2048, Sequences: n}})
		if last != nil && (*v.Decode > *last.Decode || *v.Total < *last.Total || *v.TTFT < *last.TTFT) {
			t.Errorf("%d users: %g each, %g together, first after %g ms; fewer had %g, %g, %g", n, *v.Decode, *v.Total, *v.TTFT,
				*last.Decode, *last.Total, *last.TTFT)
		}
		last = v
	}
}

// TestOffloadCostsTheLink: weights that lie on the host cross the link once a step, and nothing is faster for it.
func TestOffloadCostsTheLink(t *testing.T) {
	r := Request{Model: "llama-3.1-8b",
		Hardware: "name=x,memory=80GiB,bandwidth=2TB/s,bf16=300TFLOPS,pcie=4x16,host=256GiB@80GB/s,nvme=4TB@7GB/s",
		Plan:     plan.Plan{Engine: "generic", Context: 4096}}
	near := spedUp(t, r)
	last := *near.TPOT
	for _, where := range []string{"host", "nvme"} {
		r.Offload = &plan.Offload{Weights: where}
		v := spedUp(t, r)
		if *v.TPOT <= last || v.Bound != "network" {
			t.Errorf("weights on %s: %g ms a token, bound by %s; nearer ones take %g", where, *v.TPOT, v.Bound, last)
		}
		if rate := map[string]float64{"host": 31.5e9, "nvme": 7e9}[where]; *v.TPOT < 1000*14.9e9/rate {
			t.Errorf("weights on %s: %g ms a token, the link alone needs %g", where, *v.TPOT, 1000*14.9e9/rate)
		}
		last = *v.TPOT
	}
}

// TestSlowPlansSaySo: a large model from host memory fits and is slow.
func TestSlowPlansSaySo(t *testing.T) {
	layers := plan.Int(10)
	r := Request{Ask: "fit", Model: "llama-3.1-70b", Hardware: "rtx-4090",
		Plan: plan.Plan{Engine: "llama.cpp", Weights: "q4_k_m", Context: 4096, LlamaCpp: plan.LlamaCpp{GPULayers: &layers}}}
	a, err := Ask(&r)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, n := range a.Notes {
		found = found || n.Code == "fits_but_slow"
	}
	if !found || *a.Speed.Decode > 5 {
		t.Errorf("%g tokens a second, notes %+v", *a.Speed.Decode, a.Notes)
	}
}

// TestEarlyEvidence: an answer says how many of the figures that it rests on are of engines of another era.
func TestEarlyEvidence(t *testing.T) {
	for _, c := range []struct {
		hardware, engine string
		early            bool
	}{{"mi300x", "vllm", true}, {"mi325x", "vllm", true}, {"mi300x", "vllm@0.5", false}, {"h100-sxm-80gb", "vllm", false}} {
		v := spedUp(t, Request{Model: "llama-3.1-8b", Hardware: c.hardware, Plan: plan.Plan{Engine: c.engine}})
		if got := strings.Contains(v.RestsOn, "of engines of 2024 and before"); got != c.early {
			t.Errorf("%s with %s rests on %q", c.hardware, c.engine, v.RestsOn)
		}
	}
}
