package memwall

import (
	"testing"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/plan"
)

// TestSuggestionsKeepTheirWord: every patch is applied, asked again and compared.
func TestSuggestionsKeepTheirWord(t *testing.T) {
	tried := 0
	for _, r := range []Request{
		{Model: "llama-3.1-70b", Hardware: "2xa100-40gb"}, {Model: "llama-3.1-8b", Hardware: "rtx-4090", Plan: plan.Plan{Context: 65536, Sequences: 8}},
		{Model: "gpt-oss-120b", Hardware: "h100"}, {Model: "qwen3-32b", Hardware: "rtx-4090"}, {Model: "deepseek-v3", Hardware: "8xh100"},
		{Model: "qwen3-32b", Hardware: "rtx-4090", Plan: plan.Plan{Weights: "q4_k_m", Context: 32768}},
	} {
		r.Ask = "fit"
		a, err := Ask(&r)
		if err != nil {
			t.Fatalf("%s: %v", r.Model, err)
		}
		if a.Verdict == Fits {
			continue
		}
		if len(a.Suggestions) == 0 {
			t.Errorf("%s on %s does not fit and nothing is suggested", r.Model, r.Hardware)
		}
		for _, s := range a.Suggestions {
			tried++
			p, err := Patch(&r, s.Patch)
			if err != nil {
				t.Fatalf("%v: %v", s.Patch, err)
			}
			b, err := Ask(p)
			if err != nil {
				t.Errorf("%s: %v", s.Change, err)
				continue
			}
			if b.Verdict != s.Verdict || a.Devices[0].Needed-b.Devices[0].Needed != s.Saves {
				t.Errorf("%s on %s, %s: %s and %d saved, promised %s and %d", r.Model, r.Hardware, s.Change, b.Verdict, a.Devices[0].Needed-b.Devices[0].Needed, s.Verdict, s.Saves)
			}
		}
	}
	if tried < 10 {
		t.Errorf("only %d suggestions were tried", tried)
	}
}

func TestPatch(t *testing.T) {
	r := &Request{Ask: "fit", Model: "m", Plan: plan.Plan{Context: 4096, TP: 2}}
	p, err := Patch(r, map[string]any{"context": 8192, "tp": nil, "kv": "fp8"})
	if err != nil || p.Context != 8192 || p.TP != 0 || p.KV != "fp8" || p.Model != "m" {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := Patch(r, map[string]any{"contxt": 1}); err == nil {
		t.Error("a patch with an unknown field is applied")
	}
}

// TestMoreDevicesKeepTheHost: twice the cards are in the same machine, whose host has no more memory for it.
func TestMoreDevicesKeepTheHost(t *testing.T) {
	off, experts := false, plan.Int(-1)
	r := &Request{Ask: "fit", Model: "qwen3-235b-a22b", Hardware: "rtx-4090,host=64GiB@90GB/s", Plan: plan.Plan{Weights: "q4_k_m"}}
	r.Mmap, r.CPUMoE = &off, &experts
	seen := false
	for _, s := range asked(t, api.AskPlan, *r).Ladder {
		to, ok := s.Patch["hardware"]
		if !ok {
			continue
		}
		seen = true
		if to != "2xrtx-4090,host=64GiB@90GB/s" || s.Verdict != DoesNotFit {
			t.Errorf("%v: %s", to, s.Verdict)
		}
	}
	if !seen {
		t.Error("no other hardware was tried")
	}
}
