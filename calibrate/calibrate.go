// Package calibrate reads benchmark results from the user's own machine and fits offsets for its device to them. It
// does no I/O: it turns bytes into observations and a profile.
//
// read.go detects the format; llamabench.go, serving.go and columns.go parse it; given.go adds what the user states;
// stream.go and served.go find the formula behind a figure; fit.go fits the offsets, with all other knowledge held
// fixed; own.go measures how well figures agree; profile.go stores the result.
//
// Unusable values are reported by name, and the rest is used.
package calibrate

import (
	"slices"
	"strconv"
)

// Test is what an observation measures.
type Test string

// Tests, with the unit of their value.
const (
	Prefill    Test = "prefill"    // tokens/s of a prompt, without decoding
	Decode     Test = "decode"     // tokens/s of one stream, after Depth tokens
	Mixed      Test = "mixed"      // tokens/s of a prompt and its output, counting both
	TPOT       Test = "tpot"       // mean ms between tokens for each of Concurrency users
	TTFT       Test = "ttft"       // mean ms to the first token
	Output     Test = "output"     // decoded tokens/s of all users
	Latency    Test = "latency"    // s for a whole batch: prompt and output
	Throughput Test = "throughput" // tokens/s of all requests, counting prompts
)

// unitOf is the unit of each test's values.
var unitOf = map[Test]string{Prefill: "tokens/s", Decode: "tokens/s", Mixed: "tokens/s", Output: "tokens/s", Throughput: "tokens/s",
	TPOT: "ms", TTFT: "ms", Latency: "s"}

// Unit returns the unit of the test's values.
func (t Test) Unit() string { return unitOf[t] }

// Tests returns the names of the tests.
func Tests() (out []string) {
	for t := range unitOf {
		out = append(out, string(t))
	}
	slices.Sort(out)
	return out
}

// Name returns the name of the model, without folder and file extension.
func (o *Observation) Name() string { return named(o) }

// Observation is one measured figure and what it was measured on. Fields that the file does not state are empty; names
// of models and devices are the file's.
type Observation struct {
	At       string `json:"at"` // position in the file: "row 3"
	Model    string `json:"model,omitempty"`
	Weights  string `json:"weights,omitempty"`
	Bytes    int64  `json:"bytes,omitempty"`  // of the weights, as counted by the program
	Params   int64  `json:"params,omitempty"` // of the model, which llama-bench's table names only by size
	Hardware string `json:"hardware,omitempty"`
	Devices  int64  `json:"devices,omitempty"`
	Engine   string `json:"engine,omitempty"`
	Build    string `json:"build,omitempty"`
	Backend  string `json:"backend,omitempty"`
	// Date of the run, "2025-02-20".
	Date string `json:"date,omitempty"`

	Test        Test  `json:"test"`
	Prompt      int64 `json:"prompt,omitempty"` // mean tokens per request
	Answer      int64 `json:"answer,omitempty"`
	Depth       int64 `json:"depth,omitempty"` // previously cached tokens
	Concurrency int64 `json:"concurrency,omitempty"`
	Requests    int64 `json:"requests,omitempty"`

	// Settings of llama.cpp, "" if unknown.
	GPULayers string `json:"gpu_layers,omitempty"`
	Threads   string `json:"threads,omitempty"`
	Flash     string `json:"flash,omitempty"` // "1", "0"
	UBatch    int64  `json:"ubatch,omitempty"`
	TypeK     string `json:"type_k,omitempty"`
	TypeV     string `json:"type_v,omitempty"`

	Value float64 `json:"value"` // in the unit of Test
	// Deviation of repeated runs, in the unit of Value; 0 if not stated.
	Deviation float64 `json:"deviation,omitempty"`
}

// Refusal is something that could not be used, and why.
type Refusal struct {
	At    string `json:"at"`
	Field string `json:"field,omitempty"`
	Value string `json:"value,omitempty"`
	Why   string `json:"why"`
}

// File is the content of a file.
type File struct {
	Format       string        `json:"format"`
	Observations []Observation `json:"observations"`
	Refused      []Refusal     `json:"refused,omitempty"`
}

// Limits of a file: benchmarks have tens of rows, or tens of MB with details of requests.
const (
	// MaxBytes is the maximum size of a file.
	MaxBytes = 64 << 20
	maxRows  = 100_000
	maxWord  = 400 // of a stored value
	// fastest is the highest plausible rate, in tokens/s, and longest the longest time, in seconds.
	fastest = 1e8
	longest = 1e6
)

// add stores an observation with a plausible value, or records why it cannot be used.
func (f *File) add(o Observation, field, text string) {
	x, err := strconv.ParseFloat(text, 64)
	most := fastest
	if o.Test.Unit() != "tokens/s" {
		most = longest * 1e3
	}
	switch {
	case err != nil:
		f.refuse(o.At, field, text, "is not a number")
	case x == 0:
		f.refuse(o.At, field, text, "nothing was measured")
	case !(x > 0):
		f.refuse(o.At, field, text, "a rate or a time is above zero")
	case x > most:
		f.refuse(o.At, field, text, "is beyond any machine: is the unit "+o.Test.Unit()+"?")
	default:
		o.Value = x
		f.Observations = append(f.Observations, o)
	}
}

func (f *File) refuse(at, field, value, why string) {
	f.Refused = append(f.Refused, Refusal{at, field, clip(value), why})
}

// clip truncates a text for quoting.
func clip(s string) string {
	if len(s) > maxWord {
		return s[:maxWord] + "…"
	}
	return s
}
