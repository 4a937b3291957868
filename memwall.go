// Package memwall answers questions about the memory and speed of large language models: whether a model fits on a
// machine under a plan, where every byte goes, and what breaks first. Ask takes a Request and returns an Answer; both
// are plain structs with a stable JSON form.
//
// The package does no I/O. References that need files or a network are resolved by a ModelSource supplied by the
// caller; without one, only the built-in catalog is known. Package api documents requests and answers; the path from
// request to ledger begins in internal/question.
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

// Version is the version of memwall.
var Version = "0.1.0"

// An Asker answers requests, resolving model references through its Models source. The zero value uses the built-in
// catalog.
type Asker struct {
	Models ModelSource
	// Calibration adjusts predicted speeds to the user's own machines; nil means none.
	Calibration Calibration
	// Evidence looks up the user's own measurements of a plan; nil means none.
	Evidence api.Evidence
	// Data reads sample lengths; if nil, plans that name a file of them are rejected.
	Data LengthSource
	// Traces opens recorded workloads; if nil, plans that name one are rejected.
	Traces TraceSource
	// Watch receives progress and simulation events; nil means none.
	Watch *Watch
	// Parallel calls do for every integer in [0, n), in any order and possibly concurrently, and returns once all calls
	// have returned. Nil means sequentially. Answers do not depend on it.
	Parallel func(n int, do func(i int))
	memo     *question.Memo
}

// env returns the environment that the internal packages read the asker's settings from.
func (a *Asker) env() *question.Env {
	return &question.Env{Models: a.Models, Calibration: a.Calibration, Data: a.Data, Traces: a.Traces, Watch: a.Watch, Parallel: a.Parallel,
		Memo: a.memo}
}

// Remembering returns an asker that caches what its questions share and so answers later ones faster. It is not safe
// for concurrent use, and its cache grows with the number of distinct models and machines asked about; a long-running
// program should replace it from time to time.
func (a *Asker) Remembering() *Asker {
	if a.memo != nil {
		return a
	}
	b := *a
	b.memo = question.NewMemo()
	return &b
}

// Ask answers a request using the built-in catalog.
func Ask(r *Request) (*Answer, error) { return (&Asker{}).Ask(r) }

// Ask answers a request. The error is an *Error and is also recorded in the answer.
func (a *Asker) Ask(r *Request) (*Answer, error) { return a.AskContext(context.Background(), r) }

// AskContext is Ask with a context. If the context ends a search, AskContext returns the results found so far with a
// nil error, or an error if there are none.
func (a *Asker) AskContext(ctx context.Context, r *Request) (*Answer, error) {
	return stamped(r.Ask)(a.borneOut(a.ask(ctx, r)))
}

// borneOut adds measurements of the answer's plan to the answer.
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

// stamped returns a function that completes an answer with the program version and the question asked, and converts its
// error to an *Error.
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

// Compare compares a startup log with the prediction for its plan, using the built-in catalog. Non-zero fields of
// overrides supply what the log lacks or replace what it says.
func Compare(log string, overrides Request) (*Answer, error) {
	return (&Asker{}).Compare(strings.NewReader(log), overrides)
}

// Compare compares a startup log with the prediction for its plan. Models named in overrides are resolved by the
// Asker's source; models named by the log are looked up in the catalog only, so that a log can never cause a file to be
// opened.
func (a *Asker) Compare(log io.Reader, overrides Request) (*Answer, error) {
	return stamped(api.AskCompare)(compare.Compare(a.env(), log, &overrides))
}

// CompareFound is like Compare for a log that has already been parsed, or for figures obtained by other means.
func (a *Asker) CompareFound(log *StartupLog, overrides Request) (*Answer, error) {
	return stamped(api.AskCompare)(compare.CompareFound(a.env(), log, &overrides))
}

// CompareSnapshot analyzes a memory snapshot in the light of the model named in overrides, and compares the plan's
// figures with those of the snapshot's fullest device.
func (a *Asker) CompareSnapshot(s *snapshot.Snapshot, overrides Request) (*snapshot.Report, *Answer, error) {
	r, err := compare.Snapshot(a.env(), s, &overrides)
	if err != nil {
		return nil, nil, err
	}
	answer, err := a.CompareFound(r.Log(), overrides)
	return r, answer, err
}

// Diagnose explains an out-of-memory text using the built-in catalog. Non-zero fields of overrides supply parts of the
// plan that the text lacks.
func Diagnose(text string, overrides Request) (*Answer, error) {
	return (&Asker{}).Diagnose(strings.NewReader(text), overrides)
}

// Diagnose explains an out-of-memory text of any length. Models named in overrides are resolved by the Asker's source;
// models named by the text are looked up in the catalog only, so that a text can never cause a file to be opened.
func (a *Asker) Diagnose(text io.Reader, overrides Request) (*Answer, error) {
	return stamped(api.AskDiagnose)(cause.Diagnose(a.env(), text, &overrides))
}

// AsError converts an error of this package, of package hardware or of the catalog to an *Error.
func AsError(err error) *Error { return api.AsError(err) }
