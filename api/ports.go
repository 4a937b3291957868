package api

import (
	"io"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/unit"
)

// ModelSource resolves model references. The catalog is one; package source adds files and folders.
type ModelSource interface {
	Model(ref string) (*Resolved, error)
}

// Projector is the header of a multimodal projector (mmproj).
type Projector = engine.Projector

// ProjectorSource reads multimodal projectors.
type ProjectorSource interface {
	Projector(ref string) (*Projector, error)
}

// LengthSource reads the sample lengths that training plans refer to.
type LengthSource interface {
	// Lengths returns the lengths of the samples in tokens, in file order.
	Lengths(name string) ([]int64, error)
}

// Resolved is the model that a reference resolved to.
type Resolved struct {
	ID   string
	Name string // display name
	Hub  string // hub repository, for command lines
	File string // GGUF file on the hub, for command lines: org/name/file.gguf
	// Path is the path for the engine to open, as given: a GGUF file, the first of a split set, or a checkpoint folder.
	// It may be on another machine, with only its name known here. Address is the URL of a GGUF file that is on no hub,
	// Library its name in Ollama's library.
	Path, Address, Library string
	// Asked is the format stated by the name, as in "qwen3-32b-q4_k_m", where the checkpoint is stored in another.
	Asked string
	// Stated reports that the name says how the weights are stored.
	Stated bool
	// Assumed reports that an unknown name was resolved to a model with the shape that the name suggests.
	Assumed bool
	// Guessed reports that the name was ambiguous and one of several models was chosen.
	Guessed bool
	// Derived says how the network was inferred if no family reads its architecture, "" otherwise.
	Derived string
	// Engine is the program whose naming scheme the reference follows, "" for none.
	Engine string
	// Spec builds Model; nil if the architecture is unknown.
	Spec  *family.Spec
	Model *model.Model
	// Weights are the tensors as stored in a file; nil if a recipe decides.
	Weights *model.Weights
	// Recipe is the quantization of the file or published checkpoint; "" for the config's own format.
	Recipe string
	// Cache is the KV cache format that the checkpoint's configuration states, and Method the quantization tool. Engines
	// began to honor the statements of modelopt and of other tools in different versions.
	Cache, Method string
	// Scheme is the quantization itself where no named recipe matches: other group sizes, layers left out.
	Scheme     *dtype.Recipe
	Format     string // "gguf", "safetensors", "config", "catalog", "description"
	FileBytes  unit.Bytes
	Provenance string
	// Projector is set for a file that holds a projector rather than a model; no other field is.
	Projector *Projector
	// UnknownArch is set if no family reads the architecture: weights are exact, caches unknown.
	UnknownArch string
	Layers      int64
	Parameters  int64
	Notes       []Note
}

// TraceSource opens recorded workloads by name.
type TraceSource interface {
	// Trace opens a trace for a single read.
	Trace(name string) (io.ReadCloser, error)
}

// Evidence looks up measurements of the plans being answered.
type Evidence interface {
	// Measured returns the measurements of the answer's plan, or nil if there are none.
	Measured(a *Answer) *Measured
}
