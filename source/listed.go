package source

import (
	"slices"

	"github.com/memwall/memwall"
)

// Listed is a ModelSource that resolves the references in a list through one source, and all others through another.
type Listed struct {
	Names       []string
	Those, Rest memwall.ModelSource
}

// source returns the source for a reference.
func (l Listed) source(ref string) memwall.ModelSource {
	if slices.Contains(l.Names, ref) {
		return l.Those
	}
	return l.Rest
}

// Model resolves a reference.
func (l Listed) Model(ref string) (*Resolved, error) { return l.source(ref).Model(ref) }

// Projector reads a projector.
func (l Listed) Projector(ref string) (*memwall.Projector, error) {
	if s, ok := l.source(ref).(memwall.ProjectorSource); ok {
		return s.Projector(ref)
	}
	return nil, &memwall.Error{Code: memwall.UnknownModel, Field: "mmproj", Value: ref, Message: "no file is read here"}
}
