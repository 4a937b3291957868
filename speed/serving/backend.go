package serving

import "strings"

// Backends of mixtures of experts, by whose kernels compute routed experts. Engines share them: TensorRT-LLM's come to vLLM and
// SGLang with FlashInfer.
const (
	BackendTRTLLM   = "trtllm"
	BackendCutlass  = "cutlass"
	BackendDeepGEMM = "deepgemm"
	BackendTriton   = "triton"
	BackendMarlin   = "marlin"
)

// Backend returns the backend for experts of a class: the one named by the plan, else the engine's default on a device.
// shared says that attention is data parallel, with experts sharded over its ranks.
//
// TensorRT-LLM's are those of its recipes for these devices (InferenceX, benchmarks/*_trt.sh). vLLM's and SGLang's are
// assumed: one choice for all versions, although theirs change. vLLM's selectors of 2026
// (vllm/model_executor/layers/fused_moe/oracle: mxfp4.py, nvfp4.py, fp8.py; of 16 bits #44220) agree on Hopper and on
// Blackwell with HBM except for matrices in FP8 blocks, for which Blackwell now prefers TensorRT-LLM's kernels, and
// Hopper Triton's, or CUTLASS's if experts are sharded. SGLang uses TensorRT-LLM's for FP8 on Blackwell depending on
// the model's architecture (sglang/srt/server_args.py). Rows of the fit whose sources name no backend are labelled by
// this table.
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
