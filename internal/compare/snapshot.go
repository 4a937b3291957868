package compare

import (
	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/snapshot"
)

// Snapshot returns the report of a memory snapshot for the model in overrides, whose tensors identify allocations without stacks.
// The overrides become a training question if the record has a backward pass, else a serving question.
func Snapshot(a *question.Env, s *snapshot.Snapshot, overrides *api.Request) (*snapshot.Report, error) {
	m, err := a.Resolve(overrides.Model)
	if err != nil {
		return nil, err
	}
	if m.Spec != nil {
		s.Know(m.Spec.Model(m.ID))
	}
	r := s.Report()
	overrides.Ask = "fit"
	if r.Trains() {
		overrides.Ask = "train"
	}
	return r, nil
}
