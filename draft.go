package memwall

import (
	"errors"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/plan"
)

// draft resolves the model that drafts: on the same machine, by the same engine, stored as it is published.
func (q *question) draft() error {
	name := q.request.DraftModel
	if name == "" {
		if n := q.request.DraftTokens; n > 0 && engine.ReadsGGUF(q.engine) {
			q.job.Note("no_draft_model", "warn", "draft_tokens", "draft_tokens = %d has no effect without draft_model", n)
		}
		return nil
	}
	d := &question{asker: q.asker, engine: q.engine, request: Request{Model: name, Plan: plan.Plan{Context: q.request.Context, Sequences: q.request.Sequences}}}
	d.job = &engine.Job{Plan: &d.request.Plan, Machine: q.job.Machine, Version: q.job.Version}
	var err error
	if d.resolved, err = q.asker.resolve(name); err == nil {
		err = d.model()
	}
	if err == nil && d.resolved.UnknownArch != "" {
		err = &Error{Code: Unsupported, Value: name, Message: "the architecture " + d.resolved.UnknownArch + " of the draft model is unknown", Hint: "name another draft model"}
	}
	if err != nil {
		return draftError(err)
	}
	q.job.Draft = d.job
	return nil
}

func draftError(err error) error {
	var e *Error
	if errors.As(asError(err), &e) {
		out := *e
		out.Field = "draft_model"
		return &out
	}
	return err
}
