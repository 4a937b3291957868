package compare

import (
	"math"
	"slices"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/timing"
	"github.com/memwall/memwall/internal/training"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/serving"
)

// predicted adds the predicted operators, if the trace has steps and their time is predicted.
func (o *operators) predicted(a *question.Env) {
	s := o.plan
	if s.answer == nil || s.Log.Find("time_step") == nil {
		return
	}
	classes, list, parts := trainingParts, []speed.Operator(nil), []api.StepPart(nil)
	switch {
	case s.answer.Step != nil:
		o.step, parts = stepPart(s.answer.Step, "step"), s.answer.Step.Parts
		list, o.device = trainingOperators(a, &s.Request)
	case s.answer.Speed != nil && !s.Log.Noted("mixed_steps") && !s.Log.Noted("prompt_steps"):
		classes, o.step = decodingParts, decodePart(s.answer.Speed, "step")
		for _, p := range s.answer.Speed.Parts {
			parts = append(parts, api.StepPart{Name: p.Name, Seconds: p.MS / 1e3})
		}
		list, o.device = decodingOperators(a, &s.Request, s.answer.KV)
	}
	for _, x := range agreeing(list, parts) {
		if class := classOfPart(classes, x.Part); class != "" {
			o.own = append(o.own, ownOperator{x, class})
		}
	}
}

// agreeing returns the operators that add up to their part, and for other parts the part alone.
func agreeing(list []speed.Operator, parts []api.StepPart) (out []speed.Operator) {
	const rounding = 2e-3
	for _, p := range parts {
		var of []speed.Operator
		sum := 0.0
		for _, x := range list {
			if timing.Identifier(x.Part) == p.Name {
				x.Part = p.Name
				of, sum = append(of, x), sum+x.Seconds
			}
		}
		if math.Abs(sum-p.Seconds) > rounding*p.Seconds {
			of = []speed.Operator{{Part: p.Name, Rest: true, Seconds: p.Seconds}}
		}
		out = append(out, of...)
	}
	return out
}

// classOfPart returns the kernel class compared with a part of a step; "" if it runs no kernel.
func classOfPart(classes map[string]string, part string) string {
	for class, parts := range classes {
		if class != "idle" && hasWord(parts, part) {
			return class
		}
	}
	return ""
}

func trainingOperators(a *question.Env, r *api.Request) ([]speed.Operator, *hardware.Device) {
	t, err := training.Trained(a, r)
	if err != nil || t.Job.Machine == nil {
		return nil, nil
	}
	device := &t.Job.Machine.Groups[0].Device
	p, err := t.StepPredictor(t.Job.Training)
	if err != nil {
		return nil, device
	}
	list, err := p.Operators()
	if err != nil {
		return nil, device
	}
	return list, device
}

func decodingOperators(a *question.Env, r *api.Request, kv *api.KV) ([]speed.Operator, *hardware.Device) {
	q, err := a.Prepare(r)
	if err != nil || q.Job.Machine == nil {
		return nil, nil
	}
	in, err := timing.ServingInput(q, kv)
	if err != nil || !slices.Contains(serving.Engines(), q.Engine.Name()) {
		return nil, q.Job.Device(0)
	}
	m, err := timing.Compiled(q, in)
	if err != nil {
		return nil, in.Device
	}
	p := q.Request.Plan
	return m.Operators(serving.Load{Users: int64(p.Sequences), Prompt: int64(p.PromptTokens), Output: int64(p.OutputTokens), Burst: true}),
		in.Device
}
