package serving_test

import (
	"testing"

	"github.com/memwall/memwall/shard"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/serving"
)

// TestBackend: what an engine takes on a device, and what a plan names instead.
func TestBackend(t *testing.T) {
	for _, c := range []struct {
		named, engine, family, class string
		shared                       bool
		want                         string
	}{
		{"", "tensorrt-llm", "blackwell-hbm", "nvfp4", false, serving.BackendTRTLLM},
		{"", "tensorrt-llm", "blackwell-hbm", "nvfp4", true, serving.BackendCutlass},
		{"", "tensorrt-llm", "blackwell-hbm", "fp8-block", true, serving.BackendDeepGEMM},
		{"auto", "tensorrt-llm", "hopper-hbm", "fp8-block", false, serving.BackendCutlass},
		{"", "tensorrt-llm", "hopper-hbm", "mxfp4", false, serving.BackendTriton},
		{"", "vllm", "hopper-hbm", "fp8-block", false, serving.BackendDeepGEMM},
		{"", "sglang", "blackwell-hbm", "fp8-block", false, serving.BackendTRTLLM},
		{"", "vllm", "blackwell-gddr", "nvfp4", false, serving.BackendMarlin},
		{"", "vllm", "ampere-hbm", "16bit", false, serving.BackendTriton},
		{"cutlass", "vllm", "ampere-hbm", "16bit", false, "cutlass"},
	} {
		if got := serving.Backend(c.named, c.engine, c.family, c.class, c.shared); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestBackendIsAnInput: the kernels that a plan names take their own time, and only those of experts.
func TestBackendIsAnInput(t *testing.T) {
	in := plan(t, "deepseek-v3", "nvfp4-mlp", "b200", shard.Parallel{TP: 8})
	in.Engine = "tensorrt-llm"
	b := speed.Batch{Decodes: 64, Context: 2000}
	auto := compile(t, in)
	in.MoE = serving.BackendCutlass
	named := compile(t, in)
	if auto.Step(b) == named.Step(b) {
		t.Error("cutlass takes as long as what the engine takes")
	}
	for i, p := range auto.Parts(b) {
		if other := named.Parts(b)[i]; p.Name != "experts" && p != other {
			t.Errorf("%+v with another back end of experts: %+v", p, other)
		}
	}
}

// TestMarlinMultipliesIn16Bits: Marlin's linear layers read as few bytes, so that few rows take about as long, and multiply prompts in 16 bits;
// those of 16 bits are as they were.
func TestMarlinMultipliesIn16Bits(t *testing.T) {
	few, many := speed.Batch{Decodes: 1, Context: 1000}, speed.Batch{Prefill: 8192, Prompts: 1, Finished: 1}
	for recipe, slower := range map[string]float64{"fp8": 1.2, "bf16": 1} {
		in := plan(t, "llama-3.1-70b", recipe, "h100-sxm-80gb", shard.Parallel{TP: 4})
		auto := compile(t, in)
		in.Linear = serving.BackendMarlin
		marlin := compile(t, in)
		if got := marlin.Step(many) / auto.Step(many); got < slower || got > 2.2 {
			t.Errorf("%s: a step of prompts takes %.2f of what it does, want %.1f or more", recipe, got, slower)
		}
		if got := marlin.Step(few) / auto.Step(few); got < 0.8 || got > 1.25 {
			t.Errorf("%s: a token takes %.2f of what it does", recipe, got)
		}
	}
}
