// Package engine holds what inference engines reserve: versioned rules as rows, one package per engine.
// An Engine fills in defaults, refuses plans that it would refuse, and gives a Sizer, which books a load
// in a ledger. place.go shares a model among ranks; version.go has the tables of rules.
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
	// Name is the canonical name: "vllm".
	Name() string
	// Latest is the newest version whose rules are known.
	Latest() Version
	// Defaults fills in what the plan leaves open and remarks on what decides.
	Defaults(j *Job)
	// Check refuses a plan as the engine would.
	Check(j *Job) error
	// Sizer prepares what does not depend on the load.
	Sizer(j *Job) (Sizer, error)
	// Command is the command line that runs the plan.
	Command(j *Job) string
}

// ReadsGGUF reports whether an engine loads GGUF files only. Such an engine says so with a method of that
// name.
func ReadsGGUF(e Engine) bool {
	r, ok := e.(interface{ ReadsGGUF() bool })
	return ok && r.ReadsGGUF()
}

// MaxSequences is how many sequences an engine serves at once, whatever its memory; ok is false when it sets
// no limit. An engine that does says so with a method of that name.
func MaxSequences(e Engine, j *Job) (n int64, ok bool) {
	if own, has := e.(interface{ MaxSequences(*Job) int64 }); has {
		return own.MaxSequences(j), true
	}
	return 0, false
}

// Sizer books loads. It may be asked many times.
type Sizer interface {
	// Size gives the ledger of each class of ranks, the deciding one first. A nil Book computes the same
	// numbers without formulas.
	Size(b *ledger.Book, l Load) []Rank
}

// Load is what one replica serves: Sequences at once of Context tokens each. Over is how many ranks share
// the tokens of a sequence (context parallelism); 0 is one. Silent: nobody asks what the engine prints.
type Load struct {
	Context, Sequences, Over int64
	Silent                   bool
}

// Job is a model to be run on a machine by a plan.
type Job struct {
	Model   *model.Model
	Weights *model.Weights
	Machine *hardware.Machine // nil: no bounds
	Plan    *plan.Plan
	Version Version
	// Checkpoint is what a command line calls the model.
	Checkpoint Checkpoint
	// Vision is the tower of the published model, where the file that is loaded leaves it out.
	Vision *model.Part
	// Projector is the file that the plan loads beside a GGUF model, where it was read.
	Projector *Projector
	// Draft is the model that drafts for speculative decoding, when there is one.
	Draft *Job
	// MTP are the prediction layers of the published model, when the plan has them draft.
	MTP   *Predictor
	Notes []Note
	// Room is what the plan leaves free on the device that has least; 0 where it was not sized.
	Room unit.Bytes
	// Shared is what the jobs of a search have in common; nil for a job of its own.
	Shared *Shared
}

// Checkpoint is a name on the hub or a path, and the recipe that is stored there.
type Checkpoint struct {
	Name, Stored string
	// Cache is the format of the KV cache that the checkpoint's configuration states, by the method that wrote it.
	Cache, Method string
	// HubFile is the GGUF file itself, where it is one of the hub's: org/name/file.gguf, or org/name:FORMAT where the repository alone
	// is known.
	HubFile string
	// File is a GGUF file on this machine, of several the first, Address where one is, Library its name with Ollama, "" where that has
	// none in the plan's format.
	File, Address, Library string
	// Assumed: the format is known by name alone: which layers stay in 16 bits is the choice of whoever quantised it.
	Assumed bool
}

// Keeps reports whether the checkpoint is stored as the plan has its weights, so that a command can name its file.
func (j *Job) Keeps() bool { return j.Plan.Weights == "" || j.Plan.Weights == j.Checkpoint.Stored }

// CheckpointName is what a command line calls the model: its id where nothing better is known.
func (j *Job) CheckpointName() string {
	if j.Checkpoint.Name != "" {
		return j.Checkpoint.Name
	}
	return j.Model.ID
}

// Note is a remark on a plan. Severity is "info", "warn" or "error".
type Note struct{ Code, Severity, Field, Text string }

// Note adds a remark.
func (j *Job) Note(code, severity, field, format string, args ...any) {
	j.Notes = append(j.Notes, Note{code, severity, field, fmt.Sprintf(format, args...)})
}

// noted reports whether a remark was made.
func (j *Job) noted(code string) bool {
	return slices.ContainsFunc(j.Notes, func(n Note) bool { return n.Code == code })
}

// Default remarks that a field was filled in.
func (j *Job) Default(field string, value any) {
	j.Note("default_used", "info", field, "%s = %v by default", field, value)
}

// Devices is how many the machine has; 1 when there is no machine, which stands for a device without
// bounds.
func (j *Job) Devices() int64 {
	if j.Machine == nil {
		return max(1, j.Plan.Ranks())
	}
	return int64(j.Machine.Devices())
}

// PerNode is how many devices share a node.
func (j *Job) PerNode() int64 {
	if j.Machine == nil {
		return j.Devices()
	}
	return int64(max(1, j.Machine.PerNode))
}

// Device is the one that a rank runs on; nil without a machine or accelerators.
func (j *Job) Device(rank int64) *hardware.Device {
	if j.Machine == nil {
		return nil
	}
	if len(j.Machine.Groups) == 0 {
		return nil
	}
	return &j.Machine.Groups[j.group(rank)].Device
}

// Load is what one replica of the plan serves.
func (j *Job) Load() Load {
	dp := max(1, j.Plan.DP) * j.Plan.Workers()
	return Load{Context: int64(j.Plan.Context), Sequences: unit.CeilDiv(int64(j.Plan.Sequences), dp)}
}

// Rank is a class of identical ranks with its ledger.
type Rank struct {
	Name  string
	Index int64 // of the first of them
	Count int64
	// Capacity is what the driver reports, Usable what this plan may use of it, and Limit says why when
	// that is less than the device shows.
	Capacity, Usable ledger.Num
	UsableBasis      ledger.Basis
	Unlimited        bool
	Limit            string
	// Items are what the load needs; Pool is what the engine will allocate for caches, when it allocates
	// ahead. Beside are items on the device that do not count against Usable.
	Items  []ledger.Item
	Beside []ledger.Item
	Host   []ledger.Item
	KV     KV
	Prints []Print
}

// KV is what a rank's caches hold.
type KV struct {
	// PerToken is what one more token of a sequence takes on this rank.
	PerToken unit.Bytes
	// Pool is what the engine allocates, Needed what the load takes of it.
	Pool, Needed unit.Bytes
	// Tokens that the pool holds in full-length sequences; -1 when nothing bounds it.
	Tokens              int64
	Blocks, BlockTokens int64
	// Pages are how sequences share the pool out, where the engine gives it in blocks.
	Pages        Pages
	Preallocated bool
	// Given: the plan says how large the pool is, and the load must have room in it.
	Given bool
}

// Print is a figure that the engine itself prints at start-up. Low and High bound it; a print without
// them is as exact as its inputs.
type Print struct {
	Name      string
	Value     float64
	Text      string
	Unit      string
	Low, High float64
}

// Banded is the figure with its band filled in: one that says none is exact.
func (p Print) Banded() Print {
	if p.Low == 0 && p.High == 0 {
		p.Low, p.High = p.Value, p.Value
	}
	return p
}

// Needed sums the items on the device.
func (r *Rank) Needed() ledger.Total { return ledger.At(r.Items, ledger.Device) }

// SizeRanks gives each class of ranks that was prepared its ledger.
func SizeRanks[P any](prepared []P, ledgerOf func(*P) Rank) []Rank {
	out := make([]Rank, len(prepared))
	for i := range prepared {
		out[i] = ledgerOf(&prepared[i])
	}
	return out
}

// GrowingKV is of an engine whose caches grow with what they hold: no pool is taken ahead.
func GrowingKV(perToken unit.Bytes, caches []ledger.Item) KV {
	kv := KV{PerToken: perToken, Tokens: -1}
	for i := range caches {
		kv.Needed += caches[i].Bytes
	}
	kv.Pool = kv.Needed
	return kv
}

// OffDevice are the items that lie elsewhere than on the device.
func OffDevice(items []ledger.Item) (out []ledger.Item) {
	for i := range items {
		if items[i].Place != ledger.Device {
			out = append(out, items[i])
		}
	}
	return out
}
