package compare

import (
	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/snapshot"
)

// Snapshot is the report of a memory snapshot of the model that overrides name, whose tensors name what no stack does. overrides become a
// question of training where the record has a backward pass, of serving else.
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
