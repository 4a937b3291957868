// Package plannertest has questions for the tests of searches.
package plannertest

import (
	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/plan"
)

// Planned are questions that people ask: too little memory, a little too little, enough; one device, several, unequal
// ones, a host.
var Planned = []api.Request{
	{Model: "qwen3-32b", Hardware: "rtx-4090", Plan: plan.Plan{Weights: "q4_k_m", Context: 32768}},
	{Model: "qwen3-32b", Hardware: "rtx-4090", Plan: plan.Plan{Context: 16384}},
	{Model: "llama-3.1-70b", Hardware: "2xh100", Plan: plan.Plan{Sequences: 32}},
	{Model: "llama-3.1-8b", Hardware: "rtx-3060"},
	{Model: "llama-3.1-8b", Hardware: "rtx-3090"},
	{Model: "gpt-oss-120b", Hardware: "rtx-4090,host=96GiB"},
	{Model: "llama-3.1-70b", Hardware: "rtx-4090+rtx-3060", Plan: plan.Plan{Weights: "q4_k_m"}},
	{Model: "llama-3.1-70b", Hardware: "rtx-4090", Plan: plan.Plan{Weights: "bf16", Engine: "vllm"}},
	{Model: "qwen3-30b-a3b", Hardware: "4xa100-pcie", Plan: plan.Plan{Engine: "sglang", Sequences: 16}},
	{Model: "llama-3.1-8b", Hardware: "v100"},
	{Model: "llama-3.1-8b", Hardware: "l4", Plan: plan.Plan{Engine: "tensorrt-llm"}},
}
