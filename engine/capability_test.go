package engine_test

import (
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/plan"
)

// TestCapability: formats that an engine's documentation lists for an architecture are taken, others are refused.
func TestCapability(t *testing.T) {
	for _, c := range []struct {
		engine, version, device, weights string
		refused                          bool
	}{
		{"vllm", "0.11", "v100-sxm-16gb", "fp8", true}, {"vllm", "0.11", "t4", "fp8-block", true}, {"vllm", "0.24", "t4", "fp8", false},
		{"vllm", "0.11", "a100-sxm-80gb", "fp8", false}, {"vllm", "0.11", "v100-sxm-16gb", "awq", true}, {"vllm", "0.11", "v100-sxm-16gb", "gptq", false},
		{"tensorrt-llm", "1.2", "a100-sxm-80gb", "fp8", true}, {"tensorrt-llm", "1.2", "l40s", "fp8", false}, {"tensorrt-llm", "1.2", "l40s", "nvfp4", true},
		{"tensorrt-llm", "1.2", "b200-sxm", "nvfp4", false}, {"vllm", "0.24", "mi300x", "fp8", false}, {"sglang", "0.5", "t4", "fp8", true},
		{"vllm", "0.24", "p40", "bf16", true}, {"vllm", "0.24", "v100-sxm-16gb", "bf16", false}, {"sglang", "0.5", "v100-sxm-16gb", "bf16", true}, {"llama.cpp", "0.5", "p40", "q8_0", false},
	} {
		m, _, err := hardware.Parse(c.device, 1)
		if err != nil {
			t.Fatal(err)
		}
		v, err := engine.ParseVersion(c.version)
		if err != nil {
			t.Fatal(err)
		}
		err = engine.CheckCapability(&engine.Job{Machine: &m, Version: v, Plan: &plan.Plan{Weights: c.weights}}, c.engine)
		if (err != nil) != c.refused {
			t.Errorf("%s %s, %s on %s: %v", c.engine, c.version, c.weights, c.device, err)
		}
	}
}
