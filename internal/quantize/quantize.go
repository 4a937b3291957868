// Package quantize answers what formats cost the weights of a file, or the keys and values of a cache: it parses the
// request, measures every matrix in every format, resumes earlier measurements, and writes the chosen mixture.
package quantize

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/quant"
)

// Ports are what reaches outside.
type Ports struct {
	// Weights opens the tensors of a file or a folder; nil: weights are not read.
	Weights func(name string) (*quant.Model, io.Closer, error)
	// Statistics reads what an importance matrix and a file of activations tell of inputs.
	Statistics func(importance, activations string) (*quant.Statistics, io.Closer, error)
	Models     memwall.ModelSource
	// Ask sizes what else a device holds.
	Ask       func(*memwall.Request) (*memwall.Answer, error)
	Exists    func(name string) bool
	Create    func(name string) (File, error)
	WriteFile func(name string, data []byte) error
	// Memory is the folder of what was measured before; "": nothing is remembered.
	Memory string
	// Parallel does something for each of n numbers, several at a time.
	Parallel func(n int, do func(int))
	// Progress takes a line that says how far the work is; nil: none is drawn.
	Progress io.Writer
}

// File takes its name when it is whole.
type File interface {
	io.Writer
	Commit() error
	Abandon()
}

// work is one question being answered.
type work struct {
	Ports
	*Options
	q    *question
	name string
}

// Run answers what is asked of the file or folder of that name. When the context ends the report is of what was measured
// until then, and nothing is written.
func Run(ctx context.Context, name string, o *Options, p Ports) (*quant.Report, error) {
	q, err := o.read()
	if err != nil {
		return nil, err
	}
	if p.Weights == nil {
		return nil, &memwall.Error{Code: memwall.Unsupported, Field: "file", Value: name,
			Message: "weights cannot be read here", Hint: "run memwall where the file is"}
	}
	m, files, err := p.Weights(name)
	if err != nil {
		return nil, err
	}
	defer files.Close()
	w := &work{p, o, q, name}
	if quant.IsCache(m) {
		return w.cache(ctx, m)
	}
	return w.weights(ctx, m)
}

// weights measures the matrices of a model, and writes what is asked for.
func (w *work) weights(ctx context.Context, m *quant.Model) (*quant.Report, error) {
	if err := w.room(); err != nil {
		return nil, err
	}
	stats, inputs, err := w.statistics()
	if err != nil {
		return nil, err
	}
	defer inputs.Close()
	folds, err := w.fold(m, stats)
	if err != nil {
		return nil, err
	}
	all, stopped, err := w.measured(ctx, m, stats)
	if err != nil {
		return nil, err
	}
	r := quant.NewReport(m, all, w.q.formats)
	r.Schema, r.Stopped, r.Method, r.Gained, r.Unfolded = memwall.Schema, stopped, stats.Method, folds.gained, folds.left
	if r.Weighed == 0 && stats.Tells() != quant.Nothing && !stopped {
		return nil, &memwall.Error{Code: memwall.BadFile, Field: "imatrix", Value: cmp.Or(w.Imatrix, w.Inputs),
			Message: "no matrix of " + w.name + " is in the statistics of inputs",
			Hint:    "statistics of the same model, with its names"}
	}
	if err := w.extend(r, m, all); err != nil {
		return nil, err
	}
	if w.Spread {
		r.Spread = quant.SpreadOf(all)
	}
	return r, w.files(ctx, m, all, stats, r)
}

// files writes those that are asked for, unless the work was stopped.
func (w *work) files(ctx context.Context, m *quant.Model, all []*quant.Measured, stats *quant.Statistics, r *quant.Report) error {
	if r.Stopped {
		return nil
	}
	if w.Write != "" {
		if err := w.writeWeights(ctx, m, all, stats, r); err != nil {
			return err
		}
	}
	if err := w.save(m, all); err != nil {
		return err
	}
	return w.recipe(r)
}

// room makes a budget of what a device has left.
func (w *work) room() error {
	if w.Fits == "" {
		return nil
	}
	r := &memwall.Request{Ask: "fit", Model: w.name}
	r.Hardware, r.Engine = w.Fits, map[quant.Family]string{quant.GGUF: "llama.cpp", quant.Hub: "vllm"}[w.q.family]
	if w.Context > 0 {
		r.Context = plan.Int(w.Context)
	}
	answer, err := w.Ask(r)
	if err != nil {
		return err
	}
	room, ok := answer.RoomForWeights()
	if !ok {
		return &memwall.Error{Code: memwall.Unsupported, Field: "fits", Value: w.Fits,
			Message: "what " + w.Fits + " has room for beside the weights is not known, or is nothing",
			Hint:    "one device, a model with its config.json, a smaller --ctx; or --budget SIZE"}
	}
	w.q.budget = room
	return nil
}

// statistics of the inputs, as far as files are given.
func (w *work) statistics() (*quant.Statistics, io.Closer, error) {
	if w.Statistics == nil || w.Imatrix == "" && w.Inputs == "" {
		return &quant.Statistics{}, io.NopCloser(nil), nil
	}
	return w.Statistics(w.Imatrix, w.Inputs)
}

// extend adds what was asked for beside the sums.
func (w *work) extend(r *quant.Report, m *quant.Model, all []*quant.Measured) error {
	q := w.q
	if q.parts != nil {
		r.SetParts(all, q.formats, q.parts)
	}
	if w.By == "tensor" {
		r.SetEach(all)
	}
	if (q.budget == 0 && !w.Curve) || r.Stopped {
		return nil
	}
	c := quant.NewChoice(all, q.family, q.floors)
	c.GGUF = m.GGUF != nil
	if len(c.Groups) == 0 {
		return bad("family", w.Family, fmt.Sprintf("none of the formats that were tried is of %s files", w.Family),
			"--family hub, or other --formats")
	}
	if w.Curve {
		r.SetCurve(c)
	}
	if q.budget == 0 {
		return nil
	}
	return w.mix(r, c)
}

// mix chooses the formats for a budget.
func (w *work) mix(r *quant.Report, c *quant.Choice) error {
	budget := w.q.budget
	x, ok := c.Within(budget)
	if !ok {
		least, most := c.Range()
		return &memwall.Error{Code: memwall.BadField, Field: "budget", Value: cmp.Or(w.Budget, w.Fits),
			Message: fmt.Sprintf("no mixture of these formats takes %v: they go from %v to %v", budget, least, most),
			Hint:    fmt.Sprintf("--budget %d", least)}
	}
	r.SetMix(c, x, budget)
	return nil
}

func bad(field, value, message, hint string) error {
	return &memwall.Error{Code: memwall.BadField, Field: field, Value: value, Message: message, Hint: hint}
}
