package llamacpp

import "github.com/memwall/memwall/engine"

// absentAlways are families without an entry in the list of architectures (src/llama-arch.cpp, LLM_ARCH_NAMES, v0.5.0)
// under any name: conversion/*.py registers none of their classes. GPT-J is in the list but nothing builds it.
var absentAlways = map[string]bool{
	"codegen": true, "codet5p": true, "gpt-neo": true, "gptj": true, "gte": true, "internlm": true, "longcat-flash": true, "mimo": true, "mllama": true, "molmo": true,
	"mpnet": true, "openmoe": true, "opt": true, "phi3small": true, "rwkv": true, "rwkv5": true, "zamba2": true,
}

// absentNow are families that older builds supported.
var absentNow = map[string]bool{"persimmon": true}

// absent reports whether llama.cpp cannot load files of a family.
func absent(family string, v engine.Version) bool {
	return absentAlways[family] || absentNow[family] && !v.Before(graphsRead)
}

// Loads reports whether the latest llama.cpp supports a family.
func Loads(family string) bool { return !absent(family, Latest) }
