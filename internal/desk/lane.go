package desk

import (
	"cmp"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/hardware"
)

// Lane is where a question waits for its turn. Each lane has turns of its own, so that none waits for a slower kind.
type Lane int

// Lanes by what an answer takes of a processor: up to a twentieth of a second, up to a second, more.
const (
	Quick Lane = iota
	Medium
	Long
	lanes
)

const quickest, medium = 0.05, 1.0

// LaneOf a question, by what it is estimated to cost.
func LaneOf(r *memwall.Request) Lane {
	switch s := Cost(r); {
	case s <= quickest:
		return Quick
	case s <= medium:
		return Medium
	}
	return Long
}

// Seconds of a processor, as measured on one of 2024: bounds from above of what is usual, and no promise.
const (
	costOfFit     = 0.003
	costOfAlso    = 0.02    // a further model beside it: few share what an asker remembers, and those that do not fit try every cure
	costOfDevice  = 0.003   // of llama.cpp that spreads a model over devices and tries where its parts fit best
	costOfSearch  = 0.3     // plans or models on one machine
	costOfRequest = 40e-6   // of a simulation
	costOfGoal    = 30      // servers, and simulations of the best of them
	costOfByte    = 1 / 2e7 // of text that is searched for figures
	runs          = 4       // of a simulation: the plan, its capacity, both edges
)

// Cost estimates the seconds of a processor that an answer takes, in a few microseconds.
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

// costOfOne model on its hardware.
func costOfOne(r *memwall.Request) float64 {
	if single := r.Devices < 2 && strings.IndexAny(r.Hardware, "0123456789") != 0 && !strings.Contains(r.Hardware, "+"); single {
		return costOfFit // without a look at what it is
	}
	m, _, err := hardware.Parse(r.Hardware, int(min(max(0, r.Devices), hardware.MaxDevices)))
	if err != nil || m.Devices() < 2 || !spreads(r, &m) {
		return costOfFit
	}
	return costOfDevice * float64(m.Devices())
}

// spreads: llama.cpp runs it, as it does what is not a data centre's where nobody says otherwise.
func spreads(r *memwall.Request, m *hardware.Machine) bool {
	if r.Engine != "" {
		return slices.Contains([]string{"llama.cpp", "llama-server", "ollama"}, r.Engine)
	}
	return len(m.Groups) > 0 && m.Groups[0].Device.Kind[:min(3, len(m.Groups[0].Device.Kind))] != "HBM"
}

// costOfPlay is that of as many requests as a load has; one of a file has as many as it has.
func costOfPlay(r *memwall.Request) float64 {
	w := r.Workload
	if w == nil {
		return costOfFit // refused
	}
	if w.Trace != "" {
		return costOfGoal
	}
	n := cmp.Or(float64(w.Requests), w.Rate*w.DurationS, usualRequests)
	return n * costOfRequest * float64(runs+2*len(r.Versus))
}

// usualRequests of a simulation where nobody says.
const usualRequests = 10_000
