package question

import (
	"errors"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/naming"
	"github.com/memwall/memwall/plan"
)

// draft resolves the draft model: on the same machine and engine, in its published format.
func (q *Question) draft() error {
	name := q.Request.DraftModel
	if name == "" {
		if n := q.Request.DraftTokens; n > 0 && engine.ReadsGGUF(q.Engine) && !IsTrue(q.Request.MTP) && q.Request.DraftMethod == "" {
			q.Job.Note("no_draft_model", "warn", "draft_tokens", "draft_tokens = %d has no effect without draft_model", n)
		}
		return nil
	}
	d := &Question{Env: q.Env, Engine: q.Engine, Request: api.Request{Model: name,
		Plan: plan.Plan{Context: q.Request.Context, Sequences: q.Request.Sequences}}}
	d.Job = &engine.Job{Plan: &d.Request.Plan, Machine: q.Job.Machine, Version: q.Job.Version}
	var err error
	if d.Resolved, err = q.Env.Resolve(name); err == nil {
		err = d.model()
	}
	uncounted := func(why string, of ...any) error {
		q.Job.Note("draft_not_read", "warn", "draft_model", "%s, which drafts, "+why+". The answer does not count it",
			append([]any{name}, of...)...)
		q.Request.DraftTokens = 0
		return nil
	}
	if err == nil && name != q.Request.Model && d.Job.Model != nil && q.Job.Model != nil && d.Job.Model.ID == q.Job.Model.ID {
		return uncounted("is known by no name but that of %s itself", q.Request.Model)
	}
	if err == nil && d.Resolved.UnknownArch != "" {
		err = &api.Error{Code: api.Unsupported, Value: name,
			Message: "the architecture " + d.Resolved.UnknownArch + " of the draft model is unknown", Hint: "name another draft model"}
	}
	elsewhere := func(e *api.Error) bool {
		return e.Code == api.Remote || e.Code == api.UnknownModel && (naming.Read(name).Path || naming.Read(name).File != "" || strings.ContainsAny(name, `/\`))
	}
	if e, ok := errors.AsType[*api.Error](err); ok && elsewhere(e) {
		return uncounted("cannot be read: %s", e.Message)
	}
	if err != nil {
		return draftError(err)
	}
	q.Job.Draft = d.Job
	return nil
}

func draftError(err error) error {
	var e *api.Error
	if errors.As(api.AsError(err), &e) {
		out := *e
		out.Field = "draft_model"
		return &out
	}
	return err
}
