// Package memwall answers questions about the memory of large language models: does a model fit on a
// machine under a plan, where does every byte go, what breaks first. Ask takes a Request and gives an
// Answer; both are plain structs with a stable JSON form.
//
// The package does no I/O. References that need files or a network are resolved by a ModelSource that the
// caller hands in; without one, the built-in catalog answers. Open fit.go for the path from request to
// ledger.
package memwall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/plan"
)

// Version of the program.
var Version = "0.1.0"

// Asker answers requests with the models of a source.
type Asker struct {
	Models ModelSource
	// Calibration tunes speeds to machines of the user's own; nil is none.
	Calibration Calibration
	// Data reads the lengths of samples; nil refuses plans that name a file of them.
	Data LengthSource
	// Traces reads recorded workloads; nil refuses plans that name one.
	Traces TraceSource
	// Watch follows simulations; nil does not.
	Watch *Watch
	// Parallel does something for each of n numbers from 0 and returns when all is done, in any order and at the same
	// time as it likes; nil is one after the other. No answer depends on it.
	Parallel func(n int, do func(i int))
	memo     *memo
	crowd    bool // what is asked is of a server of many users
}

// Ask answers a request about models of the catalog.
func Ask(r *Request) (*Answer, error) { return (&Asker{}).Ask(r) }

// Ask answers a request. The error is an *Error, and stands in the answer too.
func (a *Asker) Ask(r *Request) (*Answer, error) { return a.AskContext(context.Background(), r) }

// AskContext is Ask with a context that ends a search: the answer then has what was known by that time, and the error
// is nil if that is something.
func (a *Asker) AskContext(ctx context.Context, r *Request) (*Answer, error) {
	out, err := a.ask(ctx, r)
	if err != nil {
		e := asError(err)
		return &Answer{Schema: Schema, Version: Version, Ask: r.Ask, Error: e}, e
	}
	out.Schema, out.Version, out.Ask = Schema, Version, r.Ask
	return out, nil
}

func (a *Asker) ask(ctx context.Context, r *Request) (*Answer, error) {
	switch r.Ask {
	case askCompare:
		return a.compare(strings.NewReader(r.Text), r)
	case askDiagnose:
		return a.diagnose(strings.NewReader(r.Text), r)
	case askPick:
		return a.pick(ctx, r)
	case "fit", askPlan, askDiff, askTrain, askSim:
	default:
		return nil, &Error{Code: BadField, Field: "ask", Value: r.Ask, Message: fmt.Sprintf("ask = %q is not a question that this version answers", r.Ask), Hint: "fit, plan, pick, train, sim, diff, compare, diagnose"}
	}
	if err := r.ofAsk(); err != nil {
		return nil, err
	}
	if r.Model == "" {
		return nil, &Error{Code: BadField, Field: "model", Message: "model is missing", Hint: "a catalog id such as llama-3.1-8b, a file or a config.json"}
	}
	switch {
	case r.Ask == askPlan && r.For == askTrain:
		return a.planTrain(ctx, r)
	case r.Ask == askPlan && r.aims():
		return a.planGoal(ctx, r)
	case r.Ask == askPlan:
		return a.plan(ctx, r)
	case r.Ask == askDiff:
		return a.diff(r)
	case r.Ask == askSim:
		return a.simulate(ctx, r)
	case r.Ask == askTrain:
		return a.train(r)
	case len(r.Also) > 0:
		return a.fitAll(r)
	}
	return a.fit(r)
}

// Size answers a fit request with ledgers, verdict and figures alone: no outlook, no suggestions. It is what
// searches and scoreboards ask.
func (a *Asker) Size(r *Request) (*Answer, error) {
	q, ranks, err := a.sized(r)
	if err != nil {
		return nil, asError(err)
	}
	return q.size(ranks), nil
}

// each does something for the numbers from 0 to n - 1.
func (a *Asker) each(n int, do func(int)) {
	if a.Parallel != nil {
		a.Parallel(n, do)
		return
	}
	for i := range n {
		do(i)
	}
}

func (a *Asker) source() ModelSource {
	if a.Models == nil {
		return Catalog{}
	}
	return a.Models
}

// FieldCode tells a wrong field from one that asks for what is not described.
func FieldCode(f *family.FieldError) string {
	if f.Lacking {
		return Unsupported
	}
	return BadFile
}

// hinter is an error that knows its fix.
type hinter interface{ Hint() string }

// AsError gives an error of this package, of hardware or of the catalog the form of the contract.
func AsError(err error) *Error { return asError(err) }

// asError gives any error the form of the contract.
func asError(err error) *Error {
	var e *Error
	var p *plan.Problem
	var h *hardware.Error
	var f *family.FieldError
	var u *family.UnknownError
	var n *catalog.NotFoundError
	switch {
	case errors.As(err, &e):
		return e
	case errors.As(err, &p):
		code := BadField
		switch {
		case p.Lacking:
			code = Unsupported
		case p.Impossible:
			code = ImpossiblePlan
		}
		return &Error{Code: code, Field: p.Field, Value: p.Value, Message: p.Message, Hint: p.Fix}
	case errors.As(err, &h):
		field := cmp.Or(h.Field, "hardware") // "=" alone is a key without a name
		return &Error{Code: h.Code, Field: field, Value: shorten(h.Value), Message: fmt.Sprintf("%s %q %s", field, shorten(h.Value), h.Problem), Hint: h.Fix}
	case errors.As(err, &f):
		return &Error{Code: FieldCode(f), Field: f.Field, Value: f.Value, Message: f.Error(), Hint: f.Fix}
	case errors.As(err, &u):
		return &Error{Code: Unsupported, Field: "architectures", Value: u.Arch, Message: u.Error(), Hint: "give a GGUF or safetensors file for exact weights"}
	case errors.As(err, &n):
		return &Error{Code: UnknownModel, Field: "model", Value: n.Name, Message: n.Error(), Hint: n.Hint()}
	}
	out := &Error{Code: Internal, Message: err.Error()}
	if h, ok := err.(hinter); ok {
		out.Hint = h.Hint()
	}
	return out
}
