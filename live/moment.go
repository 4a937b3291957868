// Package live sets what a running engine holds beside what memwall said of it: predicted against measured, drift, growth
// that looks like a leak, and how long until memory ends. It is pure: who reads drivers, processes and pages of metrics
// hands over a Moment for each time, and draws the Picture.
//
// Open moment.go for what is read, session.go for how moments become a picture, account.go for which line of a ledger a
// difference is likely to be.
package live

import (
	"github.com/memwall/memwall"
	"github.com/memwall/memwall/unit"
)

// Moment is what was read of a machine and its engines at one time. What nobody says is nil.
type Moment struct {
	At        float64   `json:"at_s"` // seconds since 1970
	Devices   []Device  `json:"devices,omitempty"`
	Host      *Host     `json:"host,omitempty"`
	Processes []Process `json:"processes,omitempty"`
	Engines   []Engine  `json:"engines,omitempty"`
	// Troubles are sources that could not be read this time.
	Troubles []Trouble `json:"troubles,omitempty"`
}

// Device is an accelerator as its driver says it.
type Device struct {
	Index int         `json:"index"`
	Name  string      `json:"name"`
	ID    string      `json:"id,omitempty"` // in the catalog
	Total unit.Bytes  `json:"total_bytes"`
	Used  *unit.Bytes `json:"used_bytes"`
	Free  *unit.Bytes `json:"free_bytes"`
	Busy  *float64    `json:"busy,omitempty"` // part of the time, 0 to 1
	// ByProcess: the driver says who holds what, so that nobody else does.
	ByProcess bool `json:"by_process"`
}

// Host is the memory of the processor, or what a control group allows of it.
type Host struct {
	Total unit.Bytes `json:"total_bytes"`
	Free  unit.Bytes `json:"free_bytes"`
}

// Process is a program that holds memory of a device, or belongs to an engine.
type Process struct {
	PID    int    `json:"pid"`
	Name   string `json:"name"`
	Engine int    `json:"engine,omitempty"` // PID of the engine that it belongs to; 0: none
	// Resident is in memory; Own of that is not a mapped file's, which the system could take back.
	Resident *unit.Bytes `json:"resident_bytes,omitempty"`
	Own      *unit.Bytes `json:"own_bytes,omitempty"`
	Held     []Held      `json:"held,omitempty"`
}

// Held is what a process holds of a device; nil bytes where the driver names it and says no size.
type Held struct {
	Device int         `json:"device"`
	Bytes  *unit.Bytes `json:"bytes"`
}

// Engine is a server that runs, or that a page of metrics speaks for.
type Engine struct {
	PID     int    `json:"pid,omitempty"` // 0: known by its page alone
	Name    string `json:"name"`          // "vllm"; "" where nothing tells
	Model   string `json:"model,omitempty"`
	Command string `json:"command,omitempty"` // with what is secret redacted
	Page    string `json:"page,omitempty"`    // address of its metrics
	*Reading
}

// Reading is what an engine says of itself; what it does not say is nil.
type Reading struct {
	Running  *float64 `json:"running,omitempty"`
	Waiting  *float64 `json:"waiting,omitempty"`
	KVUsage  *float64 `json:"kv_usage,omitempty"` // 0 to 1
	KVTokens *float64 `json:"kv_tokens,omitempty"`
	// Rates since the moment before, tokens a second.
	PromptRate  *float64 `json:"prompt_tokens_per_s,omitempty"`
	OutputRate  *float64 `json:"output_tokens_per_s,omitempty"`
	Preemptions *float64 `json:"preemptions_per_s,omitempty"`
	HitRate     *float64 `json:"prefix_hit_rate,omitempty"`
	TTFT        *float64 `json:"ttft_s,omitempty"` // median of the last requests
	TPOT        *float64 `json:"tpot_s,omitempty"`
	// OnDevice is what the engine itself says it holds on devices (Ollama).
	OnDevice *unit.Bytes `json:"on_device_bytes,omitempty"`
}

// Trouble is a source that could not be read, and why.
type Trouble struct {
	Source string `json:"source"`
	Why    string `json:"why"`
}

// Prediction is what memwall says of an engine, or why it cannot.
type Prediction struct {
	// Answer to the request that the command line means; nil with Why.
	Answer *memwall.Answer `json:"answer,omitempty"`
	Why    string          `json:"why,omitempty"`
	Hint   string          `json:"hint,omitempty"`
	// On are the devices of the ranks, in order.
	On    []int          `json:"on,omitempty"`
	Notes []memwall.Note `json:"notes,omitempty"`
}
