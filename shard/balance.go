package shard

import (
	"cmp"
	"slices"

	"github.com/memwall/memwall/internal/stable"
)

// Busiest returns the load of the busiest rank relative to the mean, given the loads of the experts. All ranks hold
// equally many slots. With replicas, they are placed as by DeepSeek's load balancer (deepseek-ai/EPLB, eplb.py:
// replicate_experts, balanced_packing): repeatedly replicate the expert with the highest load per copy, then assign
// slots, heaviest first, to the least loaded rank with space. Without replicas, experts are placed in order.
//
// placed is false if slots do not divide evenly among the ranks, or there are fewer slots than experts.
func Busiest(loads []float64, copies, ranks int64) (times float64, placed bool) {
	n := int64(len(loads)) + copies
	if len(loads) == 0 || copies < 0 || ranks < 1 || n%ranks != 0 {
		return 1, false
	}
	slots := loads
	if copies > 0 {
		slots = replicated(loads, copies)
	}
	return busiest(slots, int(ranks), copies > 0), true
}

// replicated returns the loads of slots; an expert's copies share its tokens equally.
func replicated(loads []float64, copies int64) (slots []float64) {
	held := make([]float64, len(loads))
	for i := range held {
		held[i] = 1
	}
	for range copies {
		most := 0
		for i := range loads {
			if loads[i]/held[i] > loads[most]/held[most] {
				most = i
			}
		}
		held[most]++
	}
	for i, n := range held {
		for range int(n) {
			slots = append(slots, loads[i]/n)
		}
	}
	return slots
}

// busiest returns the load of the busiest rank over the mean.
func busiest(slots []float64, ranks int, packed bool) float64 {
	each, sum := len(slots)/ranks, 0.0
	loads, held := make([]float64, ranks), make([]int, ranks)
	if packed {
		slots = slices.Clone(slots)
		stable.Sort(slots, func(a, b float64) int { return cmp.Compare(b, a) })
	}
	for i, load := range slots {
		at := i / each
		if packed {
			at = lightest(loads, held, each)
		}
		loads[at] += load
		held[at]++
		sum += load
	}
	return slices.Max(loads) * float64(ranks) / sum
}

// lightest returns the least loaded rank with space for another slot.
func lightest(loads []float64, held []int, each int) (at int) {
	at = -1
	for i := range loads {
		if held[i] < each && (at < 0 || loads[i] < loads[at]) {
			at = i
		}
	}
	return at
}
