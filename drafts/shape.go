// Package drafts is what speculative decoding yields: chains and trees of drafted tokens, how many of them are accepted, and what
// was published of that.
package drafts

import (
	"math"
	"slices"

	"github.com/memwall/memwall/internal/stable"
)

// Shape is what is drafted at a time.
type Shape struct {
	// Tokens that are verified beside the one that is known: of a tree, its nodes.
	Tokens int64
	// Steps of the drafter, and the tokens with which each node may go on. Without steps, or with one branch, it is a chain.
	Steps, Branches int64
}

// Depth is how many drafted tokens may be accepted at most.
func (s Shape) Depth() int64 {
	if s.chain() || s.Steps > s.Tokens {
		return s.Tokens
	}
	return s.Steps
}

func (s Shape) chain() bool { return s.Steps == 0 || s.Branches <= 1 }

// Drafted is how many steps the drafter takes.
func (s Shape) Drafted() int64 {
	if s.chain() {
		return s.Tokens
	}
	return s.Steps
}

// mostDepth bounds what a request may ask for.
const mostDepth = 1 << 10

// Survival is the chance that at least 1, 2, … tokens of a draft are accepted, where a is the chance that the drafter's first
// choice is right, given that all before it were. A further choice of the same node catches as large a share of what those before
// it missed: the positional acceptance of Sequoia (arXiv:2402.12374, section 3.1) with one ratio. The tree is EAGLE-2's
// (arXiv:2406.16858, section 4; sglang/srt/speculative/spec_utils.py, select_top_k_tokens and organize_draft_results): of each
// depth the likeliest nodes go on, and of all nodes the likeliest are verified.
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

// node of a tree of drafts: the chance that it is accepted, its ancestors included.
type node struct {
	depth  int64
	chance float64
}

// nodes that are verified.
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

// likeliest first; of equals the shallower, so that a node stands behind its ancestors.
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

// Expected tokens that a step yields of a sequence: those of the draft that are accepted, and one more.
func Expected(survival []float64) float64 {
	sum := 1.0
	for _, p := range survival {
		sum += p
	}
	return sum
}

// Chance is the chance of the drafter's first choice that makes a step yield so many tokens; false where none does.
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

// Stretched is a survival that was measured at some positions, for as many as the shape has: beyond them it goes on as from the last
// but one to the last.
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
