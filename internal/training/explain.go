package training

import (
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/ledger"
)

// explainStep says what the time of a step and the tokens a second of a device are made of, what they rest on, and which published runs
// are most like this one.
func (t *Training) explainStep(s *api.TrainingStep) {
	x := t.Question.Explain
	if x == nil {
		return
	}
	p, err := t.StepPredictor(t.Job.Training)
	if err != nil {
		return
	}
	source := "docs/formulas.md#training-step, " + p.RestsOn() + "; nearest: "
	for i, r := range p.Nearest(2) {
		if i > 0 {
			source += "; "
		}
		source += r.String()
	}
	var names []string
	var inputs []api.ExplainInput
	for i := range s.Parts {
		names = append(names, s.Parts[i].Label())
		inputs = append(inputs, api.ExplainInput{Name: s.Parts[i].Label(), Value: s.Parts[i].Seconds,
			Origin: "s, " + string(s.Parts[i].Bound)})
	}
	x.Out["/step/seconds"] = api.Explain{Value: s.Seconds, Low: s.SecondsLow, High: s.SecondsHigh, Unit: "s", Basis: ledger.Measured,
		Formula: strings.Join(names, " + "), Inputs: inputs, Source: source}
	x.Out["/step/tokens_per_s_per_device"] = api.Explain{Value: s.PerDevice, Low: s.Low, High: s.High, Unit: "tok/s",
		Basis: ledger.Measured, Formula: "tokens / devices / seconds", Source: source, Inputs: []api.ExplainInput{
			{Name: "tokens", Value: s.Tokens, Origin: "of a step"}, {Name: "devices", Value: float64(t.Job.Devices())},
			{Name: "seconds", Value: s.Seconds, Origin: "of a step"}}}
}
