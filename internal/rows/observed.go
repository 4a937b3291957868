package rows

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/calibrate"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/plan"
)

// Observations returns the speed figures of rows for calibration; quarantined ones are rejected with the rule's reason.
func Observations(rows []*Row) *calibrate.File {
	f := &calibrate.File{Format: Schema}
	doubts := map[[2]int]string{}
	for _, d := range Judge(rows) {
		doubts[[2]int{d.Row, d.Figure}] = d.Why
	}
	for at, r := range rows {
		for i := range r.Figures {
			x := &r.Figures[i]
			where := fmt.Sprintf("row %d, %s", at+1, x.Name)
			switch why := doubts[[2]int{at, i}]; {
			case x.Test == "":
			case why != "":
				f.Refused = append(f.Refused, calibrate.Refusal{At: where, Why: "in quarantine: " + why})
			default:
				f.Observations = append(f.Observations, r.observation(x, where))
			}
		}
	}
	return f
}

func (r *Row) observation(f *Figure, at string) calibrate.Observation {
	o := calibrate.Observation{At: at, Model: r.plan.Model, Weights: r.plan.Weights, Hardware: r.plan.Hardware,
		Engine:  engineKey(r.plan.Engine),
		Backend: r.plan.Backend, Date: r.Date, Test: f.Test, Prompt: f.Prompt, Answer: f.Answer, Depth: f.Depth, Concurrency: f.Users,
		Value: f.Measured, Deviation: f.Deviation,
		UBatch: int64(r.plan.UBatch), TypeK: r.plan.KV, TypeV: cmp.Or(r.plan.KVV, r.plan.KV)}
	if r.plan.GPULayers != nil {
		o.GPULayers = strconv.FormatInt(int64(*r.plan.GPULayers), 10)
	}
	return o
}

// Imported makes rows of what a benchmark's file holds: a row for each model, device and engine. Figures that have no formula here
// are kept without a prediction; what cannot be a row is refused.
func Imported(f *calibrate.File, models memwall.ModelSource, source, licence string) (out []*Row, refused []calibrate.Refusal,
	err error) {
	refused = f.Refused
	by, formulas := map[string]*Row{}, &calibrate.Formulas{Models: models}
	for i := range f.Observations {
		o := &f.Observations[i]
		r, err := rowOf(o, source, licence)
		if err != nil {
			refused = append(refused, calibrate.Refusal{At: o.At, Why: err.Error()})
			continue
		}
		id := string(r.Ask) + r.Date + r.Engine
		if by[id] == nil {
			by[id] = r
			out = append(out, r)
		}
		by[id].Figures = append(by[id].Figures, figureOf(o, formulas))
	}
	for i, r := range out {
		if err := r.check(fmt.Sprintf("row %d", i+1)); err != nil {
			return nil, refused, err
		}
	}
	return out, refused, nil
}

// rowOf a figure is its plan, by names that may be shared.
func rowOf(o *calibrate.Observation, source, licence string) (*Row, error) {
	p := api.Request{Ask: "fit", Model: o.Name(), Hardware: o.Hardware, Plan: plan.Plan{Engine: o.Engine, Weights: weightsKey(o.Weights),
		LlamaCpp: plan.LlamaCpp{UBatch: plan.Int(o.UBatch)}}}
	if o.Devices > 1 {
		p.Hardware = strconv.FormatInt(o.Devices, 10) + "x" + o.Hardware
	}
	switch {
	case p.Model == "":
		return nil, errors.New("the file does not name the model: give --model")
	case !inCatalog(p.Model):
		return nil, fmt.Errorf("%q is not a model of the catalog: give --model", clip(p.Model))
	}
	if p.Weights == "" && o.Engine == "llama.cpp" {
		return nil, errors.New("the file does not say how the weights are stored: give --weights")
	}
	if p.Weights != "" && dtype.FindRecipe(p.Weights) == nil {
		return nil, fmt.Errorf("%q is not a known way to store weights: give --weights", clip(o.Weights))
	}
	p.Model = modelKey(p.Model)
	if err := publicHardware(&p); err != nil {
		return nil, err
	}
	ask, err := askOf(&p)
	return &Row{Schema: Schema, By: memwall.Version, Date: o.Date, Source: source, Licence: licence, Ask: ask, Engine: engineOf(o),
		plan: &p}, err
}

func engineOf(o *calibrate.Observation) string {
	if o.Build != "" && o.Engine != "" {
		return o.Engine + "@" + o.Build
	}
	return o.Engine
}

func figureOf(o *calibrate.Observation, formulas *calibrate.Formulas) Figure {
	f := Figure{Name: string(o.Test), Unit: o.Test.Unit(), Test: o.Test, Prompt: o.Prompt, Answer: o.Answer, Depth: o.Depth,
		Users: o.Concurrency, Measured: o.Value, Deviation: o.Deviation}
	if x, err := formulas.Formula(o); err == nil {
		if v := x.Predicted(); v > 0 {
			f.Predicted = &v
		}
	}
	return f
}
