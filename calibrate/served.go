package calibrate

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/speed/stream"
)

// Formulas finds the formula of any figure that can be calibrated.
type Formulas struct {
	Models memwall.ModelSource
	stream Stream
	plans  map[string]*serving.Model
}

// Formula returns the formula of a figure, of a single stream or a server.
func (f *Formulas) Formula(o *Observation) (*Formula, error) {
	if slices.Contains(serving.Engines(), o.Engine) {
		return f.served(o)
	}
	f.stream.Models = f.Models
	return f.stream.Formula(o)
}

// served returns the formula for a server's closed loop.
func (f *Formulas) served(o *Observation) (*Formula, error) {
	of, ok := closedFigures[o.Test]
	if !ok {
		return nil, fmt.Errorf("figures of %s are not calibrated with: run a server with a fixed number of users", o.Test)
	}
	if o.Prompt < 1 || o.Answer < 1 || o.Concurrency < 1 {
		return nil, errors.New("prompt, answer and number of users are not all told")
	}
	m, err := f.plan(o)
	if err != nil {
		return nil, err
	}
	table, err := serving.Fitted()
	if err != nil {
		return nil, err
	}
	load := serving.Load{Users: o.Concurrency, Prompt: o.Prompt, Output: o.Answer, Burst: true}
	x := &Formula{Table: memwall.ServingTable, Coefs: table, Uses: m.Uses(), Own: m.Own(closedKinds[o.Test]),
		Value: func(c []float64) float64 { return of(m.With(c).Mean(load)) }}
	machines, err := stream.Fitted()
	if err != nil {
		return nil, err
	}
	x.setSpreads(machines, figureOf(o.Test)) // a plan's servers are each measured by one source, machines by many
	return x, nil
}

// closedFigures returns the figures of a closed loop in the units of their tests.
var closedFigures = map[Test]func(serving.Closed) float64{
	TPOT:   func(c serving.Closed) float64 { return 1e3 * c.PerToken },
	TTFT:   func(c serving.Closed) float64 { return 1e3 * c.First },
	Output: func(c serving.Closed) float64 { return c.Throughput },
}

// closedKinds maps tests to the names of figures in the serving table.
var closedKinds = map[Test]string{TPOT: serving.SpreadPerToken, TTFT: serving.SpreadFirst, Output: serving.SpreadThroughput}

// plan compiles the plan behind an observation; figures of one run share it.
func (f *Formulas) plan(o *Observation) (*serving.Model, error) {
	r, err := request(o)
	if err != nil {
		return nil, err
	}
	key := fmt.Sprintf("%s %s %s %s %d %d", r.Model, r.Hardware, r.Weights, r.Engine, r.Sequences, r.Context)
	if m := f.plans[key]; m != nil {
		return m, nil
	}
	m, err := (&memwall.Asker{Models: f.Models}).Served(r)
	if err != nil {
		return nil, err
	}
	if f.plans == nil {
		f.plans = map[string]*serving.Model{}
	}
	f.plans[key] = m
	return m, nil
}

// request returns the plan of an observation, with the engine's defaults.
func request(o *Observation) (*memwall.Request, error) {
	switch {
	case o.Model == "":
		return nil, errors.New("the file does not name the model: give --model")
	case o.Hardware == "":
		return nil, errors.New("the file does not name the devices: give --on")
	}
	on := o.Hardware
	if o.Devices > 1 {
		on = strconv.FormatInt(o.Devices, 10) + "x" + on
	}
	if _, _, err := hardware.Parse(on, 0); err != nil {
		return nil, fmt.Errorf("%q is not known hardware: give --on, as memwall hardware lists it or described", clip(on))
	}
	return &memwall.Request{Ask: "fit", Model: strings.TrimSpace(o.Model), Hardware: on,
		Plan: plan.Plan{Engine: o.Engine, Weights: o.Weights,
			Sequences: plan.Int(o.Concurrency), PromptTokens: plan.Int(o.Prompt), OutputTokens: plan.Int(o.Answer),
			Context: plan.Int(o.Prompt + o.Answer)}}, nil
}
