package tensorrt

import (
	"github.com/memwall/memwall/engine"
)

// What changed between versions, as rows.

// Latest is the newest release that rules were read from; 1.3 and 1.4 exist as release candidates.
var Latest = engine.V(1, 2, 0)

// pytorchBackend: from 1.0 on models run in PyTorch by default, before in a built engine (release notes 1.0).
var pytorchBackend = engine.V(1, 0, 0)

// Defaults of the LLM API and of trtllm-build (tensorrt_llm/llmapi/llm_args.py, builder.py).
const (
	freeFraction  = 0.9
	maxNumTokens  = 8192
	maxBatchSize  = 2048
	graphMaxBatch = 128
)

// tokensPerBlock: start-up logs of 0.12 to 0.17 print 64, llm_args.py of 1.0 has 32.
var tokensPerBlock = []engine.Since[int64]{
	{From: engine.V(0, 0, 0), Value: 64, Source: "tensorrt_llm/plugin/plugin.py; logs of 0.12 to 0.17"},
	{From: engine.V(0, 18, 0), Value: 32, Source: "tensorrt_llm/llmapi/llm_args.py (KvCacheConfig)"},
}

// constant is a figure in GiB with its 90 % band.
type constant struct{ value, low, high float64 }

// outside is memory that neither weights, activations nor the KV cache take: CUDA's context, cuBLAS, NCCL.
// One public log of a built engine leaves 0.77 GiB unexplained on one H100, another 3.0.
type outsideRule struct{ one, many constant }

var outside = []engine.Since[outsideRule]{
	{From: engine.V(0, 0, 0), Value: outsideRule{constant{0.8, 0.4, 3}, constant{1.8, 0.8, 4}},
		Source: "device total less all printed allocations, docs/source/reference/memory.md"},
}

// loaded is what loading leaves beside the tensors: gpt-oss-120b counts 63.32 GB of weights and holds
// 63.52 GiB after loading (1.1.0rc3).
var loaded = constant{0.2, 0, 1}

// graphs of generation steps, captured before the KV cache is sized.
var graphs = constant{0.5, 0.1, 2}

// logitBytes of the built engine's sampler for each logit of max_batch_size sequences: logits in fp32 and
// the workspaces of top-k and top-p. One public log has 36 for the decoder and 9 for runtime buffers.
var logitBytes = struct{ value, low, high float64 }{24, 4, 48}
