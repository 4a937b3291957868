// Package calibrate reads what a benchmark of the user's own machine measured, and fits the device's own
// offsets to it. All of it is pure: bytes in, observations and a profile out.
//
// read.go tells the formats apart, llamabench.go, serving.go and columns.go read them, given.go adds what the
// user says, stream.go and served.go find the formula of a figure, fit.go the offsets with everything else that is known held
// fixed, own.go how well the figures agree, profile.go keeps them.
//
// Values that cannot be used are refused by name, and the rest is used.
package calibrate

import (
	"slices"
	"strconv"
)

// Test is what an observation times.
type Test string

// Tests, with the unit of their value.
const (
	Prefill    Test = "prefill"    // tokens/s of a prompt, nothing decoded
	Decode     Test = "decode"     // tokens/s of one stream, after Depth tokens
	Mixed      Test = "mixed"      // tokens/s of a prompt and its answer, prompt counted
	TPOT       Test = "tpot"       // ms between tokens of one of Concurrency users, mean
	TTFT       Test = "ttft"       // ms to the first token, mean
	Output     Test = "output"     // tokens/s decoded of all users together
	Latency    Test = "latency"    // s of a whole batch: prompt and answer
	Throughput Test = "throughput" // tokens/s of all requests together, prompts counted
)

// unitOf the values of each test.
var unitOf = map[Test]string{Prefill: "tokens/s", Decode: "tokens/s", Mixed: "tokens/s", Output: "tokens/s", Throughput: "tokens/s",
	TPOT: "ms", TTFT: "ms", Latency: "s"}

// Unit of a test's value.
func (t Test) Unit() string { return unitOf[t] }

// Tests lists the tests.
func Tests() (out []string) {
	for t := range unitOf {
		out = append(out, string(t))
	}
	slices.Sort(out)
	return out
}

// Name is what the model is called, without the folder and the endings of a file of another machine.
func (o *Observation) Name() string { return named(o) }

// Observation is one measured figure and what it was measured on. Fields that the file does not tell are
// empty; what a model or a device is called is the file's word.
type Observation struct {
	At       string `json:"at"` // where in the file: "row 3"
	Model    string `json:"model,omitempty"`
	Weights  string `json:"weights,omitempty"`
	Bytes    int64  `json:"bytes,omitempty"`  // of the weights, as the program counts them
	Params   int64  `json:"params,omitempty"` // of the model, which a table of llama-bench names by its shape alone
	Hardware string `json:"hardware,omitempty"`
	Devices  int64  `json:"devices,omitempty"`
	Engine   string `json:"engine,omitempty"`
	Build    string `json:"build,omitempty"`
	Backend  string `json:"backend,omitempty"`
	// Date of the run, "2025-02-20".
	Date string `json:"date,omitempty"`

	Test        Test  `json:"test"`
	Prompt      int64 `json:"prompt,omitempty"` // tokens of a request, mean
	Answer      int64 `json:"answer,omitempty"`
	Depth       int64 `json:"depth,omitempty"` // tokens cached before
	Concurrency int64 `json:"concurrency,omitempty"`
	Requests    int64 `json:"requests,omitempty"`

	// Settings of llama.cpp, "" where unknown.
	GPULayers string `json:"gpu_layers,omitempty"`
	Threads   string `json:"threads,omitempty"`
	Flash     string `json:"flash,omitempty"` // "1", "0"
	UBatch    int64  `json:"ubatch,omitempty"`
	TypeK     string `json:"type_k,omitempty"`
	TypeV     string `json:"type_v,omitempty"`

	Value float64 `json:"value"` // in the unit of Test
	// Deviation of repeated runs, in the unit of Value; 0 when not told.
	Deviation float64 `json:"deviation,omitempty"`
}

// Refusal is what could not be used, and why.
type Refusal struct {
	At    string `json:"at"`
	Field string `json:"field,omitempty"`
	Value string `json:"value,omitempty"`
	Why   string `json:"why"`
}

// File is what a file holds.
type File struct {
	Format       string        `json:"format"`
	Observations []Observation `json:"observations"`
	Refused      []Refusal     `json:"refused,omitempty"`
}

// limits of what is read: a file of benchmarks has tens of rows, with details of requests some tens of MB.
const (
	// MaxBytes is the largest file.
	MaxBytes = 64 << 20
	maxRows  = 100_000
	maxWord  = 400 // of a value that is kept
	// fastest rate that is believed, in tokens/s, and the longest time, in seconds.
	fastest = 1e8
	longest = 1e6
)

// add keeps an observation whose value can be one, or says why it cannot.
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

// clip bounds what a hostile file can make us repeat.
func clip(s string) string {
	if len(s) > maxWord {
		return s[:maxWord] + "…"
	}
	return s
}
