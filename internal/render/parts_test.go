package render_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/plan"
)

// screenOf is the screen whose parts Parts gives, with all that it can show.
func screenOf(a *memwall.Answer) string {
	st := term.Style{Width: term.MaxWidth}
	switch a.Ask {
	case "pick":
		return render.Pick(a, st)
	case "diagnose":
		return render.Diagnose(a, true, st)
	case "sim":
		return render.Sim(a, render.SimOptions{}, st)
	}
	return render.Plan(a, render.PlanOptions{If: true, All: a.Plan.Hardware == ""}, st) // of hardware, faces without flags show all
}

func texts(b *term.Block) []term.Runs {
	all := []term.Runs{b.Lead, b.Words}
	for _, r := range b.Rows {
		for _, c := range r.Cells {
			all = append(all, c.Runs)
		}
	}
	return all
}

func wordsOf(s string) []string { return strings.Fields(strings.ReplaceAll(s, term.NoBreak, " ")) }

// TestPartsAreTheScreen: what faces are given says what the terminal says, word by word.
func TestPartsAreTheScreen(t *testing.T) {
	for _, name := range []string{"sim", "sim-grows", "plan", "plan-fits", "plan-none", "plan-any", "plan-train", "plan-train-cost",
		"plan-train-none", "goal", "goal-day", "goal-none", "pick", "pick-none", "diagnose-train", "diagnose-ranks", "diagnose-growing",
		"diagnose-vllm", "diagnose-none", "diagnose-not"} {
		a := answer(t, name)
		words := wordsOf(screenOf(a))
		blocks := render.Parts(a)
		if len(blocks) == 0 || blocks[0].Kind != term.Title {
			t.Errorf("%s begins with no title", name)
		}
		for i := range blocks {
			for _, x := range texts(&blocks[i]) {
				for _, w := range wordsOf(x.String()) {
					if w != "·" && !slices.Contains(words, w) && !slices.Contains(words, strings.TrimRight(w, ",:")) { // a gap between cells is a stop
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
	for _, b := range render.Parts(a) {
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
	if render.Parts(answer(t, "fits")) != nil {
		t.Error("a fit has a page of its own")
	}
}

// TestBesideRows: of plans that fit, the best figures of each column are told; one that does not fit wins nothing.
func TestBesideRows(t *testing.T) {
	ask := func(on string) *memwall.Answer {
		a, err := memwall.Ask(&memwall.Request{Ask: "fit", Model: "llama-3.1-8b", Hardware: on,
			Plan: plan.Plan{Engine: "vllm", Weights: "bf16"}})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	fits, less, short := ask("rtx-4090"), ask("h100"), ask("rtx-3060")
	rows := render.BesideRows([]*memwall.Answer{fits, less, short, nil})
	if rows[0].Figures[3].Best || !rows[1].Figures[3].Best || !rows[1].Figures[2].Best || rows[2].Figures[3].Best ||
		!rows[2].Figures[3].Aside || rows[3].Name != "" {
		t.Errorf("%+v", rows)
	}
}
