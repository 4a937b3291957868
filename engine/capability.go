package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/plan"
)

// floor is the lowest compute capability on which an engine runs a format.
type floor struct {
	engine  string
	formats []string // recipe names, or prefixes of names up to a hyphen
	since   []Since[float64]
	instead string
}

// floors are the minimum compute capabilities of NVIDIA devices, from the engines' tables of supported hardware. On
// devices without native support, vLLM multiplies fp8 and fp4 weights in 16 bits (Marlin), and so does SGLang for fp8.
var floors = []floor{
	{"vllm", []string{"fp8", "nvfp4", "mxfp4"}, []Since[float64]{
		{From: V(0, 0, 0), Value: 8.0, Source: "docs.vllm.ai/en/v0.11.2 and v0.15.1, features/quantization: Marlin"},
		{From: V(0, 16, 0), Value: 7.5, Source: "docs.vllm.ai/en/v0.32.0, features/quantization: Marlin"}}, "awq or gptq"},
	{"vllm", []string{"awq", "int8"}, []Since[float64]{{From: V(0, 0, 0), Value: 7.5,
		Source: "docs.vllm.ai/en/v0.11.2, features/quantization"}}, "gptq or a GGUF file"},
	{"vllm", []string{"bf16"}, []Since[float64]{{From: V(0, 0, 0), Value: leastBF16,
		Source: "vllm/platforms/cuda.py: check_if_supports_dtype"}}, "f16"},
	{"sglang", []string{"fp8"}, []Since[float64]{{From: V(0, 0, 0), Value: 8.0,
		Source: "sglang/srt/layers/quantization/fp8.py: get_min_capability"}}, "awq or gptq"},
	{"tensorrt-llm", []string{"fp8"}, []Since[float64]{{From: V(0, 0, 0), Value: 8.9,
		Source: "nvidia.github.io/TensorRT-LLM/0.18.2, reference/support-matrix"}}, "awq or int8"},
	{"tensorrt-llm", []string{"nvfp4", "mxfp4"}, []Since[float64]{{From: V(0, 0, 0), Value: 9.0,
		Source: "nvidia.github.io/TensorRT-LLM/1.0.0, features/quantization: Blackwell and Hopper"}}, "awq"},
}

// cacheFloors are the minimum compute capabilities of KV cache formats: FlashInfer needs Ampere, and the backends for
// older devices reject 8-bit caches, in vLLM from 0.24 on. Triton supports E4M3 from 8.9 and E5M2 everywhere.
// TensorRT-LLM needs Ampere altogether.
var cacheFloors = []floor{
	{"vllm", []string{"fp8", "fp8_e4m3", "fp8_e5m2"}, []Since[float64]{
		{From: V(0, 0, 0), Value: 7.0, Source: "vllm/v1/attention/backends/flashinfer.py before 0.24"},
		{From: V(0, 24, 0), Value: 8.0, Source: "vllm-project/vllm#45375: flashinfer.py, supports_compute_capability; triton_attn.py"}},
		"bf16"},
	{"sglang", []string{"fp8", "fp8_e4m3"}, []Since[float64]{{From: V(0, 0, 0), Value: 8.0,
		Source: "vllm-project/vllm#45375: FlashInfer; vllm-project/vllm#7714, kvcache-ai/ktransformers#1978: Triton"}}, "fp8_e5m2"},
	{"tensorrt-llm", []string{"fp8", "fp8_e4m3"}, []Since[float64]{{From: V(0, 0, 0), Value: 8.0,
		Source: "nvidia.github.io/TensorRT-LLM/0.18.2, reference/support-matrix"}}, "bf16"},
}

// leastOf is the lowest compute capability that each engine has kernels for.
var leastOf = map[string]float64{
	"vllm":   7.0, // docs.vllm.ai/en/v0.11.2, getting_started/installation/gpu: compute capability 7.0 or higher
	"sglang": 7.5, // docs.sglang.ai, get_started/install: sm75 and above
}

// Runs reports whether an engine has kernels for a device, judging by compute capability.
func Runs(engine string, d *hardware.Device) bool {
	c, ok := Capability(d)
	return !ok || c >= leastOf[engine]
}

// leastBF16 is the lowest compute capability with bf16 arithmetic.
const leastBF16 = 8.0

// unstable holds the families numerically unstable in f16, which vLLM then loads in f32 (vllm/config/model.py,
// _FLOAT16_NOT_SUPPORTED_MODELS of August 2026).
var unstable = []string{"gemma2", "gemma3", "glm4"}

// WithoutBF16 returns the format in which an engine loads a bf16 checkpoint on a machine that has a device without bf16
// arithmetic, or "" if it stays bf16 (vllm/config/model.py, _resolve_auto_dtype and supported_dtypes of
// platforms/cuda.py, from 0.9 on; sglang/srt/model_executor/model_runner.py, load_model).
func WithoutBF16(engine, family string, m *hardware.Machine) string {
	if m == nil || engine != "vllm" && engine != "sglang" {
		return ""
	}
	for i := range m.Groups {
		if c, ok := Capability(&m.Groups[i].Device); ok && c < leastBF16 {
			if engine == "vllm" && slices.Contains(unstable, family) {
				return "f32"
			}
			return "f16"
		}
	}
	return ""
}

// CheckCapability rejects devices that the engine has no kernels for, and weight or KV cache formats that the engine
// does not run on a device of the plan.
func CheckCapability(j *Job, engine string) error {
	if j.Machine == nil {
		return nil
	}
	for g := range j.Machine.Groups {
		if d := &j.Machine.Groups[g].Device; !Runs(engine, d) {
			return &plan.Problem{Field: "engine", Value: engine, Impossible: true,
				Message: fmt.Sprintf("%s runs on devices from compute capability %.1f on, and %s has %s", engine, leastOf[engine], d.Name,
					d.Capability),
				Fix: "--engine llama.cpp, or a newer device"}
		}
	}
	if err := checkUnstable(j, engine); err != nil {
		return err
	}
	if err := checkFloors(j, engine, "weights", j.Plan.Weights, floors); err != nil {
		return err
	}
	return checkFloors(j, engine, "kv", j.Plan.KV, cacheFloors)
}

// checkFloors rejects the value of a field on devices below its floor.
func checkFloors(j *Job, engine, field, value string, among []floor) error {
	for i := range among {
		f := &among[i]
		if f.engine != engine || !f.holds(value) {
			continue
		}
		least := At(f.since, j.Version).Value
		for g := range j.Machine.Groups {
			d := &j.Machine.Groups[g].Device
			if c, ok := Capability(d); ok && c < least {
				return &plan.Problem{Field: field, Value: value, Impossible: true,
					Message: fmt.Sprintf("%s = %s and hardware = %s: %s runs the format from compute capability %.1f on, and %s has %s", field,
						value, j.Machine.Name, engine, least, d.Name, d.Capability),
					Fix: cmp.Or(f.instead, "another format") + ", or a newer device"}
			}
		}
	}
	return nil
}

// checkUnstable rejects what vLLM rejects for families that f16 is too narrow for: f16 itself, and on devices without
// bf16 all formats whose kernels cannot compute in f32, that is, all but bitsandbytes (get_supported_act_dtypes in
// vllm/model_executor/layers/quantization).
func checkUnstable(j *Job, engine string) error {
	if engine != "vllm" || j.Model == nil || !slices.Contains(unstable, j.Model.Family) {
		return nil
	}
	switch w := j.Plan.Weights; {
	case w == "f16":
		return &plan.Problem{Field: "weights", Value: w, Impossible: true,
			Message: fmt.Sprintf("weights = f16: vllm refuses %s in f16, where it is not stable", j.Model.Family),
			Fix:     "f32, or bf16 on a newer device"}
	case w != "f32" && w != "nf4" && WithoutBF16(engine, j.Model.Family, j.Machine) != "":
		return &plan.Problem{Field: "weights", Value: w, Impossible: true,
			Message: fmt.Sprintf("weights = %s and hardware = %s: vllm computes %s in f32 there, which kernels of the format do not",
				w, j.Machine.Name, j.Model.Family),
			Fix: "--engine llama.cpp, or a newer device"}
	}
	return nil
}

func (f *floor) holds(recipe string) bool {
	for _, name := range f.formats {
		if recipe == name || strings.HasPrefix(recipe, name+"-") {
			return true
		}
	}
	return false
}

// Capability returns the compute capability of an NVIDIA device.
func Capability(d *hardware.Device) (float64, bool) {
	x, err := strconv.ParseFloat(d.Capability, 64)
	return x, err == nil && d.Vendor == "NVIDIA"
}
