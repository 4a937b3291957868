package api

import "github.com/memwall/memwall/unit"

// Candidate is a plan beside the one that was asked for.
type Candidate struct {
	// Change says it in words, Patch as a JSON merge patch on the request, Arguments in those of the engine's command
	// line that it brings.
	Change    string         `json:"change"`
	Patch     map[string]any `json:"patch"`
	Arguments string         `json:"arguments,omitempty"`
	// Relaxes are fields that were given and that it changes.
	Relaxes  []string   `json:"relaxes,omitempty"`
	Plan     *Request   `json:"plan"`
	Verdict  Verdict    `json:"verdict"`
	Saves    unit.Bytes `json:"saves_bytes"`
	Headroom unit.Bytes `json:"headroom_bytes"`
	// HostHeadroom is what the host has left, where its memory is known and the plan uses it.
	HostHeadroom *unit.Bytes `json:"host_headroom_bytes,omitempty"`
	// Capacity is of all devices, USDPerHour what they rent for.
	Capacity   unit.Bytes `json:"capacity_bytes"`
	USDPerHour *float64   `json:"usd_per_hour"`

	Speed      *Speed        `json:"speed"`
	Step       *TrainingStep `json:"step,omitempty"`
	Run        *TrainingRun  `json:"run,omitempty"`
	SpeedRatio *float64      `json:"speed_ratio"`
	Slow       bool          `json:"slow,omitempty"` // as of a suggestion
	Quality    *Quality      `json:"quality"`
	Cost       *float64      `json:"cost"`
	// MaxSequences of the context are held at once; absent where nothing bounds them.
	MaxSequences *int64 `json:"max_sequences,omitempty"`
	// QualityRank and EffortRank are places among the candidates, equals alike: 1 loses the least quality, by measurements
	// and where there are none by bits, and 1 changes the least beside formats.
	QualityRank int `json:"quality_rank,omitempty"`
	EffortRank  int `json:"effort_rank,omitempty"`
	// Why says which term decides that the plan wins or loses.
	Why   string            `json:"why,omitempty"`
	Flags map[string]string `json:"flags,omitempty"`
	// Files run the plan, by their names.
	Files map[string]string `json:"files,omitempty"`
	// Of a plan for a goal: its fleet, and what became of the load on it.
	Fleet     *Fleet     `json:"fleet,omitempty"`
	Simulated *Simulated `json:"simulated,omitempty"`
	Price     float64    `json:"-"`
	Loss      float64    `json:"-"` // of quality, in points
	Effort    float64    `json:"-"` // of all else that it changes, in points
	Lacks     unit.Bytes `json:"-"` // what the device or the host that has least leaves
	Way       string     `json:"-"` // which way to run it, in words
}

// Evaluated counts plans: those that the search decided, and those that it sized in full to do so.
type Evaluated struct {
	Decided int `json:"decided"`
	Full    int `json:"full"`
}

// WhatIf is what follows from one step aside: of the plan (a patch), or of the hardware (no patch: nobody sells it).
type WhatIf struct {
	Change  string         `json:"change"`
	Patch   map[string]any `json:"patch,omitempty"`
	Needed  unit.Bytes     `json:"needed_bytes"`
	Verdict Verdict        `json:"verdict"`
	// MaxSequences is how many sequences would have room, null where nothing bounds them.
	MaxSequences *int64   `json:"max_sequences"`
	SpeedRatio   *float64 `json:"speed_ratio"`
	// TotalRatio is of the tokens of all users together.
	TotalRatio *float64 `json:"total_ratio"`
	// HelpsMost marks the upgrade that mends the plan, or else makes it fastest.
	HelpsMost bool `json:"helps_most,omitempty"`
}

// Quality is how a metric changes, in percent of what it was: over the models and programs that were measured from
// Low to High, with Mid in the middle. It is absent where nobody measured.
type Quality struct {
	Metric string  `json:"metric"`
	Low    float64 `json:"low"`
	Mid    float64 `json:"mid"`
	High   float64 `json:"high"`
	// Worse: a positive change of this metric is a loss.
	LowerIsBetter bool `json:"lower_is_better"`
	// MeasuredOn is the model of the row in the middle, Near how near the models are to the one that was asked about:
	// model, family or size.
	MeasuredOn string `json:"measured_on"`
	Near       string `json:"near"`
	Rows       int    `json:"rows"`
	Source     string `json:"source"`
}
