package source

import (
	"slices"

	"github.com/memwall/memwall"
)

// Listed are models that a list names, word for word, beside those of another source.
type Listed struct {
	Names       []string
	Those, Rest memwall.ModelSource
}

// source is that of a reference.
func (l Listed) source(ref string) memwall.ModelSource {
	if slices.Contains(l.Names, ref) {
		return l.Those
	}
	return l.Rest
}

// Model finds a model.
func (l Listed) Model(ref string) (*Resolved, error) { return l.source(ref).Model(ref) }

// Projector reads what lies beside one.
func (l Listed) Projector(ref string) (*memwall.Projector, error) {
	if s, ok := l.source(ref).(memwall.ProjectorSource); ok {
		return s.Projector(ref)
	}
	return nil, &memwall.Error{Code: memwall.UnknownModel, Field: "mmproj", Value: ref, Message: "no file is read here"}
}
