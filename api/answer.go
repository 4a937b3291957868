package api

import (
	"slices"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// Schema names the shape of requests and answers. Within it fields are added, never changed.
const Schema = "memwall/1"

// Answer is the answer to any Request. Fields that a question does not have are absent.
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
	// Measured is what rows of the user's own say of this model on these devices.
	Measured *Measured `json:"measured,omitempty"`
	FitsOn   []FitsOn  `json:"fits_on,omitempty"`
	// Siblings are smaller models of the same line that the plan holds, where the one that was asked for is held slowly or not at all.
	Siblings []Sibling `json:"siblings,omitempty"`
	Prints   []Print   `json:"prints,omitempty"`
	Compare  []Line    `json:"compare,omitempty"`
	// Operators of a trace beside the model's; those of a class add up to the line of the class.
	Operators []OperatorLine `json:"operators,omitempty"`
	ReadAs    string         `json:"read_as,omitempty"`
	// ComparedWith says what compare's figures are of: log, server, trace, memory_summary or memory_stats.
	ComparedWith string    `json:"compared_with,omitempty"`
	Reasons      *Reasons  `json:"reasons,omitempty"`
	Also         []*Answer `json:"also,omitempty"`
	// Start is a server's place in the order in which those that share devices start, from 1 on; 0 where one has them alone.
	Start       int          `json:"start,omitempty"`
	Notes       []Note       `json:"notes,omitempty"`
	Suggestions []Suggestion `json:"suggestions,omitempty"`
	Ladder      []Candidate  `json:"ladder,omitempty"`
	Best        *Candidate   `json:"best,omitempty"`
	Candidates  []Candidate  `json:"candidates,omitempty"`
	Pareto      []int        `json:"pareto,omitempty"`
	// Surprises are plans that seemed better than they are, and why they lose.
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
	// Simulated is what a simulation found, Diagnosed what a text says of a failure; nil in other answers. In JSON their fields stand
	// beside
	// these, and not below them.
	Simulated *Simulated `json:"-" inline:"true"`
	Diagnosed *Diagnosed `json:"-" inline:"true"`
	// Layers are what the model is made of; who asks sets them, by Asker.Layers.
	Layers []LayerGroup `json:"layers,omitempty"`
	// Wall is how long the answer took; the core has no clock, and who asks may set it.
	Wall    float64            `json:"wall_s,omitempty"`
	Flags   map[string]string  `json:"flags,omitempty"`
	Explain map[string]Explain `json:"explain,omitempty"`
	Error   *Error             `json:"error,omitempty"`
}

// Verdict is the word for whether a plan fits.
type Verdict string

const (
	Fits       Verdict = "fits"
	Tight      Verdict = "tight"
	DoesNotFit Verdict = "does_not_fit"
	Unknown    Verdict = "unknown"
)

// ModelInfo says what was sized.
type ModelInfo struct {
	ID               string     `json:"id"`
	Name             string     `json:"name,omitempty"`
	Architecture     string     `json:"architecture"`
	Layers           int64      `json:"layers"`
	Parameters       int64      `json:"parameters"`
	ActiveParameters int64      `json:"active_parameters"`
	WeightsBytes     unit.Bytes `json:"weights_bytes"`
	Context          int64      `json:"context,omitempty"`
	// ParametersMTP are in multi-token prediction layers, which parameters leaves out.
	ParametersMTP int64 `json:"parameters_mtp,omitempty"`
	// EmbeddingParameters are in the table of token embeddings; an untied head has as many.
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
	// Limit says what usable_bytes is when an engine takes only part of the device.
	Limit      string     `json:"limit,omitempty"`
	Used       unit.Bytes `json:"used_bytes"`
	Needed     unit.Bytes `json:"needed_bytes"`
	NeededLow  unit.Bytes `json:"needed_bytes_low"`
	NeededHigh unit.Bytes `json:"needed_bytes_high"`
	Headroom   unit.Bytes `json:"headroom_bytes"`
	Ledger     []Item     `json:"ledger"`
	// Beside lies on the device and does not count against usable_bytes.
	Beside []Item `json:"beside,omitempty"`
	// Phases of a step of training, and what each holds.
	Phases []PhaseBytes `json:"phases,omitempty"`
}

// Sum gives the bytes of those items of the ledger that have one of the ids.
func (d *Device) Sum(ids ...string) (b unit.Bytes) {
	for i := range d.Ledger {
		if slices.Contains(ids, d.Ledger[i].ID) {
			b += d.Ledger[i].Bytes
		}
	}
	return b
}

// Memory is host memory or a disk.
type Memory struct {
	Capacity   unit.Bytes `json:"capacity_bytes,omitempty"`
	Needed     unit.Bytes `json:"needed_bytes"`
	NeededLow  unit.Bytes `json:"needed_bytes_low"`
	NeededHigh unit.Bytes `json:"needed_bytes_high"`
	// FormerLow and FormerHigh say the band once more under the names that it had at first.
	FormerLow  unit.Bytes `json:"needed_low_bytes" deprecated:"needed_bytes_low"`
	FormerHigh unit.Bytes `json:"needed_high_bytes" deprecated:"needed_bytes_high"`
	// Headroom is what a known capacity leaves; pages of mapped files take none of it.
	Headroom unit.Bytes `json:"headroom_bytes,omitempty"`
	Ledger   []Item     `json:"ledger"`
	// Checkpoint and OptimizerCheckpoint are what training writes to go on from: the model, and the rest.
	Checkpoint          unit.Bytes `json:"checkpoint_bytes,omitempty"`
	OptimizerCheckpoint unit.Bytes `json:"optimizer_checkpoint_bytes,omitempty"`
	// Swap is what training moves to and from disk in every step.
	Swap unit.Bytes `json:"swap_bytes,omitempty"`
}

// MemoryOf books items that need so much.
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

// KV is what the plan's caches hold, per group of devices that decides.
type KV struct {
	BytesPerToken  unit.Bytes `json:"bytes_per_token"`
	PoolBytes      unit.Bytes `json:"pool_bytes"`
	NeededBytes    unit.Bytes `json:"needed_bytes"`
	CapacityTokens *int64     `json:"capacity_tokens"`
	MaxContext     *int64     `json:"max_context"`
	MaxSequences   *int64     `json:"max_sequences"`
	Blocks         int64      `json:"blocks,omitempty"`
	BlockTokens    int64      `json:"block_tokens,omitempty"`
	// Pictures: what max_sequences counts are pictures or clips that are made at once, and max_context is of one.
	Pictures bool `json:"pictures,omitempty"`
	// PoolUse is how a simulation used the cache; nil in other answers. In JSON its fields stand beside these.
	PoolUse *PoolUse `json:"-" inline:"true"`
}

// Rung is the same plan at another context.
type Rung struct {
	Context  int64      `json:"context"`
	KVBytes  unit.Bytes `json:"kv_bytes"`
	MaxUsers *int64     `json:"max_sequences"`
	Verdict  Verdict    `json:"verdict"`
	Short    unit.Bytes `json:"short_bytes,omitempty"`
}

// FitsOn is hardware that would do.
type FitsOn struct {
	Hardware string     `json:"hardware"`
	Name     string     `json:"name"`
	Devices  int64      `json:"devices"`
	Usable   unit.Bytes `json:"usable_bytes"`
	Needed   unit.Bytes `json:"needed_bytes"`
}

// Sibling is a smaller model of the same line.
type Sibling struct {
	Model    string     `json:"model"`
	Name     string     `json:"name"`
	Released string     `json:"released"`
	Weights  string     `json:"weights"`
	Context  plan.Int   `json:"context"`
	Headroom unit.Bytes `json:"headroom_bytes"`
	Decode   *float64   `json:"decode_tokens_per_s,omitempty"`
	// Score is what is published of the sibling, ScoreOfAsked of the model in whose place it stands, on the same benchmark.
	Score        *PickScore     `json:"score,omitempty"`
	ScoreOfAsked *PickScore     `json:"score_of_asked,omitempty"`
	Patch        map[string]any `json:"patch"`
}

// Print is a figure that the engine itself will print, in its own words, unit and digits.
type Print struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Text  string  `json:"text"`
	Unit  string  `json:"unit,omitempty"`
}

// Reasons close every fit: what limits the plan, what scales it, what breaks it first.
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

// Suggestion is a change that helps: Patch is a JSON merge patch on the request.
type Suggestion struct {
	Change  string         `json:"change"`
	Patch   map[string]any `json:"patch"`
	Saves   unit.Bytes     `json:"saves_bytes"`
	Verdict Verdict        `json:"verdict"`
	Speed   *float64       `json:"speed_ratio"`
	Decode  *float64       `json:"decode_tokens_per_s,omitempty"` // of one user
	// Slow: it runs, and gives words more slowly than they are read, as the plan would not where it had room.
	Slow    bool     `json:"slow,omitempty"`
	Quality *Quality `json:"quality"`
	// Flags are command lines with it, where the plan then fits, or is tight.
	Flags  map[string]string `json:"flags,omitempty"`
	Phases []PhaseBytes      `json:"-"` // of training with it
}

// Explain is how a number was made.
type Explain struct {
	Value   float64        `json:"value"`
	Unit    string         `json:"unit"`
	Low     float64        `json:"low"`
	High    float64        `json:"high"`
	Basis   ledger.Basis   `json:"basis"`
	Formula string         `json:"formula"`
	Inputs  []ExplainInput `json:"inputs"`
	Source  string         `json:"source"`
	// Tokens are the formula in pieces, each beside its value.
	Tokens []ledger.Token `json:"-"`
}

// ExplainInput is a named number of a formula and where it comes from.
type ExplainInput struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Origin string  `json:"origin,omitempty"`
}

// Error is an answer that could not be given.
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
	Stopped         = "stopped" // the time was over, or nobody waited any longer, before anything was known
	Internal        = "internal"
)
