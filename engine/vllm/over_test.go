package vllm

import (
	"testing"

	"github.com/memwall/memwall/engine/enginetest"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// TestSettings: settings that a command line gives move the ledger by what their rule says.
func TestSettings(t *testing.T) {
	on := true
	item := func(c enginetest.Case, id string) (b unit.Bytes) {
		t.Helper()
		for _, it := range c.Ranks(t, Engine{})[0].Items {
			if it.ID == id || it.Name == id {
				b += it.Bytes
			}
		}
		return b
	}
	with := func(model, machine string, p plan.Plan) enginetest.Case {
		p.Context, p.Sequences = 65536, 4
		return enginetest.Case{Model: model, Hardware: machine, Plan: p}
	}
	// a latent cache lies whole on each of eight ranks, and an eighth of its tokens with dcp 8
	whole, shared := with("deepseek-v3", "8xh200", plan.Plan{Weights: "fp8-block", TP: 8}), with("deepseek-v3", "8xh200", plan.Plan{Weights: "fp8-block", TP: 8, Serving: plan.Serving{DCP: 8}})
	if a, b := item(whole, "kv_cache"), item(shared, "kv_cache"); a != 8*b || b == 0 {
		t.Errorf("dcp 8: %d, and %d without", b, a)
	}
	// a tower that every rank has whole, and none
	cut, data, none := item(with("qwen3-vl-8b", "4xh100", plan.Plan{TP: 4}), "vision tower"), item(with("qwen3-vl-8b", "4xh100", plan.Plan{TP: 4, Serving: plan.Serving{WholeTower: &on}}), "vision tower"), item(with("qwen3-vl-8b", "4xh100", plan.Plan{TP: 4, Serving: plan.Serving{TextOnly: &on}}), "vision tower")
	if none != 0 || data < 2*cut || cut == 0 {
		t.Errorf("vision tower: %d cut, %d whole, %d for text alone", cut, data, none)
	}
	// 256 experts on 8 ranks, 32 copies more: 36 in place of 32 a rank
	expert := func(n plan.Int) unit.Bytes {
		return item(with("deepseek-v3", "8xh200", plan.Plan{Weights: "fp8-block", TP: 8, EP: 8, Serving: plan.Serving{RedundantExperts: n}}), "weights")
	}
	one, four := expert(8)-expert(0), expert(32)-expert(0)
	if one <= 0 || four < 4*one*999/1000 || four > 4*one*1001/1000 {
		t.Errorf("copies of experts: %d for one a rank, %d for four", one, four)
	}
	// states of f32 take twice those of bf16
	f32, bf16 := item(with("qwen3-next-80b-a3b", "4xh100", plan.Plan{TP: 4, Serving: plan.Serving{StateFormat: "f32"}}), "state"), item(with("qwen3-next-80b-a3b", "4xh100", plan.Plan{TP: 4, Serving: plan.Serving{StateFormat: "bf16"}}), "state")
	if f32 < bf16*17/10 || bf16 == 0 {
		t.Errorf("states: %d in f32, %d in bf16", f32, bf16)
	}
	// 8-bit caches with a scale of 4 bytes for each head of 128: 132 bytes for 128
	plain, scaled := item(with("qwen3-32b", "2xh200", plan.Plan{TP: 2, KV: "fp8"}), "kv_cache"), item(with("qwen3-32b", "2xh200", plan.Plan{TP: 2, KV: "fp8", Serving: plan.Serving{KVScales: &on}}), "kv_cache")
	if scaled*128 != plain*132 {
		t.Errorf("scales: %d, and %d without", scaled, plain)
	}
	// nvfp4: 9 bytes for 16 elements
	if four, eight := item(with("qwen3-32b", "2xb200", plan.Plan{TP: 2, KV: "nvfp4"}), "kv_cache"), plain; four*16 != eight*9 {
		t.Errorf("nvfp4: %d beside %d of fp8", four, eight)
	}
}
