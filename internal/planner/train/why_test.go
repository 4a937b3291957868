package train

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/question"
)

// TestTermsSum: the terms of a step add up to its time per token, those in which answers are generated too.
func TestTermsSum(t *testing.T) {
	asked := append(trainAsked[:4:4], trainAsk("llama-3.1-8b", "8xh100", func(r *api.Request) { r.Objective = "grpo" }))
	for _, r := range asked {
		s := spaceOf(t, r)
		f, err := tryPlans(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		d := s.detail(f.kept.ranked()[0])
		sum := 0.0
		for _, x := range d.terms() {
			sum += x.seconds
		}
		// A step is a middle of several runs of its parts, which are middles of their own.
		if ratio := sum / d.perToken; math.Abs(ratio-1) > 0.02 {
			t.Errorf("%s on %s: terms sum to %.3f of the time", r.Model, r.Hardware, ratio)
		}
	}
}

// TestGenerating: where an objective learns from answers, the frameworks tried are those that generate them on the same devices, and
// the time of generation ranks plans.
func TestGenerating(t *testing.T) {
	a, err := Plan(context.Background(), &question.Env{}, trainAsk("llama-3.1-8b", "8xh100", func(r *api.Request) { r.Objective = "grpo" }))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range a.Candidates {
		if !strings.Contains(c.Change, "verl") && !strings.Contains(c.Change, "nemo-rl") {
			t.Errorf("plan %s generates elsewhere", c.Change)
		}
	}
	if !strings.Contains(a.Best.Why, "generation") {
		t.Errorf("the best plan spends its time on %q", a.Best.Why)
	}
}
