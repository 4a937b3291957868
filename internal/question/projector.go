package question

import (
	"errors"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
)

// projector reads the file that --mmproj names. One that is not here is sized from the published model, and a note says so.
func (q *Question) projector() error {
	ref := q.Request.MMProj
	source, ok := q.Env.Source().(api.ProjectorSource)
	if ref == "" || !ok || !engine.ReadsGGUF(q.Engine) {
		return nil
	}
	p, err := q.Env.readProjector(source, ref)
	var e *api.Error
	switch {
	case err == nil:
		q.Job.Projector = p
	case !errors.As(api.AsError(err), &e):
		return err
	case e.Code == api.UnknownModel || e.Code == api.Remote:
		q.Job.Note("projector_unread", "warn", "mmproj", "%s: its size is that of the published tower in f16", e.Message)
	default:
		out := *e
		out.Field = "mmproj"
		return &out
	}
	return nil
}
