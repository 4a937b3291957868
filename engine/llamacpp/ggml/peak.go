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
	"bloom": true, "cohere2": true, "command-r": true, "deepseek2": true, "gemma2": true, "gemma3": true, "gemma3n": true, "gemma4": true,
	"gpt-oss": true, "granitehybrid": true, "jamba": true, "llama": true, "mamba": true, "mamba2": true, "minicpm3": true, "minimax-m2": true,
	"nemotron_h": true, "olmo2": true, "olmoe": true, "phi2": true, "phi3": true, "qwen2": true, "qwen2moe": true, "qwen3": true,
	"qwen35moe": true, "qwen3moe": true, "qwen3next": true, "stablelm": true, "starcoder2": true,
}
