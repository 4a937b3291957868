package transformers

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
)

// What changed between versions, as rows (4.36 2023-12, 4.42 2024-06, 4.45 2024-09, 4.53 2025-06, 4.54
// 2025-07, 4.56 2025-08, 5.0 2026-01, 5.15 2026-08).

// Latest is the newest version that the rules were read from.
var Latest = engine.V(5, 15, 0)

// attentionDefault is attn_implementation when nothing is asked for.
var attentionDefault = engine.Since[string]{From: engine.V(4, 36, 0), Value: "sdpa", Source: "modeling_utils.py, 2023-12-08 (#26572)"}

func defaultAttention(v engine.Version) string {
	if v.Before(attentionDefault.From) {
		return "eager"
	}
	return attentionDefault.Value
}

// logitRule says for how many tokens of a prompt logits are made, and what one takes: the head's own, their
// copy in fp32, and the probabilities of the rows that are sampled.
type logitRule struct {
	wholePrompt bool
	bytes       int64
	why         string
}

var logitRules = []engine.Since[logitRule]{
	{From: engine.V(0, 0, 0), Value: logitRule{true, 6, "2 logits + 4 fp32, of the whole prompt"},
		Source: "modeling_llama.py: logits.float()"},
	{From: engine.V(4, 45, 0), Value: logitRule{false, 10, "2 logits + 4 fp32 + 4 probabilities, of the last token"},
		Source: "2024-08-23 (#31292): num_logits_to_keep"},
}

// slidingRule says how sliding layers are cached.
type slidingRule uint8

const (
	slidingFull   slidingRule = iota // every token
	slidingGemma                     // a window in Gemma 2 and 3 only (HybridCache)
	slidingWindow                    // a window
)

var slidingRules = []engine.Since[slidingRule]{
	{From: engine.V(0, 0, 0), Value: slidingFull, Source: "cache_utils.py: DynamicCache"},
	{From: engine.V(4, 42, 0), Value: slidingGemma, Source: "2024-06-27 (#31659): HybridCache"},
	{From: engine.V(4, 56, 0), Value: slidingWindow, Source: "2025-08-12 (#40039): DynamicSlidingWindowLayer"},
}

var (
	// groupedQueries: from here on sdpa reads grouped keys and values as they are when there is no mask
	// (#39412).
	groupedQueries = engine.V(4, 54, 0)
	// boolMask: masks of sdpa are bool, before in the model's format (#37866).
	boolMask = engine.V(4, 53, 0)
	// latentCache: multi-head latent attention caches its latents (#47460), before it cached the keys and
	// values of all heads.
	latentCache = engine.V(5, 15, 0)
	// quantizedCache exists (#30483), static caches too.
	quantizedCache = engine.V(4, 42, 0)
	// groupedExperts: all experts of a layer are multiplied together (#42697), before one after another.
	groupedExperts = engine.V(5, 0, 0)
	// tensorParallel: tp_plan (#34184).
	tensorParallel = engine.V(4, 47, 0)
)

// A quantised cache (cache_utils.py, QuantizedLayer): groups of 64 with a scale and a zero point in the
// model's format, and up to 128 recent tokens as they were.
const (
	quantGroup    = 64
	quantResidual = 128
)

// quantBits are the widths that a quantised cache may have: HQQ takes 1, 2, 3, 4 and 8, Quanto 2 and 4.
var quantBits = map[*dtype.Format]int64{dtype.I8: 8, dtype.I4: 4, dtype.I3: 3, dtype.I2: 2, dtype.Bit: 1}

// constant is a figure in GiB with its 90 % band.
type constant struct{ value, low, high float64 }

// context of CUDA, with cuBLAS: what is not free on a device before anything is loaded. 0.36 to 0.52 GiB on
// public logs of other engines of PyTorch; NCCL adds to it on several devices.
var (
	context   = constant{0.5, 0.3, 0.8}
	contextTP = constant{1.2, 0.6, 2.5}
)
