package examples

import (
	"os"
	"strings"
	"testing"

	"github.com/memwall/memwall"
)

const selectionPage = "../../docs/gpu-selection.md"

// The page in docs is what the program renders.
func TestSelectionMarkdown(t *testing.T) {
	got, err := SelectionMarkdown()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(selectionPage, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(selectionPage)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not what memwall says now\ngo test ./internal/examples -update writes it", selectionPage)
	}
}

// Every cell has an answer, and a reason stands where the advice is not simply right.
func TestSelectionIsAnswered(t *testing.T) {
	c := newCalc()
	for i := range selection {
		a := &selection[i]
		then, now := a.asks(c, a.then), []outcome(nil)
		if a.now.id != "" {
			now = a.asks(c, a.now)
		}
		if c.err != nil {
			t.Fatalf("%d, %s: %v", a.doc, a.model, c.err)
		}
		if text := cell(then) + cell(now); strings.Contains(text, "?") {
			t.Errorf("%d, %s: %s", a.doc, a.model, text)
		}
		if v := a.verdict(then, now); (v == Right) == (a.why != "") {
			t.Errorf("%d, %s, %s: %s, and the reason is %q", a.doc, a.model, a.says, v, a.why)
		}
	}
}

// The same of training.
func TestTuningIsAnswered(t *testing.T) {
	c := newCalc()
	for i := range tuning {
		a := &tuning[i]
		then, now := a.outcomes(c)
		if c.err != nil {
			t.Fatalf("%d, %s: %v", a.doc, a.model, c.err)
		}
		if text := cell(then) + cell(now); strings.Contains(text, "?") {
			t.Errorf("%d, %s: %s", a.doc, a.model, text)
		}
		if v := a.verdict(then, now); (v == Right) == (a.why != "") {
			t.Errorf("%d, %s, %s: %s, and the reason is %q", a.doc, a.model, a.says, v, a.why)
		}
	}
}

// A verdict follows from what holds.
func TestSelectionVerdict(t *testing.T) {
	of := func(verdicts ...memwall.Verdict) (out []outcome) {
		for _, v := range verdicts {
			out = append(out, outcome{answer: answer{Answer: &memwall.Answer{Verdict: v}}})
		}
		return out
	}
	for _, x := range []struct {
		not       bool
		then, now []outcome
		want      Verdict
	}{
		{false, of(memwall.Fits, memwall.Tight), of(memwall.Fits), Right},
		{false, of(memwall.Fits), of(memwall.DoesNotFit), Stale},
		{false, of(memwall.DoesNotFit), of(memwall.DoesNotFit), Wrong},
		{false, of(memwall.Fits, memwall.DoesNotFit), nil, Depends},
		{false, of(memwall.DoesNotFit), of(memwall.Fits), Depends},
		{true, of(memwall.DoesNotFit), nil, Right},
		{true, of(memwall.Tight), nil, Wrong},
	} {
		if got := (&advice{not: x.not}).verdict(x.then, x.now); got != x.want {
			t.Errorf("not %v, %d then, %d now: %s, want %s", x.not, len(x.then), len(x.now), got, x.want)
		}
	}
}
