package api

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/sim"
	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/unit"
)

// Progress reports how far a long-running question has come. Unknown fields are 0 or "".
type Progress struct {
	// Phase is the current phase, one of Phases.
	Phase string `json:"phase"`
	// Done of Of units of the phase are complete: ways to run a model, changes, machines or servers.
	Done int `json:"done,omitempty"`
	Of   int `json:"of,omitempty"`
	// Evaluated counts the plans decided so far and, of these, the plans sized; bounds pruned the others.
	Evaluated *Evaluated `json:"evaluated,omitempty"`
	// Best describes the best plan so far.
	Best string `json:"best,omitempty"`
	// Requests is the number of simulated requests completed; the seconds are the simulated time reached, and its total.
	Requests    int64   `json:"requests,omitempty"`
	RequestsOf  int64   `json:"requests_of,omitempty"`
	Simulated   float64 `json:"simulated_s,omitempty"`
	SimulatedOf float64 `json:"simulated_of_s,omitempty"`
}

// Phases returns the phases of a long-running question, in order, each with a description of the work done in it.
func Phases() [][2]string {
	return [][2]string{
		{PhaseSearch, "plans are decided, way by way, model by model or layout by layout"},
		{PhaseLoose, "nothing fits: plans that change what was given are decided too"},
		{PhaseLadder, "single changes are tried"}, {PhaseEstimate, "servers are listed and estimated, machine by machine"},
		{PhasePlay, "the most promising servers are played at the load"},
		{PhaseVary, "the best are played with other settings"},
		{PhaseDetail, "the fleets that will be told of are played at the edges of their bands and at other loads"},
		{PhaseSimulate, "the plan itself is played"}, {PhaseCapacity, "it is played with more than it can serve"},
		{PhaseBands, "it is played at the edges of its band"}, {PhaseReplicas, "it is played with more replicas"},
		{PhaseVersus, "it is played without one of its techniques"},
	}
}

// String formats the progress in one line.
func (p Progress) String() string {
	out := []string{p.Phase}
	count := func(what string, n, of int64) {
		switch {
		case of > 0:
			out = append(out, fmt.Sprintf("%s%s of %s", what, unit.Count(n), unit.Count(of)))
		case n > 0:
			out = append(out, what+unit.Count(n))
		}
	}
	count("", int64(p.Done), int64(p.Of))
	if e := p.Evaluated; e != nil && e.Decided > 0 {
		count("plans ", int64(e.Decided), 0)
	}
	if p.Requests > 0 {
		count("requests ", p.Requests, p.RequestsOf)
	}
	if p.Best != "" {
		out = append(out, "best so far: "+p.Best)
	}
	return strings.Join(out, ", ")
}

// Phases of searches and simulations.
const (
	PhaseSearch   = "search"
	PhaseLoose    = "loosen"
	PhaseLadder   = "ladder"
	PhaseEstimate = "estimate"
	PhasePlay     = "play"
	PhaseVary     = "vary"
	PhaseDetail   = "detail"
	PhaseSimulate = "simulate"
	PhaseCapacity = "capacity"
	PhaseBands    = "bands"
	PhaseReplicas = "replicas"
	PhaseVersus   = "versus"
)

// Copied returns a copy, to hand to observers.
func (e Evaluated) Copied() *Evaluated { return &e }

// Watch observes a long-running question. Its functions may be nil.
type Watch struct {
	// Request is called when a request completes. The argument is valid only during the call.
	Request func(*sim.Done)
	// Step is called when a server begins a step.
	Step func(*sim.Step)
	// Progress is called from time to time by searches and simulations, never concurrently.
	Progress func(Progress)
}

// Calibration holds coefficients learned from benchmarks of the user's own machines. Package calibrate implements it.
type Calibration interface {
	// Table returns the named coefficient table adjusted to the user's device, or nil if it is not calibrated. The
	// device is named as in the table's keys, for example "cuda/rtx-3090".
	Table(name, device string) *coef.Table
}
