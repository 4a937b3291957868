package timing

import (
	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/speed/stream"
)

// Names of coefficient tables: of single streams, and of engines with continuous batching.
const (
	StreamTable  = "stream"
	ServingTable = "serving"
)

// streamTable returns the single-stream table, calibrated if the asker has measured a device of the plan.
func streamTable(q *question.Question, v *api.Speed, stages []stream.Stage) (*coef.Table, error) {
	if c := q.Env.Calibration; c != nil {
		for i := range stages {
			if t := c.Table(StreamTable, stages[i].Key()); t != nil {
				calibrated(q, v, stages[i].Device)
				return t, nil
			}
		}
	}
	return stream.Fitted()
}

// servingModel compiles a plan with the corresponding table for serving engines.
func servingModel(q *question.Question, v *api.Speed, in *serving.In) (*serving.Model, error) {
	if servingTable(q, in) != nil {
		calibrated(q, v, in.Device)
	}
	return Compiled(q, in)
}

// servingTable returns the calibrated table of the user's device; nil if there is none.
func servingTable(q *question.Question, in *serving.In) *coef.Table {
	if q.Env.Calibration == nil {
		return nil
	}
	return q.Env.Calibration.Table(ServingTable, in.Device.ID)
}

// compiledKey is all that the kernels of a plan depend on, apart from calibration.
type compiledKey struct {
	stages  stagesKey
	device  *hardware.Device
	link    hardware.Link
	engine  string
	version engine.Version
	kv      float64
	moe     string
	width   float64 // tokens per sequence and step, if it speculates
	sent    serving.Dispatch
}

// Compiled returns the model of a plan; plans of a search that differ only in load share its kernels.
func Compiled(q *question.Question, in *serving.In) (*serving.Model, error) {
	first := &in.Stages[0]
	p := first.Parallel
	key := compiledKey{stagesKey{in.Model, first.Weights, p.TP, p.PP, p.EP, p.Redundant}, in.Device, in.Link, in.Engine, in.Version,
		in.Exec.KVBytes, in.MoE, 0, in.Dispatch}
	if in.Speculation != nil {
		key.width = in.Speculation.Width
	}
	got := engine.Once(q.Job, key, func() (m withError[*serving.Model]) {
		m.value, m.err = compile(q, in)
		return m
	})
	if got.err != nil {
		return nil, got.err
	}
	return got.value.For(in), nil
}

// withError is a cached result.
type withError[T any] struct {
	value T
	err   error
}

func compile(q *question.Question, in *serving.In) (*serving.Model, error) {
	if t := servingTable(q, in); t != nil {
		return serving.CompileWith(in, t)
	}
	return serving.Compile(in)
}

func calibrated(q *question.Question, v *api.Speed, d *hardware.Device) {
	v.RestsOn = "figures of one of your own: memwall calibrate"
	q.Job.Note("calibrated", "info", "hardware", "speeds of %s rest on %s", d.Name, v.RestsOn)
}

// Served compiles the request's plan for an engine with continuous batching, as speed predictions do, but without
// calibration. The error is an *Error.
func Served(a *question.Env, r *api.Request) (*serving.Model, error) {
	q, err := (&question.Env{Models: a.Models}).Prepare(r)
	if err != nil {
		return nil, api.AsError(err)
	}
	ranks, err := q.Ledgers()
	if err != nil {
		return nil, api.AsError(err)
	}
	size := SizedAnswer(q, ranks)
	if size.Verdict == api.DoesNotFit {
		return nil, &api.Error{Code: api.ImpossiblePlan, Field: "hardware", Value: r.Hardware,
			Message: "the plan does not fit " + r.Hardware, Hint: "name the devices that ran it"}
	}
	if q.Prompter != nil {
		return nil, &api.Error{Code: api.Unsupported, Field: "disaggregated",
			Message: "workers of two kinds are not a single model of a step",
			Hint:    "leave disaggregated out, and ask for a worker"}
	}
	in, err := ServingInput(q, size.KV)
	if err != nil {
		return nil, api.AsError(err)
	}
	m, err := serving.Compile(in)
	if err != nil {
		return nil, api.AsError(err)
	}
	return m, nil
}

// Source describes the source of predicted times, and the measurements behind them.
func Source(v *api.Speed) string {
	const law = "docs/formulas.md#speed"
	if v == nil || v.RestsOn == "" {
		return law
	}
	return law + ", " + v.RestsOn
}
