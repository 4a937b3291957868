package serving_test

import (
	"testing"

	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/serving"
)

// piecesOf a prompt of so many tokens: their time one after the other, and that of the longest.
func piecesOf(m *serving.Model, tokens, pieces int64) (seconds, longest float64) {
	each := tokens / pieces
	for at := int64(0); at < tokens; at += each {
		b := speed.Batch{Prefill: each, Prompts: 1, Cached: at, Finished: (at + each) / tokens}
		s := m.Step(b)
		seconds, longest = seconds+s, max(longest, s)
	}
	return seconds, longest
}

// TestPiecesOfAPrompt: a prompt in more pieces takes no less time, but for the hundredth that the clock gains on short products, and holds
// the others up less at a time.
func TestPiecesOfAPrompt(t *testing.T) {
	const tokens, gained = 8192, 0.98
	for _, g := range grid {
		m := compile(t, plan(t, g.id, g.recipe, g.device, g.p))
		last, longest := piecesOf(m, tokens, 1)
		for _, pieces := range []int64{2, 4, 8, 16, 32} {
			all, one := piecesOf(m, tokens, pieces)
			if all < gained*last || one >= longest {
				t.Errorf("%s in %s on %s: %d pieces take %v s, the longest %v; half as many %v and %v", g.id, g.recipe, g.device, pieces, all, one, last, longest)
			}
			last, longest = all, one
		}
	}
}
