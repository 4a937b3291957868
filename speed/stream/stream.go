// Package stream predicts how fast engines serve a single stream: tokens a second of prompt and output with llama.cpp
// and relatives, MLX, exllama and others, by device, backend, format, depth and age of the engine.
//
// work.go sums a model's kernels, uses.go says which coefficients apply and what they inherit from, time.go has the
// equations, predict.go the figures with their bands. The coefficients are in fitted.tsv, which validation/fit/stream
// writes from measurements.
package stream

import (
	"fmt"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// Input is a model and what it runs on.
type Input struct {
	Model   *model.Model
	Weights *model.Weights
	// FileBytes is how large the weights really are, where only the name of their recipe is known; 0: as stored.
	FileBytes unit.Bytes
	// Stages run parts of the layers one after another.
	Stages []Stage
	// Engine is "llama.cpp", "llamafile", "ollama", "ik_llama.cpp", "mlx-lm", "exllamav2", "transformers", …
	Engine string
	// Variant are words on how the engine was built or ran: a driver ("amdvlk"), a library ("hipblaslt").
	Variant []string
	// Built is when, in years: 2025.5 is the middle of 2025; 0 is now.
	Built float64
	// Flash is "1" with flash attention, "0" without, "" where nobody says.
	Flash string
	// UBatch is how many tokens of a prompt are computed at once; 0: 512.
	UBatch int64
	// KVBytes is the width of a cached number, 0: 2.
	KVBytes float64
	// Work is that of the model, its weights and KVBytes, where it is known already; nil: Compile sums it.
	Work *Work
}

// Stage is a device, or the processor of the host, with its share of the model.
type Stage struct {
	// Backend is "cuda", "metal", "rocm", "vulkan", "sycl" or "cpu".
	Backend string
	Device  *hardware.Device
	// Threads that compute, on a processor; 0: not known.
	Threads float64
	// Dense, Experts and Head are the shares of these weights that lie here. Of one stage they are 1.
	Dense, Experts, Head float64
}

// Model is a model on a machine, ready to be asked.
type Model struct {
	in     Input
	work   *Work
	stages []stage
	// accelerators are the stages that are no processor of the host.
	accelerators int
	uses         usesOf
}

// Compile compiles an input. The error names what is unknown.
func Compile(in Input) (*Model, error) {
	if in.KVBytes == 0 {
		in.KVBytes = 2
	}
	if in.UBatch == 0 {
		in.UBatch = 512
	}
	w, err := in.worked()
	if err != nil {
		return nil, err
	}
	if len(in.Stages) == 0 {
		return nil, fmt.Errorf("no device is given")
	}
	m := &Model{in: in, work: w}
	for _, s := range in.Stages {
		x, err := newStage(s)
		if err != nil {
			return nil, err
		}
		m.stages = append(m.stages, x)
	}
	m.lend()
	m.uses = m.collect()
	return m, nil
}

// worked is the work of an input, as large as its file.
func (in *Input) worked() (w *Work, err error) {
	if w = in.Work; w == nil {
		if w, err = WorkOf(in.Model, in.Weights, in.KVBytes); err != nil {
			return nil, err
		}
	}
	if all := float64(in.Weights.Bytes()); in.FileBytes > 0 && all > 0 {
		w = w.scaled(float64(in.FileBytes) / all)
	}
	return w, nil
}

// Uses are the coefficients that predictions need, in the order in which Rate takes them.
func (m *Model) Uses() []Use { return m.uses.list }

// lend has the first accelerator multiply prompts with the matrices that lie in the host's memory: engines copy
// them over for it where they are used for many tokens (op_offload of llama.cpp, from 32 tokens).
func (m *Model) lend() {
	first := -1
	for i := range m.stages {
		m.stages[i].lends = -1
		if m.stages[i].Backend == "cpu" {
			continue
		}
		m.accelerators++
		if first < 0 {
			first = i
		}
	}
	for i := range m.stages {
		if m.stages[i].Backend == "cpu" {
			m.stages[i].lends = first
		}
	}
}
