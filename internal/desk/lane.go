package desk

import (
	"cmp"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/hardware"
)

// Lane is a queue of questions. Each lane has turns of its own, so that none waits for slower kinds.
type Lane int

// Lanes by processor time of an answer: up to a twentieth of a second, up to a second, more.
const (
	Quick Lane = iota
	Medium
	Long
	lanes
)

const quickest, medium = 0.05, 1.0

// LaneOf returns the lane of a question by its estimated cost.
func LaneOf(r *memwall.Request) Lane {
	switch s := Cost(r); {
	case s <= quickest:
		return Quick
	case s <= medium:
		return Medium
	}
	return Long
}

// Processor seconds, as measured on a processor of 2024: typical upper bounds, not guarantees.
const (
	costOfFit     = 0.003
	costOfAlso    = 0.02    // a further model: few share cache entries, and those that do not fit try every cure
	costOfDevice  = 0.003   // for llama.cpp spreading a model over devices, searching for the best placement
	costOfSearch  = 0.3     // plans or models on one machine
	costOfRequest = 40e-6   // of a simulation
	costOfGoal    = 30      // servers, and simulations of the best ones
	costOfByte    = 1 / 2e7 // of text searched for figures
	runs          = 4       // simulations per question: the plan, its capacity, both edges
)

// Cost estimates the processor seconds of an answer, in a few microseconds.
func Cost(r *memwall.Request) float64 {
	switch {
	case r.Ask == "compare" || r.Ask == "diagnose":
		return costOfFit + costOfByte*float64(len(r.Text))
	case r.Ask == "plan" && (r.Workload != nil || r.Day != nil || r.Goal != nil && len(r.Goal.TTFT)+len(r.Goal.TPOT) > 0):
		return costOfGoal
	case r.Ask == "plan" || r.Ask == "pick":
		return costOfSearch
	case r.Ask == "sim":
		return costOfPlay(r)
	}
	one := costOfOne(r)
	return one + float64(len(r.Also))*max(one, costOfAlso)
}

// costOfOne estimates one model on its hardware.
func costOfOne(r *memwall.Request) float64 {
	if single := r.Devices < 2 && strings.IndexAny(r.Hardware, "0123456789") != 0 && !strings.Contains(r.Hardware, "+"); single {
		return costOfFit // without resolving it
	}
	m, _, err := hardware.Parse(r.Hardware, int(min(max(0, r.Devices), hardware.MaxDevices)))
	if err != nil || m.Devices() < 2 || !spreads(r, &m) {
		return costOfFit
	}
	return costOfDevice * float64(m.Devices())
}

// spreads reports whether llama.cpp runs the model, as it does by default on hardware outside data centers.
func spreads(r *memwall.Request, m *hardware.Machine) bool {
	if r.Engine != "" {
		return slices.Contains([]string{"llama.cpp", "llama-server", "ollama"}, r.Engine)
	}
	return len(m.Groups) > 0 && m.Groups[0].Device.Kind[:min(3, len(m.Groups[0].Device.Kind))] != "HBM"
}

// costOfPlay estimates a simulation by its number of requests, or its file's.
func costOfPlay(r *memwall.Request) float64 {
	w := r.Workload
	if w == nil {
		return costOfFit // will be rejected
	}
	if w.Trace != "" {
		return costOfGoal
	}
	n := cmp.Or(float64(w.Requests), w.Rate*w.DurationS, usualRequests)
	return n * costOfRequest * float64(runs+2*len(r.Versus))
}

// usualRequests is the default number of simulated requests.
const usualRequests = 10_000
