// Package engine models the memory that inference engines reserve: versioned rules as table rows, with one package per
// engine. An Engine fills in defaults, rejects the plans it would reject, and returns a Sizer, which turns a load into
// ledgers. place.go distributes a model over ranks; version.go has the tables of rules.
//
// To add a version of an engine, follow docs/guides/add-an-engine-version.md.
package engine

import (
	"fmt"
	"slices"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// Engine is an inference engine.
type Engine interface {
	// Name returns the canonical name: "vllm".
	Name() string
	// Latest returns the newest version whose rules are known.
	Latest() Version
	// Defaults fills in what the plan leaves open and notes the choices that matter.
	Defaults(j *Job)
	// Check rejects the plans that the engine would reject.
	Check(j *Job) error
	// Sizer prepares whatever does not depend on the load.
	Sizer(j *Job) (Sizer, error)
	// Command returns the command line that runs the plan.
	Command(j *Job) string
}

// ReadsGGUF reports whether an engine loads GGUF files only, which it declares by a method of that name.
func ReadsGGUF(e Engine) bool {
	r, ok := e.(interface{ ReadsGGUF() bool })
	return ok && r.ReadsGGUF()
}

// MaxSequences returns the engine's limit on concurrent sequences, regardless of memory; ok is false if there is none.
// Engines with a limit have a method of that name.
func MaxSequences(e Engine, j *Job) (n int64, ok bool) {
	if own, has := e.(interface{ MaxSequences(*Job) int64 }); has {
		return own.MaxSequences(j), true
	}
	return 0, false
}

// Sizer sizes loads. It can be used repeatedly.
type Sizer interface {
	// Size returns the ledger of each class of ranks, the limiting one first. A nil Book computes the same numbers
	// without formulas.
	Size(b *ledger.Book, l Load) []Rank
}

// Load is what one replica serves: Sequences concurrent sequences of Context tokens each. Over is the number of ranks
// that share a sequence's tokens (context parallelism); 0 means 1. Silent reports that the engine's printed figures are
// not needed.
type Load struct {
	Context, Sequences, Over int64
	Silent                   bool
}

// Job is a model to run on a machine under a plan.
type Job struct {
	Model   *model.Model
	Weights *model.Weights
	Machine *hardware.Machine // nil: unbounded
	Plan    *plan.Plan
	Version Version
	// Checkpoint is how a command line refers to the model.
	Checkpoint Checkpoint
	// Vision is the vision tower of the published model, if the loaded file omits it.
	Vision *model.Part
	// Projector is the file that the plan loads with a GGUF model, if it was read.
	Projector *Projector
	// Draft is the draft model for speculative decoding, or nil.
	Draft *Job
	// MTP are the prediction layers of the published model, if the plan drafts with them.
	MTP   *Predictor
	Notes []Note
	// Room is the memory that the plan leaves on the device with the least left; 0 if the plan was not sized.
	Room unit.Bytes
	// Silent drops notes, in a search that shows none.
	Silent bool
	// Shared is work shared among the jobs of a search; nil for a single job.
	Shared *Shared
}

// Checkpoint is a hub name or a path, and the recipe it is stored in.
type Checkpoint struct {
	Name, Stored string
	// Cache is the KV cache format that the checkpoint's configuration states, Method the quantization tool that wrote
	// it.
	Cache, Method string
	// HubFile is the GGUF file, if on the hub: org/name/file.gguf, or org/name:FORMAT if only the repository is known.
	HubFile string
	// File is a GGUF file on this machine, the first of a split set; Address is the URL of one; Library is its name in
	// Ollama's library, "" if that has none in the plan's format.
	File, Address, Library string
	// Assumed reports that the format is known from the name only, so that which layers stay in 16 bits was the
	// quantizer's choice.
	Assumed bool
}

// Keeps reports whether the checkpoint is stored in the plan's weight format, so that a command can name it.
func (j *Job) Keeps() bool { return j.Plan.Weights == "" || j.Plan.Weights == j.Checkpoint.Stored }

// CheckpointName returns how a command line refers to the model: its id if nothing better is known.
func (j *Job) CheckpointName() string {
	if j.Checkpoint.Name != "" {
		return j.Checkpoint.Name
	}
	return j.Model.ID
}

// Note is a remark on a plan. Severity is "info", "warn" or "error".
type Note struct{ Code, Severity, Field, Text string }

// Note adds a note.
func (j *Job) Note(code, severity, field, format string, args ...any) {
	if !j.Silent {
		j.Notes = append(j.Notes, Note{code, severity, field, fmt.Sprintf(format, args...)})
	}
}

// noted reports whether a note with the code was added.
func (j *Job) noted(code string) bool {
	return slices.ContainsFunc(j.Notes, func(n Note) bool { return n.Code == code })
}

// Default notes that a field was filled in.
func (j *Job) Default(field string, value any) {
	j.Note("default_used", "info", field, "%s = %v by default", field, value)
}

// Devices returns the machine's number of devices; 1 without a machine, which stands for an unbounded device.
func (j *Job) Devices() int64 {
	if j.Machine == nil {
		return max(1, j.Plan.Ranks())
	}
	return int64(j.Machine.Devices())
}

// PerNode returns the number of devices per node.
func (j *Job) PerNode() int64 {
	if j.Machine == nil {
		return j.Devices()
	}
	return int64(max(1, j.Machine.PerNode))
}

// Device returns the device that a rank runs on; nil without a machine or accelerators.
func (j *Job) Device(rank int64) *hardware.Device {
	if j.Machine == nil {
		return nil
	}
	if len(j.Machine.Groups) == 0 {
		return nil
	}
	return &j.Machine.Groups[j.group(rank)].Device
}

// Load returns what one replica of the plan serves.
func (j *Job) Load() Load {
	dp := max(1, j.Plan.DP) * j.Plan.Workers()
	return Load{Context: int64(j.Plan.Context), Sequences: unit.CeilDiv(int64(j.Plan.Sequences), dp)}
}

// Rank is a class of identical ranks with its ledger.
type Rank struct {
	Name  string
	Index int64 // of the first rank
	Count int64
	// Capacity is what the driver reports, Usable what the plan may use of it. Limit says why, if that is less.
	Capacity, Usable ledger.Num
	UsableBasis      ledger.Basis
	Unlimited        bool
	Limit            string
	// Items are what the load needs. Pool is what the engine preallocates for caches. Beside are items on the device
	// that do not count against Usable.
	Items  []ledger.Item
	Beside []ledger.Item
	Host   []ledger.Item
	KV     KV
	Prints []Print
}

// KV describes a rank's caches.
type KV struct {
	// PerToken is the cache growth per token of a sequence on this rank.
	PerToken unit.Bytes
	// Pool is what the engine allocates, Needed what the load uses of it.
	Pool, Needed unit.Bytes
	// Tokens that the pool holds in full-length sequences; -1 if unbounded.
	Tokens              int64
	Blocks, BlockTokens int64
	// Pages describes how sequences share the pool, if the engine allocates it in blocks.
	Pages        Pages
	Preallocated bool
	// Given reports that the plan fixes the size of the pool, which the load must fit in.
	Given bool
}

// Print is a figure that the engine prints at start-up. Low and High bound it; without them it is as exact as its
// inputs.
type Print struct {
	Name      string
	Value     float64
	Text      string
	Unit      string
	Low, High float64
}

// Banded returns the figure with its band filled in; without one it is exact.
func (p Print) Banded() Print {
	if p.Low == 0 && p.High == 0 {
		p.Low, p.High = p.Value, p.Value
	}
	return p
}

// Needed returns the sum of the items on the device.
func (r *Rank) Needed() ledger.Total { return ledger.At(r.Items, ledger.Device) }

// SizeRanks returns the ledger of each prepared class of ranks.
func SizeRanks[P any](prepared []P, ledgerOf func(*P) Rank) []Rank {
	out := make([]Rank, len(prepared))
	for i := range prepared {
		out[i] = ledgerOf(&prepared[i])
	}
	return out
}

// GrowingKV describes the caches of an engine that allocates no pool in advance.
func GrowingKV(perToken unit.Bytes, caches []ledger.Item) KV {
	kv := KV{PerToken: perToken, Tokens: -1}
	for i := range caches {
		kv.Needed += caches[i].Bytes
	}
	kv.Pool = kv.Needed
	return kv
}

// OffDevice returns the items held elsewhere than on the device.
func OffDevice(items []ledger.Item) (out []ledger.Item) {
	for i := range items {
		if items[i].Place != ledger.Device {
			out = append(out, items[i])
		}
	}
	return out
}
