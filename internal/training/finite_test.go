package training

import (
	"math"
	"testing"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/plan"
)

// TestStepsAreFinite: a step of any model that can be timed takes a time, in full and with adapters.
func TestStepsAreFinite(t *testing.T) {
	timed := 0
	for _, id := range catalog.IDs() {
		for _, method := range []string{"full", "lora"} {
			for _, on := range []string{"h100", "m4-max"} {
				x, err := Trained((&question.Env{}), &api.Request{Ask: api.AskTrain, Model: id, Hardware: on, Training: plan.Training{Method: method}})
				if err != nil {
					continue
				}
				p, err := x.StepPredictor(x.Job.Training)
				if err != nil {
					continue
				}
				timed++
				if s := p.Middle(); math.IsNaN(s) || math.IsInf(s, 0) || s <= 0 {
					t.Errorf("%s, %s on %s: a step of %v s", id, method, on, s)
				}
			}
		}
	}
	if timed < 100 {
		t.Errorf("%d steps", timed)
	}
}

// TestSharedStates: where nobody says how ranks share the work, copies of all states are what is run while they fit, else FSDP.
func TestSharedStates(t *testing.T) {
	for _, c := range []struct{ model, on, method, asked, framework, want string }{
		{"llama-3.1-8b", "8xh100", "full", "", "", "fsdp"}, {"llama-3.1-8b", "8xh100", "lora", "", "", "ddp"}, {"llama-3.1-8b", "8xh100", "full", "ddp", "", "ddp"},
		{"llama-3.1-8b", "8xh100", "full", "", "trl", "ddp"}, {"llama-3.2-1b", "8xh100", "full", "", "", "ddp"}, {"llama-3.1-8b", "h100", "full", "", "", "none"},
	} {
		a, err := Train(&question.Env{}, &api.Request{Ask: api.AskTrain, Model: c.model, Hardware: c.on, Training: plan.Training{Method: c.method, Sharding: c.asked, Framework: c.framework}})
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Plan.Sharding; got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
