package api

import (
	"slices"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// Schema identifies the shape of requests and answers. Fields are added under the same name but never changed.
const Schema = "memwall/1"

// Answer is the answer to a Request. Fields that do not apply to the question are absent.
type Answer struct {
	Schema  string     `json:"schema"`
	Version string     `json:"version"`
	Ask     string     `json:"ask"`
	Model   *ModelInfo `json:"model,omitempty"`
	Plan    *Request   `json:"plan,omitempty"`
	Verdict Verdict    `json:"verdict,omitempty"`
	Devices []Device   `json:"devices,omitempty"`
	Host    *Memory    `json:"host,omitempty"`
	Disk    *Memory    `json:"disk,omitempty"`
	Pool    *Memory    `json:"pool,omitempty"`
	KV      *KV        `json:"kv,omitempty"`
	Rungs   []Rung     `json:"rungs,omitempty"`
	Speed   *Speed     `json:"speed,omitempty"`
	// Measured summarizes the user's own measurements of this model on these devices.
	Measured *Measured `json:"measured,omitempty"`
	FitsOn   []FitsOn  `json:"fits_on,omitempty"`
	// Siblings are smaller models of the same family that fit the plan, listed when the requested model does not fit or
	// is slow.
	Siblings []Sibling `json:"siblings,omitempty"`
	Prints   []Print   `json:"prints,omitempty"`
	Compare  []Line    `json:"compare,omitempty"`
	// Operators compares the operators of a trace with the model's; the rows of a class add up to the Line of that
	// class.
	Operators []OperatorLine `json:"operators,omitempty"`
	ReadAs    string         `json:"read_as,omitempty"`
	// ComparedWith is the kind of input that compare read: log, server, trace, memory_summary or memory_stats.
	ComparedWith string    `json:"compared_with,omitempty"`
	Reasons      *Reasons  `json:"reasons,omitempty"`
	Also         []*Answer `json:"also,omitempty"`
	// Start is the 1-based position of a server in the start order of those that share devices; 0 if it does not share
	// any.
	Start       int          `json:"start,omitempty"`
	Notes       []Note       `json:"notes,omitempty"`
	Suggestions []Suggestion `json:"suggestions,omitempty"`
	Ladder      []Candidate  `json:"ladder,omitempty"`
	Best        *Candidate   `json:"best,omitempty"`
	Candidates  []Candidate  `json:"candidates,omitempty"`
	Pareto      []int        `json:"pareto,omitempty"`
	// Surprises are plans that look better than they are, with the reason they lose.
	Surprises   []Candidate       `json:"surprises,omitempty"`
	NearestMiss *Candidate        `json:"nearest_miss,omitempty"`
	Day         *DayPlan          `json:"day,omitempty"`
	Sensitivity []WhatIf          `json:"sensitivity,omitempty"`
	Upgrades    []WhatIf          `json:"upgrades,omitempty"`
	Picks       []Pick            `json:"picks,omitempty"`
	Diff        *Diff             `json:"diff,omitempty"`
	PerDevice   *PerDevice        `json:"per_device,omitempty"`
	Step        *TrainingStep     `json:"step,omitempty"`
	Run         *TrainingRun      `json:"run,omitempty"`
	Config      map[string]string `json:"config,omitempty"`
	Evaluated   *Evaluated        `json:"evaluated,omitempty"`
	// Simulated is the result of a simulation and Diagnosed that of diagnosing a text; both are nil in other answers. In
	// JSON their fields are inlined into the answer.
	Simulated *Simulated `json:"-" inline:"true"`
	Diagnosed *Diagnosed `json:"-" inline:"true"`
	// Layers are the model's layer groups, set by the caller from Asker.Layers.
	Layers []LayerGroup `json:"layers,omitempty"`
	// Wall is the time taken to answer, in seconds. The core reads no clock; the caller may set it.
	Wall    float64            `json:"wall_s,omitempty"`
	Flags   map[string]string  `json:"flags,omitempty"`
	Explain map[string]Explain `json:"explain,omitempty"`
	Error   *Error             `json:"error,omitempty"`
}

// Verdict says whether a plan fits.
type Verdict string

const (
	Fits       Verdict = "fits"
	Tight      Verdict = "tight"
	DoesNotFit Verdict = "does_not_fit"
	Unknown    Verdict = "unknown"
)

// ModelInfo describes the model that was sized.
type ModelInfo struct {
	ID               string     `json:"id"`
	Name             string     `json:"name,omitempty"`
	Architecture     string     `json:"architecture"`
	Layers           int64      `json:"layers"`
	Parameters       int64      `json:"parameters"`
	ActiveParameters int64      `json:"active_parameters"`
	WeightsBytes     unit.Bytes `json:"weights_bytes"`
	Context          int64      `json:"context,omitempty"`
	// ParametersMTP counts the parameters of multi-token prediction layers, which the parameter count excludes.
	ParametersMTP int64 `json:"parameters_mtp,omitempty"`
	// EmbeddingParameters counts the token embedding table; an untied head has as many again.
	EmbeddingParameters int64  `json:"embedding_parameters,omitempty"`
	Provenance          string `json:"provenance"`
}

// Device is a group of identical ranks.
type Device struct {
	Name     string     `json:"name"`
	Ranks    string     `json:"ranks"`
	Count    int64      `json:"count"`
	Capacity unit.Bytes `json:"capacity_bytes"`
	Usable   unit.Bytes `json:"usable_bytes"`
	// Limit explains usable_bytes where an engine uses only part of the device.
	Limit      string     `json:"limit,omitempty"`
	Used       unit.Bytes `json:"used_bytes"`
	Needed     unit.Bytes `json:"needed_bytes"`
	NeededLow  unit.Bytes `json:"needed_bytes_low"`
	NeededHigh unit.Bytes `json:"needed_bytes_high"`
	Headroom   unit.Bytes `json:"headroom_bytes"`
	Ledger     []Item     `json:"ledger"`
	// Beside lists items that occupy the device without counting against usable_bytes.
	Beside []Item `json:"beside,omitempty"`
	// Phases are the phases of a training step with the memory each holds.
	Phases []PhaseBytes `json:"phases,omitempty"`
}

// Sum returns the total bytes of the ledger items with the given ids.
func (d *Device) Sum(ids ...string) (b unit.Bytes) {
	for i := range d.Ledger {
		if slices.Contains(ids, d.Ledger[i].ID) {
			b += d.Ledger[i].Bytes
		}
	}
	return b
}

// Memory is the use of host memory or a disk.
type Memory struct {
	Capacity   unit.Bytes `json:"capacity_bytes,omitempty"`
	Needed     unit.Bytes `json:"needed_bytes"`
	NeededLow  unit.Bytes `json:"needed_bytes_low"`
	NeededHigh unit.Bytes `json:"needed_bytes_high"`
	// FormerLow and FormerHigh repeat the band under its deprecated JSON names.
	FormerLow  unit.Bytes `json:"needed_low_bytes" deprecated:"needed_bytes_low"`
	FormerHigh unit.Bytes `json:"needed_high_bytes" deprecated:"needed_bytes_high"`
	// Headroom is the unused part of a known capacity; pages of mapped files do not count as used.
	Headroom unit.Bytes `json:"headroom_bytes,omitempty"`
	Ledger   []Item     `json:"ledger"`
	// Checkpoint and OptimizerCheckpoint are the sizes of what training writes in order to resume: the model, and
	// everything else.
	Checkpoint          unit.Bytes `json:"checkpoint_bytes,omitempty"`
	OptimizerCheckpoint unit.Bytes `json:"optimizer_checkpoint_bytes,omitempty"`
	// Swap is the traffic between memory and disk in each training step.
	Swap unit.Bytes `json:"swap_bytes,omitempty"`
}

// MemoryOf returns the Memory with the given total and items.
func MemoryOf(needs ledger.Total, items []Item) *Memory {
	return &Memory{Needed: needs.Bytes, NeededLow: needs.Low, NeededHigh: needs.High, FormerLow: needs.Low, FormerHigh: needs.High,
		Ledger: items}
}

// Item is a line of a ledger.
type Item struct {
	ID      string       `json:"id"`
	Name    string       `json:"name"`
	Bytes   unit.Bytes   `json:"bytes"`
	Low     unit.Bytes   `json:"low_bytes"`
	High    unit.Bytes   `json:"high_bytes"`
	Unknown bool         `json:"unknown,omitempty"`
	Basis   ledger.Basis `json:"basis"`
	Life    ledger.Life  `json:"life"`
	Place   ledger.Place `json:"place"`
	Formula string       `json:"formula,omitempty"`
	Source  string       `json:"source,omitempty"`
	Items   []Item       `json:"items,omitempty"`
}

// KV describes the capacity of the plan's caches, per replica, on the device group that limits it.
type KV struct {
	BytesPerToken  unit.Bytes `json:"bytes_per_token"`
	PoolBytes      unit.Bytes `json:"pool_bytes"`
	NeededBytes    unit.Bytes `json:"needed_bytes"`
	CapacityTokens *int64     `json:"capacity_tokens"`
	MaxContext     *int64     `json:"max_context"`
	MaxSequences   *int64     `json:"max_sequences"`
	Blocks         int64      `json:"blocks,omitempty"`
	BlockTokens    int64      `json:"block_tokens,omitempty"`
	// Pictures reports that max_sequences counts images or clips generated at once, and that max_context is the length
	// of one.
	Pictures bool `json:"pictures,omitempty"`
	// PoolUse is how a simulation used the cache; nil in other answers. In JSON its fields are inlined.
	PoolUse *PoolUse `json:"-" inline:"true"`
}

// Rung is the same plan at another context length.
type Rung struct {
	Context  int64      `json:"context"`
	KVBytes  unit.Bytes `json:"kv_bytes"`
	MaxUsers *int64     `json:"max_sequences"`
	Verdict  Verdict    `json:"verdict"`
	Short    unit.Bytes `json:"short_bytes,omitempty"`
}

// FitsOn is hardware on which the plan would fit.
type FitsOn struct {
	Hardware string     `json:"hardware"`
	Name     string     `json:"name"`
	Devices  int64      `json:"devices"`
	Usable   unit.Bytes `json:"usable_bytes"`
	Needed   unit.Bytes `json:"needed_bytes"`
}

// Sibling is a smaller model of the same family.
type Sibling struct {
	Model    string     `json:"model"`
	Name     string     `json:"name"`
	Released string     `json:"released"`
	Weights  string     `json:"weights"`
	Context  plan.Int   `json:"context"`
	Headroom unit.Bytes `json:"headroom_bytes"`
	Decode   *float64   `json:"decode_tokens_per_s,omitempty"`
	// Score is the sibling's published score, ScoreOfAsked that of the requested model on the same benchmark.
	Score        *PickScore     `json:"score,omitempty"`
	ScoreOfAsked *PickScore     `json:"score_of_asked,omitempty"`
	Patch        map[string]any `json:"patch"`
}

// Print is a figure that the engine itself will log, in its own wording, unit and precision.
type Print struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Text  string  `json:"text"`
	Unit  string  `json:"unit,omitempty"`
}

// Reasons summarize a fit: what limits the plan, what it scales with, and what breaks it first.
type Reasons struct {
	Limits string `json:"limits"`
	Scales string `json:"scales"`
	Breaks string `json:"breaks"`
}

// Note is a remark. Severity is "info", "warn" or "error".
type Note struct {
	Code     string `json:"code"`
	Severity string `json:"severity"`
	Field    string `json:"field,omitempty"`
	Text     string `json:"text"`
}

// Suggestion is a change that helps. Patch is a JSON merge patch on the request.
type Suggestion struct {
	Change  string         `json:"change"`
	Patch   map[string]any `json:"patch"`
	Saves   unit.Bytes     `json:"saves_bytes"`
	Verdict Verdict        `json:"verdict"`
	Speed   *float64       `json:"speed_ratio"`
	Decode  *float64       `json:"decode_tokens_per_s,omitempty"` // per user
	// Slow reports that the plan fits but generates more slowly than people read, as it would not with enough device
	// memory.
	Slow    bool     `json:"slow,omitempty"`
	Quality *Quality `json:"quality"`
	// Flags are command lines with the change applied, keyed by engine, given where the plan then fits or is tight.
	Flags  map[string]string `json:"flags,omitempty"`
	Phases []PhaseBytes      `json:"-"` // of training, with the change applied
}

// Explain shows how a number was computed.
type Explain struct {
	Value   float64        `json:"value"`
	Unit    string         `json:"unit"`
	Low     float64        `json:"low"`
	High    float64        `json:"high"`
	Basis   ledger.Basis   `json:"basis"`
	Formula string         `json:"formula"`
	Inputs  []ExplainInput `json:"inputs"`
	Source  string         `json:"source"`
	// Tokens is the formula as tokens, each paired with its value.
	Tokens []ledger.Token `json:"-"`
}

// ExplainInput is a named input of a formula, with its origin.
type ExplainInput struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Origin string  `json:"origin,omitempty"`
}

// Error describes why a question could not be answered.
type Error struct {
	Code    string `json:"code"`
	Field   string `json:"field,omitempty"`
	Value   string `json:"value,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// Error codes.
const (
	UnknownModel    = "unknown_model"
	UnknownHardware = "unknown_hardware"
	BadField        = "bad_field"
	ImpossiblePlan  = "impossible_plan"
	Unsupported     = "unsupported"
	BadFile         = "bad_file"
	Remote          = "remote"
	Limit           = "limit"
	Stopped         = "stopped" // the deadline passed or the caller canceled before any result was found
	Internal        = "internal"
)
