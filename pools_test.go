package memwall

import (
	"testing"

	"github.com/memwall/memwall/plan"
)

func pooled(t *testing.T, change func(*Request)) (*Answer, error) {
	t.Helper()
	r := &Request{Ask: "fit", Model: "llama-3.1-70b", Hardware: "10xh100",
		Plan: plan.Plan{Engine: "vllm", Weights: "fp8", TP: 2, Sequences: 64, Context: 5120, PromptTokens: 4096, OutputTokens: 1024}}
	r.Disaggregated = &plan.Disaggregated{Prefill: 1, Decode: 4}
	if change != nil {
		change(r)
	}
	return Ask(r)
}

// TestDisaggregated: the devices of both pools are listed, prompts no longer stand between the steps of others, and
// four workers decode a quarter of the users each.
func TestDisaggregated(t *testing.T) {
	a, err := pooled(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Devices) != 2 || a.Devices[0].Count != 8 || a.Devices[1].Count != 2 {
		t.Errorf("devices %+v", a.Devices)
	}
	if a.Flags["vllm"] == "" || a.Flags["vllm (prompts)"] == "" {
		t.Errorf("commands %q, want one of each kind of worker", a.Flags)
	}
	joint, err := pooled(t, func(r *Request) { r.Disaggregated, r.Hardware, r.DP = nil, "10xh100", 5 })
	if err != nil {
		t.Fatal(err)
	}
	if *a.Speed.TPOT >= *joint.Speed.TPOT {
		t.Errorf("a token takes %g ms, with prompts between %g", *a.Speed.TPOT, *joint.Speed.TPOT)
	}
	one, err := pooled(t, func(r *Request) { r.Disaggregated, r.Hardware, r.Sequences = nil, "2xh100", 16 })
	if err != nil {
		t.Fatal(err)
	}
	if a.KV.NeededBytes != one.KV.NeededBytes {
		t.Errorf("a worker with a quarter of the users keeps %d bytes of caches, a server with as many %d", a.KV.NeededBytes,
			one.KV.NeededBytes)
	}
	for _, p := range a.Speed.Parts {
		if p.Name == "prompts_of_others" {
			t.Errorf("prompts of others take %g ms of a token", p.MS)
		}
	}
}

// TestPoolsOfOtherShape: a worker that computes prompts may have groups of its own, and must fit too.
func TestPoolsOfOtherShape(t *testing.T) {
	a, err := pooled(t, func(r *Request) { r.Hardware, r.Disaggregated.PrefillTP = "12xh100", 4 })
	if err != nil {
		t.Fatal(err)
	}
	if a.Devices[1].Count != 4 || a.Devices[1].Needed >= a.Devices[0].Needed {
		t.Errorf("devices %+v", a.Devices)
	}
	a, err = pooled(t, func(r *Request) { r.Weights, r.Hardware, r.TP, r.Disaggregated.PrefillTP = "bf16", "33xh100", 8, 1 })
	if err != nil {
		t.Fatal(err)
	}
	if a.Verdict != DoesNotFit {
		t.Errorf("140 GB of weights on one device of 80: %s", a.Verdict)
	}
}

// TestPoolsRefused: pools without workers, and more of them than there are devices.
func TestPoolsRefused(t *testing.T) {
	for _, change := range []func(*Request){
		func(r *Request) { r.Disaggregated.Prefill = 0 },
		func(r *Request) { r.Disaggregated.Decode = -1 },
		func(r *Request) { r.Disaggregated.Decode = 5 },
		func(r *Request) { r.Engine = "transformers" },
	} {
		if a, err := pooled(t, change); err == nil {
			t.Errorf("%+v was answered: %s", a.Plan.Disaggregated, a.Verdict)
		}
	}
}
