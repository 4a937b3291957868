package render

import (
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall"
)

// screenOf is the screen whose parts Parts gives, with all that it can show.
func screenOf(a *memwall.Answer) string {
	st := Style{Width: MaxWidth}
	switch a.Ask {
	case "pick":
		return Pick(a, st)
	case "diagnose":
		return Diagnose(a, true, st)
	case "sim":
		return Sim(a, SimOptions{}, st)
	}
	return Plan(a, PlanOptions{If: true}, st)
}

func texts(b *Block) []Text {
	all := []Text{b.Lead, b.Words}
	for _, r := range b.Rows {
		for _, c := range r.Cells {
			all = append(all, c.Text)
		}
	}
	return all
}

func wordsOf(s string) []string { return strings.Fields(strings.ReplaceAll(s, hard, " ")) }

// TestPartsAreTheScreen: what faces are given says what the terminal says, word by word.
func TestPartsAreTheScreen(t *testing.T) {
	for _, name := range []string{"sim", "sim-grows", "plan", "plan-fits", "plan-none", "plan-any", "plan-train", "plan-train-cost", "plan-train-none", "goal", "goal-day", "goal-none", "pick", "pick-none", "diagnose-train", "diagnose-ranks", "diagnose-growing", "diagnose-vllm", "diagnose-none", "diagnose-not"} {
		a := answer(t, name)
		words := wordsOf(screenOf(a))
		blocks := Parts(a)
		if len(blocks) == 0 || blocks[0].Kind != Title {
			t.Errorf("%s begins with no title", name)
		}
		for i := range blocks {
			for _, x := range texts(&blocks[i]) {
				for _, w := range wordsOf(x.String()) {
					if w != "·" && !slices.Contains(words, w) {
						t.Errorf("%s: %q of %q is not on the screen", name, w, x)
					}
				}
			}
		}
	}
}

// TestPartsLead: numbers that lead to an origin have one, and changes say something.
func TestPartsLead(t *testing.T) {
	a := answer(t, "sim")
	n := 0
	for _, b := range Parts(a) {
		for _, x := range texts(&b) {
			for _, r := range x {
				if r.To != nil && r.To.Pointer != "" {
					n++
				}
			}
		}
	}
	if n < 20 {
		t.Errorf("%d numbers lead to their origin", n)
	}
	if Parts(answer(t, "fits")) != nil {
		t.Error("a fit has a page of its own")
	}
}
