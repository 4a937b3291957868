package question

import (
	"errors"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
)

// addProjector reads the file that --mmproj names. A missing one is sized from the published model, with a note.
func addProjector(a *Env, e engine.Engine, j *engine.Job) error {
	ref := j.Plan.MMProj
	source, ok := a.Source().(api.ProjectorSource)
	if ref == "" || !ok || !engine.ReadsGGUF(e) {
		return nil
	}
	p, err := a.readProjector(source, ref)
	var failed *api.Error
	switch {
	case err == nil:
		j.Projector = p
	case !errors.As(api.AsError(err), &failed):
		return err
	case dtype.FindFormat(ref) != nil && j.Vision == nil:
		return &api.Error{Code: api.BadField, Field: "mmproj", Value: ref, Hint: "no --mmproj, or the file of a projector",
			Message: ref + " is the format of a projector, and no vision tower of this model is known"}
	case failed.Code == api.UnknownModel || failed.Code == api.Remote:
		j.Note("projector_unread", "warn", "mmproj", "%s: its size is that of the published tower in f16", failed.Message)
	default:
		out := *failed
		out.Field = "mmproj"
		return &out
	}
	return nil
}
