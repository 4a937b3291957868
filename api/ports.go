package api

import (
	"io"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/unit"
)

// ModelSource finds models by reference. The catalog is one; package source adds files and folders.
type ModelSource interface {
	Model(ref string) (*Resolved, error)
}

// Projector is what the header of a projector (mmproj) says.
type Projector = engine.Projector

// ProjectorSource reads projectors, which lie beside a model.
type ProjectorSource interface {
	Projector(ref string) (*Projector, error)
}

// LengthSource reads files of sample lengths, which plans of training name.
type LengthSource interface {
	// Lengths of the samples in tokens, in the order of the file.
	Lengths(name string) ([]int64, error)
}

// Resolved is a model that a reference led to.
type Resolved struct {
	ID   string
	Name string // as people write it
	Hub  string // on the hub, for command lines
	File string // of a GGUF model on the hub, for command lines: org/name/file.gguf
	// Path is what an engine opens, as it was given: a GGUF file, of several the first, or the folder of a checkpoint; it may lie on
	// another machine, where only its words were read. Address is that of a GGUF file which is at no hub, Library its name in
	// Ollama's library.
	Path, Address, Library string
	// Asked is the format that a name states of a checkpoint that is stored otherwise: "qwen3-32b-q4_k_m".
	Asked string
	// Stated: the name says how the weights are stored.
	Stated bool
	// Assumed: a name that is not known was taken for a model of the shape of one that it holds.
	Assumed bool
	// Guessed: the name left open which of several models is meant, and one was taken.
	Guessed bool
	// Derived says how a network was read whose architecture no family has, "" for all others.
	Derived string
	// Engine is the program whose names were used, "" for none.
	Engine string
	// Spec builds Model; nil when the architecture is unknown.
	Spec  *family.Spec
	Model *model.Model
	// Weights as a file stores them; nil when a recipe decides.
	Weights *model.Weights
	// Recipe is the quantisation of the file or of the published checkpoint; "" for the config's own format.
	Recipe string
	// Cache is the format that a checkpoint's configuration states for its KV cache, and Method what quantised it: modelopt and
	// others' configurations have been followed since different versions.
	Cache, Method string
	// Scheme is that quantisation itself where no named recipe does the same: other groups, layers left out.
	Scheme     *dtype.Recipe
	Format     string // "gguf", "safetensors", "config", "catalog", "description"
	FileBytes  unit.Bytes
	Provenance string
	// Projector is set, and nothing else of the model, for a file that goes beside one.
	Projector *Projector
	// UnknownArch is set when no family reads the architecture: weights are exact, caches unknown.
	UnknownArch string
	Layers      int64
	Parameters  int64
	Notes       []Note
}

// TraceSource opens recorded workloads by their names.
type TraceSource interface {
	// Trace opens a trace for one reading.
	Trace(name string) (io.ReadCloser, error)
}

// Evidence knows what was measured of plans such as those that are answered.
type Evidence interface {
	// Measured tells what was measured of an answer's plan; nil where nothing was.
	Measured(a *Answer) *Measured
}
