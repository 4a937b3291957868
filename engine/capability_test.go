package engine_test

import (
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/model"
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
		{"vllm", "0.24", "p40", "bf16", true}, {"vllm", "0.24", "v100-sxm-16gb", "bf16", true}, {"vllm", "0.24", "v100-sxm-16gb", "f16", false}, {"sglang", "0.5", "v100-sxm-16gb", "bf16", true}, {"llama.cpp", "0.5", "p40", "q8_0", false},
	} {
		err := capable(t, c.engine, c.version, c.device, &plan.Plan{Weights: c.weights})
		if (err != nil) != c.refused {
			t.Errorf("%s %s, %s on %s: %v", c.engine, c.version, c.weights, c.device, err)
		}
	}
}

// TestCacheOnOldDevices: keys and values of eight bits need Ampere since vLLM 0.24.
func TestCacheOnOldDevices(t *testing.T) {
	for _, c := range []struct {
		version, device, kv string
		refused             bool
	}{
		{"0.29", "t4", "fp8", true}, {"0.29", "rtx-2080-ti", "fp8_e5m2", true}, {"0.20", "t4", "fp8", false}, {"0.29", "a10g", "fp8", false},
		{"0.29", "t4", "f16", false}, {"0.29", "mi300x", "fp8", false},
	} {
		err := capable(t, "vllm", c.version, c.device, &plan.Plan{Weights: "f16", KV: c.kv})
		if (err != nil) != c.refused {
			t.Errorf("vLLM %s, KV %s on %s: %v", c.version, c.kv, c.device, err)
		}
	}
}

// TestWithoutBF16: before Ampere nothing computes in bf16; vLLM loads in f16 there, and what overflows in it in f32
// (platforms/cuda.py, supported_dtypes; config/model.py, _FLOAT16_NOT_SUPPORTED_MODELS).
func TestWithoutBF16(t *testing.T) {
	for _, c := range []struct{ engine, family, device, want string }{
		{"vllm", "llama", "t4", "f16"}, {"vllm", "gemma3", "t4", "f32"}, {"sglang", "gemma3", "t4", "f16"}, {"vllm", "gemma3", "a10g", ""},
		{"vllm", "llama", "mi100", ""}, {"llama.cpp", "llama", "t4", ""}, {"vllm", "llama", "2xv100+h100", "f16"},
	} {
		m, _, err := hardware.Parse(c.device, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := engine.WithoutBF16(c.engine, c.family, &m); got != c.want {
			t.Errorf("%s, %s on %s: %q, want %q", c.engine, c.family, c.device, got, c.want)
		}
	}
	m, _, _ := hardware.Parse("t4", 0)
	for weights, refused := range map[string]bool{"f32": false, "f16": true, "bf16": true, "awq": true, "nf4": false} {
		j := &engine.Job{Machine: &m, Version: engine.V(0, 29, 0), Plan: &plan.Plan{Weights: weights}, Model: &model.Model{Family: "gemma3"}}
		if err := engine.CheckCapability(j, "vllm"); (err != nil) != refused {
			t.Errorf("gemma3 in %s: %v", weights, err)
		}
	}
}

// capable is whether a version of an engine runs a plan on a device.
func capable(t *testing.T, name, version, device string, p *plan.Plan) error {
	t.Helper()
	m, _, err := hardware.Parse(device, 1)
	if err != nil {
		t.Fatal(err)
	}
	v, err := engine.ParseVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	return engine.CheckCapability(&engine.Job{Machine: &m, Version: v, Plan: p}, name)
}
