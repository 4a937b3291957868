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

// predicted are memwall's operators, where the trace has steps and memwall a time for them.
func (o *operators) predicted(a *question.Env) {
	c := o.c
	if c.sized == nil || c.Log.Find("time_step") == nil {
		return
	}
	classes, list, parts := trainingParts, []speed.Operator(nil), []api.StepPart(nil)
	switch {
	case c.sized.Step != nil:
		o.whole, parts = stepPart(c.sized.Step, "step"), c.sized.Step.Parts
		list, o.device = c.trainingOperators(a)
	case c.sized.Speed != nil && !c.Log.Noted("mixed_steps") && !c.Log.Noted("prompt_steps"):
		classes, o.whole = decodingParts, decodePart(c.sized.Speed, "step")
		for _, p := range c.sized.Speed.Parts {
			parts = append(parts, api.StepPart{Name: p.Name, Seconds: p.MS / 1e3})
		}
		list, o.device = c.decodingOperators(a)
	}
	for _, x := range agreeing(list, parts) {
		if class := classOfPart(classes, x.Part); class != "" {
			o.own = append(o.own, ownOperator{x, class})
		}
	}
}

// agreeing are the operators of the parts that they add up to, and of others the part alone.
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

// classOfPart is the class of kernels that a part of a step stands beside; "" for what runs no kernel.
func classOfPart(classes map[string]string, part string) string {
	for class, parts := range classes {
		if class != "idle" && hasWord(parts, part) {
			return class
		}
	}
	return ""
}

func (c *Comparison) trainingOperators(a *question.Env) ([]speed.Operator, *hardware.Device) {
	t, err := training.Trained(a, &c.Request)
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

func (c *Comparison) decodingOperators(a *question.Env) ([]speed.Operator, *hardware.Device) {
	q, err := a.Prepare(&c.Request)
	if err != nil || q.Job.Machine == nil {
		return nil, nil
	}
	in, err := timing.ServingInput(q, c.sized.KV)
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
