// Package memwall answers questions about the memory of large language models: does a model fit on a
// machine under a plan, where does every byte go, what breaks first. Ask takes a Request and gives an
// Answer; both are plain structs with a stable JSON form.
//
// The package does no I/O. References that need files or a network are resolved by a ModelSource that the
// caller hands in; without one, the built-in catalog answers. What requests and answers mean stands in package
// api; the path from request to ledger begins in internal/question.
package memwall

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/compare"
	"github.com/memwall/memwall/internal/diagnose/cause"
	"github.com/memwall/memwall/internal/planner"
	"github.com/memwall/memwall/internal/planner/serve"
	"github.com/memwall/memwall/internal/planner/train"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/internal/training"
	"github.com/memwall/memwall/snapshot"
)

// Version of the program.
var Version = "0.1.0"

// Asker answers requests with the models of a source.
type Asker struct {
	Models ModelSource
	// Calibration tunes speeds to machines of the user's own; nil is none.
	Calibration Calibration
	// Evidence knows what was measured of plans; nil knows of nothing.
	Evidence api.Evidence
	// Data reads the lengths of samples; nil refuses plans that name a file of them.
	Data LengthSource
	// Traces reads recorded workloads; nil refuses plans that name one.
	Traces TraceSource
	// Watch follows simulations; nil does not.
	Watch *Watch
	// Parallel does something for each of n numbers from 0 and returns when all is done, in any order and at the same
	// time as it likes; nil is one after the other. No answer depends on it.
	Parallel func(n int, do func(i int))
	memo     *question.Memo
}

// env is what the rooms know of an asker.
func (a *Asker) env() *question.Env {
	return &question.Env{Models: a.Models, Calibration: a.Calibration, Data: a.Data, Traces: a.Traces, Watch: a.Watch, Parallel: a.Parallel,
		Memo: a.memo}
}

// Remembering gives an asker that keeps what its questions share, and so answers the next sooner. It is not for several
// at once, and what it keeps grows with the models and machines that it is asked for: who asks without end takes a new
// one now and then.
func (a *Asker) Remembering() *Asker {
	if a.memo != nil {
		return a
	}
	b := *a
	b.memo = question.NewMemo()
	return &b
}

// Ask answers a request about models of the catalog.
func Ask(r *Request) (*Answer, error) { return (&Asker{}).Ask(r) }

// Ask answers a request. The error is an *Error, and stands in the answer too.
func (a *Asker) Ask(r *Request) (*Answer, error) { return a.AskContext(context.Background(), r) }

// AskContext is Ask with a context that ends a search: the answer then has what was known by that time, and the error
// is nil if that is something.
func (a *Asker) AskContext(ctx context.Context, r *Request) (*Answer, error) {
	return stamped(r.Ask)(a.borneOut(a.ask(ctx, r)))
}

// borneOut sets beside an answer what was measured of its plan.
func (a *Asker) borneOut(out *Answer, err error) (*Answer, error) {
	if err != nil || a.Evidence == nil {
		return out, err
	}
	out.Measured = a.Evidence.Measured(out)
	for _, also := range out.Also {
		also.Measured = a.Evidence.Measured(also)
	}
	return out, nil
}

// stamped completes what a question came to: which version of the program was asked what, and an error in the contract's form.
func stamped(ask string) func(*Answer, error) (*Answer, error) {
	return func(out *Answer, err error) (*Answer, error) {
		if err != nil {
			e := api.AsError(err)
			return &Answer{Schema: Schema, Version: Version, Ask: ask, Error: e}, e
		}
		out.Schema, out.Version, out.Ask = Schema, Version, ask
		for _, also := range out.Also {
			also.Schema, also.Version, also.Ask = Schema, Version, "fit"
		}
		return out, nil
	}
}

func (a *Asker) ask(ctx context.Context, r *Request) (*Answer, error) {
	e := a.env()
	switch r.Ask {
	case api.AskCompare:
		return compare.Compare(e, strings.NewReader(r.Text), r)
	case api.AskDiagnose:
		return cause.Diagnose(e, strings.NewReader(r.Text), r)
	case api.AskPick:
		return planner.Pick(ctx, e, r)
	case "fit", api.AskPlan, api.AskDiff, api.AskTrain, api.AskSim:
	default:
		return nil, &Error{Code: BadField, Field: "ask", Value: r.Ask,
			Message: fmt.Sprintf("ask = %q is not a question that this version answers", r.Ask),
			Hint:    "fit, plan, pick, train, sim, diff, compare, diagnose"}
	}
	if err := r.CheckAsk(); err != nil {
		return nil, err
	}
	if r.Text != "" {
		return a.askText(ctx, r)
	}
	if r.Model == "" {
		return nil, &Error{Code: BadField, Field: "model", Message: "model is missing",
			Hint: "a catalog id such as llama-3.1-8b, a file or a config.json"}
	}
	switch {
	case r.Ask == api.AskPlan && r.For == api.AskTrain:
		return train.Plan(ctx, e, r)
	case r.Ask == api.AskPlan && r.Aims():
		return serve.Plan(ctx, e, r)
	case r.Ask == api.AskPlan:
		return planner.Plan(ctx, e, r)
	case r.Ask == api.AskDiff:
		return planner.Diff(e, r)
	case r.Ask == api.AskSim:
		return simulate.Simulate(ctx, e, r)
	case r.Ask == api.AskTrain:
		return training.Train(e, r)
	case len(r.Also) > 0:
		return planner.FitAll(ctx, e, r)
	}
	return planner.Fit(e, r)
}

// Compare reads a log with the models of the catalog. overrides are request fields that the log lacks or
// that are known better; a zero Request overrides nothing.
func Compare(log string, overrides Request) (*Answer, error) {
	return (&Asker{}).Compare(strings.NewReader(log), overrides)
}

// Compare reads a log. Models that overrides name are found by the Asker's source; what the log itself
// names is looked up in the catalog only, so that a text never opens a file.
func (a *Asker) Compare(log io.Reader, overrides Request) (*Answer, error) {
	return stamped(api.AskCompare)(compare.Compare(a.env(), log, &overrides))
}

// CompareFound is Compare for what was found elsewhere than in a log.
func (a *Asker) CompareFound(log *StartupLog, overrides Request) (*Answer, error) {
	return stamped(api.AskCompare)(compare.CompareFound(a.env(), log, &overrides))
}

// CompareSnapshot reports a memory snapshot with the model in mind that overrides name, and sets the plan's figures beside those of its
// fullest device.
func (a *Asker) CompareSnapshot(s *snapshot.Snapshot, overrides Request) (*snapshot.Report, *Answer, error) {
	r, err := compare.Snapshot(a.env(), s, &overrides)
	if err != nil {
		return nil, nil, err
	}
	answer, err := a.CompareFound(r.Log(), overrides)
	return r, answer, err
}

// Diagnose reads a text with the models of the catalog. overrides are fields of the plan that the text lacks.
func Diagnose(text string, overrides Request) (*Answer, error) {
	return (&Asker{}).Diagnose(strings.NewReader(text), overrides)
}

// Diagnose reads a text of any length. Models that overrides name are found by the Asker's source; what the text itself
// names is looked up in the catalog only, so that a text never opens a file.
func (a *Asker) Diagnose(text io.Reader, overrides Request) (*Answer, error) {
	return stamped(api.AskDiagnose)(cause.Diagnose(a.env(), text, &overrides))
}

// AsError gives an error of this package, of hardware or of the catalog the form of the contract.
func AsError(err error) *Error { return api.AsError(err) }
