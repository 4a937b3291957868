package vllm

import (
	"strings"
	"testing"

	"github.com/memwall/memwall/engine/enginetest"
	"github.com/memwall/memwall/plan"
)

// TestBlocks: tensor parallelism that cuts a block of scales is refused with the ways out, as vLLM refuses it, and no other.
// MiniMax-M2.5 at tp 8 on 0.25 and Qwen3-235B-A22B FP8 say "The output_size of gate's and up's weight = 192 is not divisible by
// weight quantization block_n = 128"; Qwen3-Coder-480B FP8 says 320.
func TestBlocks(t *testing.T) {
	for _, c := range []struct {
		model, weights string
		tp, ep         int64
		fix            string
	}{
		{"qwen3-235b-a22b", "fp8-block", 8, 0, "--enable-expert-parallel (--ep 8), or --tp 4"},
		{"qwen3-235b-a22b", "fp8-block", 8, 8, ""},
		{"qwen3-235b-a22b", "fp8-block", 4, 0, ""},
		{"qwen3-235b-a22b", "bf16", 8, 0, ""},
		{"qwen3-coder-480b-a35b", "fp8-block", 8, 0, "--enable-expert-parallel (--ep 8), or --tp 4"},
		{"qwen3-next-80b-a3b", "fp8-block", 8, 0, "--enable-expert-parallel (--ep 8), or --tp 4"},
		{"deepseek-v3", "fp8-block", 8, 0, ""},
		{"qwen2.5-14b", "awq", 8, 0, "--tp 4"},
		{"qwen2.5-14b", "gptq", 8, 0, "--tp 4"},
		{"qwen2.5-72b", "awq", 8, 0, ""}, // whose checkpoint is padded
		{"qwen3-235b-a22b", "awq", 8, 0, ""},
	} {
		j := enginetest.Case{Model: c.model, Hardware: "8xh200", Version: Latest, Plan: plan.Plan{Weights: c.weights, TP: c.tp, EP: c.ep}}.Job(t)
		Engine{}.Defaults(j)
		err := Engine{}.Check(j)
		p, _ := err.(*plan.Problem)
		switch {
		case c.fix == "" && err != nil:
			t.Errorf("%s %s tp %d ep %d: %v", c.model, c.weights, c.tp, c.ep, err)
		case c.fix != "" && (p == nil || p.Fix != c.fix || !strings.Contains(p.Message, "its scales")):
			t.Errorf("%s %s tp %d ep %d: %+v, want %s", c.model, c.weights, c.tp, c.ep, err, c.fix)
		}
	}
}

// TestDefaultsKeepBlocks: where nobody gives a layout, the one that is taken cuts no block.
func TestDefaultsKeepBlocks(t *testing.T) {
	for _, model := range []string{"qwen3-235b-a22b", "qwen3-coder-480b-a35b", "minimax-m2", "qwen3-next-80b-a3b"} {
		j := enginetest.Case{Model: model, Hardware: "8xh200", Version: Latest, Plan: plan.Plan{Weights: "fp8-block"}}.Job(t)
		Engine{}.Defaults(j)
		if err := (Engine{}).Check(j); err != nil || j.Plan.TP != 4 {
			t.Errorf("%s: tp %d, %v", model, j.Plan.TP, err)
		}
	}
}

// TestUnevenExperts: vLLM gives the first ranks one expert more (fused_moe/layer.py, determine_expert_map).
func TestUnevenExperts(t *testing.T) {
	ranks := enginetest.Case{Model: "qwen2-57b-a14b", Hardware: "4xh200", Plan: plan.Plan{TP: 1, DP: 3, EP: 3}}.Ranks(t, Engine{})
	if len(ranks) == 0 || ranks[0].Needed().Bytes == 0 {
		t.Errorf("%+v", ranks)
	}
}
