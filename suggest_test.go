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
	for _, c := range []struct {
		model, on, fields string
		sets, why         string
	}{
		// servers
		{"glm-4.6", "8xh100", "", "weights", "the maker publishes FP8, which loses next to nothing; weights on a server's host slow everybody"},
		{"llama-3.1-405b", "8xh100", "", "weights", "as Meta serves it"},
		{"qwen3-235b-a22b", "4xh100", "", "weights", "FP8 is published"},
		{"qwen3-coder-480b-a35b", "8xh100", "", "weights", "FP8 is published"},
		{"llama-4-maverick", "8xh100", "", "weights", "FP8 is published"},
		{"deepseek-v3", "8xh100", "", "weights", "four bits fit; eight need H200s or a second node, which cost as much again"},
		{"llama-3.1-70b", "h100", "engine=vllm", "weights", "four bits fit, eight do not"},
		{"llama-3.1-70b", "4xa10g", "engine=vllm", "weights", "as such nodes serve it"},
		{"mixtral-8x7b", "2xrtx-4090", "engine=vllm", "weights", "as two such cards serve it"},
		{"llama-3.1-8b", "v100-16gb", "engine=vllm", "weights", "four bits run on every card that vLLM runs on"},
		{"gpt-oss-120b", "h100", "sequences=64", "hardware", "it is there in four bits already: room for the KV cache is another card"},
		{"qwen2.5-7b", "l4", "engine=vllm context=32768 sequences=32", "hardware", "KV is what is short"},
		{"llama-3.1-8b", "rtx-4090", "engine=vllm context=131072 sequences=32", "", "512 GiB of KV are no matter of a card like this"},
		// one card at home: mixtures of experts
		{"gpt-oss-120b", "rtx-5090", "", "cpu_moe,hardware", "experts on a host of 64 GiB run at reading speed; nobody buys three more cards for it"},
		{"gpt-oss-120b", "rtx-5090,host=64GiB", "", "cpu_moe", "the host is there"},
		{"gpt-oss-120b", "rtx-3060", "", "cpu_moe,hardware", "the same, with a larger host"},
		{"glm-4.5-air", "rtx-3090", "", "cpu_moe,hardware", "the same"},
		{"minimax-m2", "rtx-4090", "", "cpu_moe,hardware", "memory of a host costs a tenth of seven more cards"},
		{"qwen3-235b-a22b", "rtx-5090", "", "cpu_moe,hardware", "the same"},
		{"llama-4-scout", "rtx-4090", "", "cpu_moe,hardware", "the same"},
		{"qwen3-30b-a3b", "rtx-4070", "", "cpu_moe", "3B are active: experts on the host cost little"},
		{"qwen3-30b-a3b", "rtx-4060-ti-16gb", "", "cpu_moe", "the same"},
		{"qwen3-next-80b-a3b", "rtx-4090", "", "cpu_moe", "the same"},
		{"deepseek-r1", "rtx-4090", "", "", "no PC's host holds it"},
		// one card at home: dense models
		{"qwen3-32b", "rtx-3060", "", "gpu_layers", "two bits lose too much"},
		{"llama-3.3-70b", "rtx-4090", "", "gpu_layers", "the same; a second card is the next"},
		{"qwen3-14b", "rtx-3060", "weights=q8_0", "weights", "four bits lose little and are half again as fast"},
		{"qwen3-32b", "rtx-4090", "context=32768", "kv", "a cache of eight bits loses next to nothing"},
		{"gemma-3-27b", "rtx-4090", "context=131072", "kv", "the same"},
		{"qwen3-next-80b-a3b", "2xrtx-3090", "", "tensor_split", "it fits when layers are shared by what the cards hold: nothing is lost"},
	} {
		r := Request{Ask: "fit", Model: c.model, Hardware: c.on}
		for field := range strings.FieldsSeq(c.fields) {
			name, value, _ := strings.Cut(field, "=")
			if err := r.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
		a, err := Ask(&r)
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
