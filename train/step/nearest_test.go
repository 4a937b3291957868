package step_test

import (
	"strings"
	"testing"

	"github.com/memwall/memwall/train/step"
)

// TestNearestRuns: a run that was measured is the nearest to itself, and each reads as a sentence.
func TestNearestRuns(t *testing.T) {
	table, err := step.Fitted()
	if err != nil {
		t.Fatal(err)
	}
	in := input(t, "llama-3.1-8b", "8xh100")
	in.Training.Framework = "torchtitan"
	got := compile(t, in).With(table).Nearest(2)
	if len(got) != 2 || got[0].Device != "h100-sxm-80gb" || got[0].Framework != "torchtitan" || got[0].Rate <= 0 {
		t.Fatalf("%+v", got)
	}
	if text := got[0].String(); !strings.Contains(text, "torchtitan") || !strings.Contains(text, "tok/s of a device") {
		t.Errorf("%q", text)
	}
}
