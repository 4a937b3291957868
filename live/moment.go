// Package live compares what a running engine holds with memwall's prediction: predicted versus measured, drift, growth
// that looks like a leak, and the time until memory runs out. It does no I/O: the caller reads drivers, processes and
// metrics into a Moment each time, and draws the Picture.
//
// See moment.go for what is read, session.go for how moments become a picture, and account.go for attributing a
// difference to a ledger line.
package live

import (
	"github.com/memwall/memwall"
	"github.com/memwall/memwall/unit"
)

// Moment is a reading of a machine and its engines at one time. What is not reported is nil.
type Moment struct {
	At        float64   `json:"at_s"` // seconds since 1970
	Devices   []Device  `json:"devices,omitempty"`
	Host      *Host     `json:"host,omitempty"`
	Processes []Process `json:"processes,omitempty"`
	Engines   []Engine  `json:"engines,omitempty"`
	// Troubles are sources that could not be read this time.
	Troubles []Trouble `json:"troubles,omitempty"`
}

// Device is an accelerator as its driver reports it.
type Device struct {
	Index int         `json:"index"`
	Name  string      `json:"name"`
	ID    string      `json:"id,omitempty"` // catalog id
	Total unit.Bytes  `json:"total_bytes"`
	Used  *unit.Bytes `json:"used_bytes"`
	Free  *unit.Bytes `json:"free_bytes"`
	Busy  *float64    `json:"busy,omitempty"` // utilization, 0 to 1
	// ByProcess reports that the driver lists memory by process, so that there are no other holders.
	ByProcess bool `json:"by_process"`
}

// Host is the host's memory, or what a control group allows of it.
type Host struct {
	Total unit.Bytes `json:"total_bytes"`
	Free  unit.Bytes `json:"free_bytes"`
}

// Process is a program that holds device memory, or belongs to an engine.
type Process struct {
	PID    int    `json:"pid"`
	Name   string `json:"name"`
	Engine int    `json:"engine,omitempty"` // PID of its engine; 0 for none
	// Resident is the memory in use; Own excludes pages of mapped files, which the system could reclaim.
	Resident *unit.Bytes `json:"resident_bytes,omitempty"`
	Own      *unit.Bytes `json:"own_bytes,omitempty"`
	Held     []Held      `json:"held,omitempty"`
}

// Held is what a process holds of a device; nil bytes if the driver does not report the size.
type Held struct {
	Device int         `json:"device"`
	Bytes  *unit.Bytes `json:"bytes"`
}

// Engine is a running server, or one known from a metrics page.
type Engine struct {
	PID     int    `json:"pid,omitempty"` // 0 if known from its page only
	Name    string `json:"name"`          // "vllm"; "" if unknown
	Model   string `json:"model,omitempty"`
	Command string `json:"command,omitempty"` // with secrets redacted
	Page    string `json:"page,omitempty"`    // address of its metrics
	*Reading
}

// Reading is what an engine reports about itself; nil for what it does not.
type Reading struct {
	Running  *float64 `json:"running,omitempty"`
	Waiting  *float64 `json:"waiting,omitempty"`
	KVUsage  *float64 `json:"kv_usage,omitempty"` // 0 to 1
	KVTokens *float64 `json:"kv_tokens,omitempty"`
	// Rates since the previous moment, in tokens a second.
	PromptRate  *float64 `json:"prompt_tokens_per_s,omitempty"`
	OutputRate  *float64 `json:"output_tokens_per_s,omitempty"`
	Preemptions *float64 `json:"preemptions_per_s,omitempty"`
	HitRate     *float64 `json:"prefix_hit_rate,omitempty"`
	TTFT        *float64 `json:"ttft_s,omitempty"` // median of the last requests
	TPOT        *float64 `json:"tpot_s,omitempty"`
	// OnDevice is what the engine itself reports to hold on devices (Ollama).
	OnDevice *unit.Bytes `json:"on_device_bytes,omitempty"`
}

// Trouble is a source that could not be read, and why.
type Trouble struct {
	Source string `json:"source"`
	Why    string `json:"why"`
}

// Prediction is memwall's prediction for an engine, or why there is none.
type Prediction struct {
	// Answer to the request that the command line corresponds to; nil with Why.
	Answer *memwall.Answer `json:"answer,omitempty"`
	Why    string          `json:"why,omitempty"`
	Hint   string          `json:"hint,omitempty"`
	// On lists the devices of the ranks, in order.
	On    []int          `json:"on,omitempty"`
	Notes []memwall.Note `json:"notes,omitempty"`
}
