package sglang

import (
	"strings"

	"github.com/memwall/memwall/engine"
)

// Models whose layers differ get a pool for each kind of layer.

// slidingSince says from which version the sliding layers of an architecture have a pool of their own;
// without one they are kept in full (configs/model_config.py, is_hybrid_swa_model; Gemma 2, 3 and 3n,
// Olmo 3 and Exaone 4 are held back by name).
var slidingSince = map[string]engine.Version{
	"Llama4ForConditionalGeneration": engine.V(0, 5, 7),
	"MiMoV2FlashForCausalLM":         engine.V(0, 5, 7),
	"GptOssForCausalLM":              engine.V(0, 5, 8),
	"Step3p5ForCausalLM":             engine.V(0, 5, 9),
	"Gemma4ForCausalLM":              engine.V(0, 5, 10),
	"Gemma4ForConditionalGeneration": engine.V(0, 5, 10),
	"LagunaForCausalLM":              engine.V(0, 5, 14), // main of 2026-06-08
	"MiMoV2ForCausalLM":              engine.V(0, 5, 14), // as above
}

// gptOssBlackwell: until 0.5.9 the backend that Blackwell uses had no such pool (#17429, #19079).
var gptOssBlackwell = engine.V(0, 5, 10)

// slidingRatio is swa_full_tokens_ratio: tokens of a sliding layer to tokens of a full one.
const slidingRatio = 0.8

// evictionInterval is how many tokens a sequence grows between two evictions of what left the window.
const evictionInterval = 128

func slidingPool(arch string, v engine.Version, blackwell bool) bool {
	since, ok := slidingSince[arch]
	if strings.HasPrefix(arch, "GptOss") && blackwell {
		since = gptOssBlackwell
	}
	return ok && v.AtLeast(since)
}

// stateRule is how many recurrent states are kept.
type stateRule struct {
	// ratio is mamba_full_memory_ratio: bytes of states to bytes of KV cache. 0: as many states as
	// max_running_requests.
	ratio float64
	// slots of a running request: its own state, and those that the prefix cache keeps for it.
	slots int64
	// spare slots that only pad.
	spare int64
}

// requestsWithoutCache is how many states there are when nothing else says.
const requestsWithoutCache = 512

var deltaStates = []engine.Since[stateRule]{
	{From: engine.V(0, 0, 0), Value: stateRule{slots: 1}, Source: "2025-09-11 (#10233)"},
	{From: engine.V(0, 5, 4), Value: stateRule{ratio: 0.9, slots: 3}, Source: "2025-10-13 (#11214)"},
	{From: engine.V(0, 5, 14), Value: stateRule{ratio: 0.9, slots: 5}, Source: "2026-06-19 (#28151): extra_buffer"},
	{From: engine.V(0, 5, 17), Value: stateRule{ratio: 0.9, slots: 5, spare: 1}, Source: "2026-07-23 (#32184)"},
}

// mambaStates: models with Mamba-2 layers got the prefix cache later.
var mambaStates = []engine.Since[stateRule]{
	{From: engine.V(0, 0, 0), Value: stateRule{slots: 1}, Source: "2025-10-08 (#10909)"},
	{From: engine.V(0, 5, 7), Value: stateRule{ratio: 0.9, slots: 3}, Source: "2025-12-05 (#13584)"},
	{From: engine.V(0, 5, 14), Value: stateRule{ratio: 0.9, slots: 5}, Source: "2026-06-19 (#28151): extra_buffer"},
	{From: engine.V(0, 5, 17), Value: stateRule{ratio: 0.9, slots: 5, spare: 1}, Source: "2026-07-23 (#32184)"},
}

// states gives the rule for a model; without the prefix cache a request has one state.
func states(v engine.Version, delta, prefixCache bool) stateRule {
	rows := mambaStates
	if delta {
		rows = deltaStates
	}
	r := engine.At(rows, v).Value
	if !prefixCache {
		r.slots = 1
		if v.Before(engine.V(0, 5, 14)) {
			r.ratio = 0
		}
	}
	return r
}
