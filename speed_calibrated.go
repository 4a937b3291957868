package memwall

import (
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/speed/stream"
)

// Calibration is what benchmarks of the user's own machines taught. Package calibrate makes one.
type Calibration interface {
	// Table gives the table of a name with what is known of a device of one's own; nil where nothing is. The
	// device is named as the table's keys are: "cuda/rtx-3090".
	Table(name, device string) *coef.Table
}

// Names of the tables of coefficients: of single streams, and of engines that batch.
const (
	StreamTable  = "stream"
	ServingTable = "serving"
)

// streamTable is that table, tuned where the asker has measured a device of the plan.
func (q *question) streamTable(v *Speed, stages []stream.Stage) (*coef.Table, error) {
	if c := q.asker.Calibration; c != nil {
		for i := range stages {
			if t := c.Table(StreamTable, stages[i].Key()); t != nil {
				q.calibrated(v, stages[i].Device)
				return t, nil
			}
		}
	}
	return stream.Fitted()
}

// servingModel compiles a plan with the same for engines that batch.
func (q *question) servingModel(v *Speed, in *serving.In) (*serving.Model, error) {
	if q.servingTable(in) != nil {
		q.calibrated(v, in.Device)
	}
	return q.compiled(in)
}

// servingTable is what was measured of one's own device; nil where nothing was.
func (q *question) servingTable(in *serving.In) *coef.Table {
	if q.asker.Calibration == nil {
		return nil
	}
	return q.asker.Calibration.Table(ServingTable, in.Device.ID)
}

// compiledKey is all that the kernels of a plan depend on, beside the asker's calibration.
type compiledKey struct {
	stages  stagesKey
	device  *hardware.Device
	link    hardware.Link
	engine  string
	version engine.Version
	kv      float64
	moe     string
	drafted int64
}

// compiled is the model of a plan; plans of a search that differ in their load alone share its kernels.
func (q *question) compiled(in *serving.In) (*serving.Model, error) {
	first := &in.Stages[0]
	p := first.Parallel
	key := compiledKey{stagesKey{in.Model, first.Weights, p.TP, p.PP, p.EP}, in.Device, in.Link, in.Engine, in.Version, in.Exec.KVBytes, in.MoE, 0}
	if in.Speculation != nil {
		key.drafted = in.Speculation.Tokens
	}
	got := engine.Once(q.job, key, func() (m withError[*serving.Model]) {
		m.value, m.err = q.compile(in)
		return m
	})
	if got.err != nil {
		return nil, got.err
	}
	return got.value.For(in), nil
}

// withError is what something gave, to be given again.
type withError[T any] struct {
	value T
	err   error
}

func (q *question) compile(in *serving.In) (*serving.Model, error) {
	if t := q.servingTable(in); t != nil {
		return serving.CompileWith(in, t)
	}
	return serving.Compile(in)
}

func (q *question) calibrated(v *Speed, d *hardware.Device) {
	v.RestsOn = "figures of one of your own: memwall calibrate"
	q.job.Note("calibrated", "info", "hardware", "speeds of %s rest on %s", d.Name, v.RestsOn)
}

// Served compiles the plan of a request for an engine that batches, as answers of speed do, with no calibration.
// The error is an *Error.
func (a *Asker) Served(r *Request) (*serving.Model, error) {
	q, err := (&Asker{Models: a.Models}).prepare(r)
	if err != nil {
		return nil, asError(err)
	}
	ranks, err := q.booked()
	if err != nil {
		return nil, asError(err)
	}
	size := q.size(ranks)
	if size.Verdict == DoesNotFit {
		return nil, &Error{Code: ImpossiblePlan, Field: "hardware", Value: r.Hardware, Message: "the plan does not fit " + r.Hardware, Hint: "name the devices that ran it"}
	}
	if q.prompter != nil {
		return nil, &Error{Code: Unsupported, Field: "disaggregated", Message: "workers of two kinds are no single model of a step", Hint: "leave disaggregated out, and ask for a worker"}
	}
	in, err := q.served(size.KV)
	if err != nil {
		return nil, asError(err)
	}
	m, err := serving.Compile(in)
	if err != nil {
		return nil, asError(err)
	}
	return m, nil
}

// source of the figures of time, and what they rest on beside the law.
func (v *Speed) source() string {
	const law = "docs/formulas.md#speed"
	if v == nil || v.RestsOn == "" {
		return law
	}
	return law + ", " + v.RestsOn
}
