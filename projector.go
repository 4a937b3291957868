package memwall

import (
	"errors"

	"github.com/memwall/memwall/engine"
)

// projector reads the file that --mmproj names. One that is not here is sized from the published model, and a note says so.
func (q *question) projector() error {
	ref := q.request.MMProj
	source, ok := q.asker.source().(ProjectorSource)
	if ref == "" || !ok || !engine.ReadsGGUF(q.engine) {
		return nil
	}
	p, err := q.asker.beside(source, ref)
	var e *Error
	switch {
	case err == nil:
		q.job.Projector = p
	case !errors.As(asError(err), &e):
		return err
	case e.Code == UnknownModel || e.Code == Remote:
		q.job.Note("projector_unread", "warn", "mmproj", "%s: its size is that of the published tower in f16", e.Message)
	default:
		out := *e
		out.Field = "mmproj"
		return &out
	}
	return nil
}
