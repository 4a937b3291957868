package serving

import "strings"

// Backends of mixtures are whose kernels multiply routed experts. Engines take them from each other: those of
// TensorRT-LLM come with FlashInfer to vLLM and SGLang.
const (
	BackendTRTLLM   = "trtllm"
	BackendCutlass  = "cutlass"
	BackendDeepGEMM = "deepgemm"
	BackendTriton   = "triton"
	BackendMarlin   = "marlin"
)

// Backend of experts of a class: the one that the plan names, else what the engine takes on a device. shared says that
// attention is data parallel, and experts are spread over its ranks.
//
// TensorRT-LLM's are those of its recipes for these devices (InferenceX, benchmarks/*_trt.sh). vLLM's and SGLang's are
// assumed: one choice for all versions, though theirs change. vLLM's selectors of 2026 (vllm/model_executor/layers/
// fused_moe/oracle: mxfp4.py, nvfp4.py, fp8.py; of 16 bits #44220) agree on Hopper and on Blackwell with HBM but for
// matrices in blocks of FP8, for which Blackwell now tries TensorRT-LLM's kernels first, and Hopper Triton's, or
// CUTLASS's where experts are spread. SGLang takes TensorRT-LLM's for FP8 on Blackwell by the model's architecture
// (sglang/srt/server_args.py). Rows of the fit whose sources name no back end are labelled by this table.
func Backend(named, engine, family, class string, shared bool) string {
	if named != "" && named != "auto" {
		return named
	}
	blackwell := strings.HasPrefix(family, "blackwell") && strings.HasSuffix(family, "hbm")
	if engine == "tensorrt-llm" {
		return ofTensorRT(class, blackwell, shared)
	}
	switch class {
	case "int4":
		return BackendMarlin
	case "nvfp4":
		if blackwell {
			return BackendTRTLLM
		}
		return BackendMarlin
	case "mxfp4":
		if blackwell {
			return BackendTRTLLM
		}
		return BackendTriton
	case "fp8-block":
		if blackwell && engine == "sglang" {
			return BackendTRTLLM
		}
		return BackendDeepGEMM
	}
	return BackendTriton
}

func ofTensorRT(class string, blackwell, shared bool) string {
	switch {
	case blackwell && !shared:
		return BackendTRTLLM
	case blackwell && class == "fp8-block":
		return BackendDeepGEMM
	case !blackwell && class == "mxfp4":
		return BackendTriton
	}
	return BackendCutlass
}
