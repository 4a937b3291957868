package api

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/sim"
	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/unit"
)

// Progress says how far a question is that takes a while. What is not known is 0 or "".
type Progress struct {
	// Phase is what is being done, one of Phases.
	Phase string `json:"phase"`
	// Done of Of parts of the phase are over: ways to run a model, changes, machines, servers.
	Done int `json:"done,omitempty"`
	Of   int `json:"of,omitempty"`
	// Evaluated are plans that were decided by now, and those of them that were sized: bounds pruned the others.
	Evaluated *Evaluated `json:"evaluated,omitempty"`
	// Best so far, in words.
	Best string `json:"best,omitempty"`
	// Requests of a simulation that have ended, and the seconds that it has come to, of all.
	Requests    int64   `json:"requests,omitempty"`
	RequestsOf  int64   `json:"requests_of,omitempty"`
	Simulated   float64 `json:"simulated_s,omitempty"`
	SimulatedOf float64 `json:"simulated_of_s,omitempty"`
}

// Phases of questions that take a while, and what is done in each, in the order in which they come.
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

// String is the progress in a line.
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

// Copied is what it is now, for who is told.
func (e Evaluated) Copied() *Evaluated { return &e }

// Watch follows a question that takes a while. Its functions may be nil.
type Watch struct {
	// Request is called when a request ends; what it points to is valid until it returns.
	Request func(*sim.Done)
	// Step is called when a server begins a step.
	Step func(*sim.Step)
	// Progress is called now and then, of searches and of simulations, never by two at a time.
	Progress func(Progress)
}

// Calibration is what benchmarks of the user's own machines taught. Package calibrate makes one.
type Calibration interface {
	// Table gives the table of a name with what is known of a device of one's own; nil where nothing is. The
	// device is named as the table's keys are: "cuda/rtx-3090".
	Table(name, device string) *coef.Table
}
