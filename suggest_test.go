package memwall

import (
	"maps"
	"slices"
	"strings"
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

// TestFirstCure: what an expert would say first. Each situation has the fields that his cure sets, and why.
func TestFirstCure(t *testing.T) {
	for _, c := range []struct{ model, on, engine, sets, why string }{
		{"glm-4.6", "8xh100", "", "weights", "the maker publishes FP8, which loses next to nothing; weights on a server's host slow everybody"},
		{"llama-3.1-405b", "8xh100", "", "weights", "as Meta serves it"},
		{"qwen3-235b-a22b", "4xh100", "", "weights", "FP8 is published"},
		{"llama-3.1-70b", "h100", "vllm", "weights", "four bits fit, eight do not"},
		{"gpt-oss-120b", "rtx-5090", "", "cpu_moe,hardware", "experts on a host of 64 GiB run at reading speed; nobody buys three more cards for it"},
		{"gpt-oss-120b", "rtx-5090,host=64GiB", "", "cpu_moe", "the host is there"},
		{"qwen3-30b-a3b", "rtx-4070", "", "cpu_moe", "3B are active: experts on the host cost little"},
		{"qwen3-32b", "rtx-3060", "", "gpu_layers", "two bits lose too much"},
		{"deepseek-r1", "rtx-4090", "", "", "no PC's host holds it"},
	} {
		a, err := Ask(&Request{Ask: "fit", Model: c.model, Hardware: c.on, Plan: plan.Plan{Engine: c.engine}})
		if err != nil {
			t.Fatal(err)
		}
		var sets []string
		for _, s := range a.Suggestions {
			if s.Verdict == Fits {
				sets = slices.Sorted(maps.Keys(s.Patch))
				break
			}
		}
		if got := strings.Join(sets, ","); got != c.sets {
			t.Errorf("%s on %s: %s, want %s: %s", c.model, c.on, got, c.sets, c.why)
		}
	}
}
