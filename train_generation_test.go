package memwall

import (
	"math"
	"slices"
	"strings"
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

// TestAnyMethod: any is a set of methods and frameworks in a search for plans that train, ranked by what a fine-tune costs where hardware
// is open too, with what is published of the methods; a single plan has one method.
func TestAnyMethod(t *testing.T) {
	r := &Request{Ask: "plan", For: "train", Model: "llama-3.1-8b", Hardware: "any"}
	r.Method, r.Framework, r.Tokens, r.All = "any", "any", 10_000_000, true
	a := goalOf(t, r)
	methods, frameworks := map[string]bool{}, map[string]bool{}
	for i := range a.Candidates {
		c := &a.Candidates[i]
		methods[c.Plan.Method], frameworks[c.Plan.Framework] = true, true
		if c.Cost != nil && a.Best.Cost != nil && *c.Cost < *a.Best.Cost {
			t.Errorf("%s costs %g, the best %g", c.Change, *c.Cost, *a.Best.Cost)
		}
	}
	if len(methods) < 3 || len(frameworks) < 3 {
		t.Errorf("methods %v, frameworks %v", methods, frameworks)
	}
	if !slices.ContainsFunc(a.Notes, func(n Note) bool { return n.Code == "methods_differ" && strings.Contains(n.Text, "arXiv:2405.09673") }) {
		t.Error("nothing is said of how good the methods are")
	}
	one := &Request{Ask: "train", Model: "llama-3.1-8b", Hardware: "h100"}
	one.Method = "any"
	if _, err := Ask(one); err == nil {
		t.Error("a plan trains by any method")
	}
}
