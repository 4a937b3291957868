package main

import (
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/speed/serving"
)

// loop is what a fit asks of a plan's model.
type loop interface {
	Uses() []coef.Use
	Use(*coef.Table)
	Values() []float64
	// at is the model with other coefficients.
	at(c []float64) loop
	Mean(serving.Load) serving.Closed
	Elasticities(serving.Load) (serving.Closed, serving.Elasticities)
	Variance(elasticity []float64) float64
	Saturated(serving.Load) bool
}

// joint and apart are plans with one kind of worker and with two.
type (
	joint struct{ *serving.Model }
	apart struct{ *serving.Pools }
)

func (m joint) at(c []float64) loop { return joint{m.With(c)} }
func (m apart) at(c []float64) loop { return apart{m.With(c)} }

// loop is the model of a request.
func (p *plans) loop(ask *memwall.Request, t *coef.Table) (loop, error) {
	if ask.Disaggregated != nil {
		return p.pools(ask, t)
	}
	m, err := p.worker(ask, t)
	return joint{m}, err
}

func (p *plans) worker(ask *memwall.Request, t *coef.Table) (*serving.Model, error) {
	in, err := p.in(ask)
	if err != nil {
		return nil, err
	}
	return serving.CompileWith(in, t)
}

func (p *plans) pools(ask *memwall.Request, t *coef.Table) (loop, error) {
	machine, _, err := hardware.Parse(ask.Hardware, 0)
	if err != nil {
		return nil, err
	}
	var workers [2]*serving.Model
	for i, one := range []plan.Plan{ask.Prompter(), ask.Worker()} {
		q := *ask
		q.Plan = one
		if workers[i], err = p.worker(&q, t); err != nil {
			return nil, err
		}
	}
	d := ask.Disaggregated
	return apart{serving.NewPools(workers[0], workers[1], serving.Split{Prefills: int64(d.Prefill), Decodes: int64(d.Decode),
		Wire: serving.Wire(&machine)})}, nil
}

// deviceOf a request is the id of what it runs on.
func deviceOf(ask *memwall.Request) (string, error) {
	machine, _, err := hardware.Parse(ask.Hardware, 0)
	if err != nil {
		return "", err
	}
	return machine.Groups[0].Device.ID, nil
}

// group that a row's errors and bands are of: its engine, or plans with pools of workers.
func (r *servingRow) group() string {
	if r.Ask.Disaggregated != nil {
		return serving.SpreadPools
	}
	return serving.EngineOf(r.Ask.Engine)
}

// early reports whether a request names an engine of another era.
func early(ask *memwall.Request) bool {
	name, text, _ := strings.Cut(ask.Engine, "@")
	v, err := engine.ParseVersion(text)
	return err == nil && serving.Early(name, v)
}
