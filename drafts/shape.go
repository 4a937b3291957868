// Package drafts computes the yield of speculative decoding: chains and trees of drafted tokens, how many are accepted,
// and published acceptance rates.
package drafts

import (
	"math"
	"slices"

	"github.com/memwall/memwall/internal/stable"
)

// Shape describes what is drafted at a time.
type Shape struct {
	// Tokens is the number verified in addition to the known one; for a tree, its nodes.
	Tokens int64
	// Steps of the drafter, and Branches per node. Without steps, or with one branch, it is a chain.
	Steps, Branches int64
}

// Depth returns the maximum number of drafted tokens that can be accepted.
func (s Shape) Depth() int64 {
	if s.chain() || s.Steps > s.Tokens {
		return s.Tokens
	}
	return s.Steps
}

func (s Shape) chain() bool { return s.Steps == 0 || s.Branches <= 1 }

// Drafted returns the number of steps the drafter takes.
func (s Shape) Drafted() int64 {
	if s.chain() {
		return s.Tokens
	}
	return s.Steps
}

// mostDepth limits a request.
const mostDepth = 1 << 10

// Survival returns the probabilities that at least 1, 2, … tokens of a draft are accepted, where a is the probability
// that the drafter's first choice is right given that all before it were. A further choice of the same node catches as
// large a share of what the previous ones missed: the positional acceptance of Sequoia (arXiv:2402.12374, section 3.1)
// with a single ratio. The tree is EAGLE-2's (arXiv:2406.16858, section 4; sglang/srt/speculative/spec_utils.py,
// select_top_k_tokens and organize_draft_results): at each depth the likeliest nodes are extended, and of all nodes the
// likeliest are verified.
func (s Shape) Survival(a float64) []float64 {
	depth := min(s.Depth(), mostDepth)
	out := make([]float64, 0, depth)
	if s.chain() {
		for p := a; int64(len(out)) < depth; p *= a {
			out = append(out, p)
		}
		return out
	}
	out = out[:depth]
	for _, n := range s.nodes(a, depth) {
		out[n.depth] += n.chance
	}
	return out
}

// node of a draft tree: the probability that it and its ancestors are accepted.
type node struct {
	depth  int64
	chance float64
}

// nodes returns the verified nodes.
func (s Shape) nodes(a float64, depth int64) []node {
	branches := min(s.Branches, s.Tokens)
	all, front := []node(nil), []node{{-1, 1}}
	for d := range depth {
		next := make([]node, 0, int64(len(front))*branches)
		for _, n := range front {
			p := n.chance * a
			for range branches {
				next = append(next, node{d, p})
				p *= 1 - a
			}
		}
		likeliest(next)
		all = append(all, next...)
		front = next[:min(int(branches), len(next))]
	}
	likeliest(all)
	return all[:min(int(s.Tokens), len(all))]
}

// likeliest sorts by probability; on ties the shallower first, so that a node follows its ancestors.
func likeliest(nodes []node) {
	stable.Sort(nodes, func(x, y node) int {
		switch {
		case x.chance > y.chance:
			return -1
		case x.chance < y.chance:
			return 1
		}
		return int(x.depth - y.depth)
	})
}

// Expected returns the expected tokens per step and sequence: accepted drafts plus one.
func Expected(survival []float64) float64 {
	sum := 1.0
	for _, p := range survival {
		sum += p
	}
	return sum
}

// Chance returns the first-choice probability for which a step yields the expected tokens; false if there is none.
func (s Shape) Chance(expected float64) (float64, bool) {
	if !(expected >= 1 && expected <= float64(1+s.Depth())) {
		return 0, false
	}
	low, high := 0.0, 1.0
	for range 50 {
		if mid := (low + high) / 2; Expected(s.Survival(mid)) < expected {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2, true
}

// Stretched extends a survival measured at some positions to all of the shape's, continuing the ratio of the last two.
func (s Shape) Stretched(measured []float64) []float64 {
	depth := int(min(s.Depth(), mostDepth))
	out := slices.Clone(measured[:min(depth, len(measured))])
	if len(out) == 0 {
		return out
	}
	ratio := out[0]
	if n := len(out); n > 1 {
		ratio = out[n-1] / math.Max(out[n-2], math.SmallestNonzeroFloat64)
	}
	for len(out) < depth {
		out = append(out, out[len(out)-1]*math.Min(1, ratio))
	}
	return out
}
