// Package llamacpp models what llama.cpp allocates, buffer by buffer: weights on each device and on the host, caches,
// recurrent states, logits, and compute buffers; for its command-line tools, llama-server and Ollama, which share the
// rules and differ in defaults, and for ik_llama.cpp, a fork with rules of its own (fork.go).
//
// rules.go has what changed between versions, place.go which layer goes where, weights.go the model buffers, cells.go
// and kv.go the caches, compute.go and site.go the compute buffers, which package ggml below replays, and
// compute_band.go what has not been compared. See sizer.go for the path from a load to ledgers. On the CPU and on CUDA
// everything but the driver's own memory is exact.
package llamacpp

import (
	"github.com/memwall/memwall/engine"
)

// Program is one of the programs that run llama.cpp.
type Program uint8

const (
	CLI    Program = iota // llama-cli, llama-bench and programs that link the library
	Server                // llama-server
	Ollama
	Fork // ik_llama.cpp
)

var programNames = [...]string{"llama.cpp", "llama-server", "ollama", "ik_llama.cpp"}

// Engine is llama.cpp in one of its programs.
type Engine struct{ Program Program }

// Name of the engine.
func (e Engine) Name() string { return programNames[e.Program] }

// Latest version whose rules are known.
func (e Engine) Latest() engine.Version {
	switch e.Program {
	case Ollama:
		return latestOllama
	case Fork:
		return latestFork
	}
	return Latest
}

// ReadsGGUF: llama.cpp loads GGUF files only.
func (Engine) ReadsGGUF() bool { return true }

// rules that hold for a job.
func (e Engine) rules(j *engine.Job) rules {
	r := rulesOf(e.Program.llamaVersion(j.Version))
	if e.Program == Fork {
		r.fork(j)
	}
	return r
}

// MaxSequences is how many slots a version has.
func (e Engine) MaxSequences(j *engine.Job) int64 { return e.rules(j).maxSlots }

// Fits reports whether a version has --fit.
func (e Engine) Fits(j *engine.Job) bool { return e.rules(j).fits }

// server reports whether the program is llama-server, by itself or inside Ollama.
func (e Engine) server(j *engine.Job) bool {
	return e.Program == Server || e.Program == Fork || e.Program == Ollama && j.Version.AtLeast(ownServer)
}
