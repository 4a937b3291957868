package memwall

import (
	"math"
	"slices"
	"testing"

	"github.com/memwall/memwall/plan"
)

// inStep is the time of writing answers in a step; 0 where none is counted.
func inStep(t *testing.T, r *Request) float64 {
	t.Helper()
	a := goalOf(t, r)
	sum, generation := 0.0, 0.0
	for _, p := range a.Step.Parts {
		if sum += p.Seconds; p.Name == "generation" {
			generation = p.Seconds
		}
	}
	if math.Abs(sum/a.Step.Seconds-1) > 0.01 {
		t.Errorf("parts of %s add up to %g s, and a step takes %g", r.Framework, sum, a.Step.Seconds)
	}
	if whole := a.Step.Tokens / a.Step.Seconds / 8; math.Abs(whole/a.Step.PerDevice-1) > 0.01 {
		t.Errorf("%g tokens a second and device of a whole step, said are %g", whole, a.Step.PerDevice)
	}
	loud := slices.ContainsFunc(a.Notes, func(n Note) bool { return n.Code == "generation_not_counted" && n.Severity == "warn" })
	if online := r.Objective != "sft"; online && loud == (generation > 0) {
		t.Errorf("%s, %s: %g s of generation, said to be left out: %v", r.Framework, r.Objective, generation, loud)
	}
	return generation
}

func learning(framework, objective string) *Request {
	r := &Request{Ask: "train", Model: "qwen3-8b", Hardware: "8xh100"}
	r.Framework, r.Objective, r.GlobalBatch, r.SequenceLength, r.MicroBatch = framework, objective, 256, 2048, 1
	return r
}

// TestGeneration: a step of learning from answers has the time in which they are written, by the engine that the program starts where
// nobody says, or says loudly that it has not; twice the answers and twice their length take longer, and an engine that is awake takes
// its memory from the model.
func TestGeneration(t *testing.T) {
	for framework, counted := range map[string]bool{"": false, "trl": false, "verl": true, "openrlhf": true, "nemo-rl": true, "slime": true} {
		if got := inStep(t, learning(framework, "grpo")); (got > 0) != counted {
			t.Errorf("%s: generation takes %g s", framework, got)
		}
	}
	one := inStep(t, learning("verl", "grpo"))
	longer, more := learning("verl", "grpo"), learning("verl", "grpo")
	longer.Rollout, more.GlobalBatch = &plan.Rollout{Output: 2000}, 512
	if l, m := inStep(t, longer), inStep(t, more); l < 1.5*one || m <= one {
		t.Errorf("%g s of generation, %g s of longer answers, %g s of more", one, l, m)
	}
	awake, asleep, off := learning("verl", "grpo"), learning("verl", "grpo"), false
	awake.Rollout = &plan.Rollout{Sleep: &off}
	if a, b := goalOf(t, awake), goalOf(t, asleep); a.Devices[0].Needed <= b.Devices[0].Needed {
		t.Errorf("%d bytes with an engine that is awake, %d with one that sleeps", a.Devices[0].Needed, b.Devices[0].Needed)
	}
	if awake.Rollout.Colocated != nil {
		t.Error("the question was changed")
	}
}

// TestObjectivesOfOneKind: objectives that differ in the loss alone hold as much.
func TestObjectivesOfOneKind(t *testing.T) {
	for name, as := range map[string]string{"dapo": "grpo", "gspo": "grpo", "rloo": "grpo", "ipo": "dpo", "simpo": "dpo", "orpo": "dpo"} {
		a, r := goalOf(t, learning("trl", name)), learning("trl", as)
		if name == "simpo" || name == "orpo" {
			r.ReferenceModel = "none"
		}
		if b := goalOf(t, r); a.Devices[0].Needed != b.Devices[0].Needed || a.Plan.Objective != as {
			t.Errorf("%s holds %d as %s, %s %d", name, a.Devices[0].Needed, a.Plan.Objective, as, b.Devices[0].Needed)
		}
	}
}
