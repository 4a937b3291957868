package ggml

import (
	"github.com/memwall/memwall/lifetime"
	"github.com/memwall/memwall/unit"
)

// CPUAlignment is what buffers in host memory align tensors to (TENSOR_ALIGNMENT in
// ggml/src/ggml-backend.cpp, v0.5.0).
const CPUAlignment = 32

// Planner replays compiled graphs. It keeps its memory between replays and is for one goroutine at a time;
// the zero value is ready.
type Planner struct {
	greedy lifetime.Greedy
	table  []int64
}

// Peak is the bytes of the compute buffer of a spot for one set of sizes.
func (p *Planner) Peak(l *Lifetimes, s Sizes) unit.Bytes {
	p.table = l.SizeTable(s, p.table)
	return unit.Bytes(p.greedy.Peak(&l.Program, p.table))
}

// Checked reports whether graphs of a family were compared with ones that llama.cpp v0.5.0 printed, node by
// node; the graphs of others follow from the same rules and its source.
func Checked(family string) bool { return checked[family] }

var checked = map[string]bool{
	"apertus": true, "arcee": true, "baichuan": true, "bailingmoe2": true, "bloom": true, "chatglm": true, "cohere2": true,
	"command-r": true,
	"dbrx":      true, "deci": true, "deepseek": true, "deepseek2": true, "dots1": true, "ernie4_5": true, "ernie4_5-moe": true,
	"exaone":     true,
	"exaone-moe": true, "exaone4": true, "falcon": true, "gemma": true, "gemma2": true, "gemma3": true, "gemma3n": true, "gemma4": true,
	"glm4":      true,
	"glm4-lite": true, "glm4moe": true, "gpt-oss": true, "gpt2": true, "gptneox": true, "granite": true, "granitehybrid": true,
	"hunyuan-moe": true,
	"internlm2":   true, "jamba": true, "lfm2": true, "llama": true, "llama4": true, "mamba": true, "mamba2": true, "mimo2": true,
	"minicpm":  true,
	"minicpm3": true, "minimax-m2": true, "mistral3": true, "mpt": true, "nemotron": true, "nemotron_h": true, "nemotron_h_moe": true,
	"olmo":  true,
	"olmo2": true, "olmoe": true, "pangu-embedded": true, "phi2": true, "phi3": true, "phimoe": true, "qwen": true, "qwen2": true,
	"qwen2moe": true,
	"qwen2vl":  true, "qwen3": true, "qwen35": true, "qwen35moe": true, "qwen3moe": true, "qwen3next": true, "qwen3vl": true,
	"qwen3vlmoe": true,
	"seed_oss":   true, "smollm3": true, "stablelm": true, "starcoder": true, "starcoder2": true, "step35": true, "xverse": true,
}
