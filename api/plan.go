package api

import "github.com/memwall/memwall/unit"

// Candidate is an alternative to the requested plan.
type Candidate struct {
	// Change describes the change in words, Patch as a JSON merge patch on the request, and Arguments as additions to
	// the engine's command line.
	Change    string         `json:"change"`
	Patch     map[string]any `json:"patch"`
	Arguments string         `json:"arguments,omitempty"`
	// Relaxes lists explicitly requested fields that the change overrides.
	Relaxes  []string   `json:"relaxes,omitempty"`
	Plan     *Request   `json:"plan"`
	Verdict  Verdict    `json:"verdict"`
	Saves    unit.Bytes `json:"saves_bytes"`
	Headroom unit.Bytes `json:"headroom_bytes"`
	// HostHeadroom is the host memory left, if its size is known and the plan uses it.
	HostHeadroom *unit.Bytes `json:"host_headroom_bytes,omitempty"`
	// Capacity is the memory of all devices, USDPerHour their rent.
	Capacity   unit.Bytes `json:"capacity_bytes"`
	USDPerHour *float64   `json:"usd_per_hour"`

	Speed      *Speed        `json:"speed"`
	Step       *TrainingStep `json:"step,omitempty"`
	Run        *TrainingRun  `json:"run,omitempty"`
	SpeedRatio *float64      `json:"speed_ratio"`
	Slow       bool          `json:"slow,omitempty"` // see Suggestion.Slow
	Quality    *Quality      `json:"quality"`
	Cost       *float64      `json:"cost"`
	// MaxSequences is how many sequences of the context fit at once; absent if unbounded.
	MaxSequences *int64 `json:"max_sequences,omitempty"`
	// QualityRank and EffortRank rank the candidates, with ties. Quality rank 1 loses the least quality, as measured or
	// else by bits per weight; effort rank 1 changes the least apart from formats.
	QualityRank int `json:"quality_rank,omitempty"`
	EffortRank  int `json:"effort_rank,omitempty"`
	// Why names the deciding term.
	Why   string            `json:"why,omitempty"`
	Flags map[string]string `json:"flags,omitempty"`
	// Files are files that run the plan, by name.
	Files map[string]string `json:"files,omitempty"`
	// Set for a plan with a goal: the fleet, and the simulated load on it.
	Fleet     *Fleet     `json:"fleet,omitempty"`
	Simulated *Simulated `json:"simulated,omitempty"`
	Price     float64    `json:"-"`
	Loss      float64    `json:"-"` // quality loss, in points
	Effort    float64    `json:"-"` // effort of all other changes, in points
	Lacks     unit.Bytes `json:"-"` // headroom of the device or host with the least
	Way       string     `json:"-"` // description of the way to run it
}

// Evaluated counts the plans that a search decided, and those it sized in full to do so.
type Evaluated struct {
	Decided int `json:"decided"`
	Full    int `json:"full"`
}

// WhatIf is the effect of a single change to the plan (with a patch) or to the hardware (without one, since no such
// hardware is sold).
type WhatIf struct {
	Change  string         `json:"change"`
	Patch   map[string]any `json:"patch,omitempty"`
	Needed  unit.Bytes     `json:"needed_bytes"`
	Verdict Verdict        `json:"verdict"`
	// MaxSequences is how many sequences would fit, nil if unbounded.
	MaxSequences *int64   `json:"max_sequences"`
	SpeedRatio   *float64 `json:"speed_ratio"`
	// TotalRatio compares the tokens a second of all users together.
	TotalRatio *float64 `json:"total_ratio"`
	// HelpsMost marks the upgrade that makes the plan fit, or else makes it fastest.
	HelpsMost bool `json:"helps_most,omitempty"`
}

// Quality is the change of a metric in percent, from Low to High across the models and programs measured, with Mid the
// median. It is absent if there are no measurements.
type Quality struct {
	Metric string  `json:"metric"`
	Low    float64 `json:"low"`
	Mid    float64 `json:"mid"`
	High   float64 `json:"high"`
	// LowerIsBetter reports that an increase of this metric is a loss.
	LowerIsBetter bool `json:"lower_is_better"`
	// MeasuredOn is the model of the median row; Near says how close the measured models are to the requested one:
	// model, family or size.
	MeasuredOn string `json:"measured_on"`
	Near       string `json:"near"`
	Rows       int    `json:"rows"`
	Source     string `json:"source"`
}
