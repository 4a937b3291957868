package source

import (
	"fmt"

	"github.com/memwall/memwall/model/family"
)

// specText writes what both routes must agree on.
func specText(s family.Spec) string {
	s.Source, s.Native, s.Arch, s.Context, s.MTPEnds = family.Source{}, nil, "", 0, false
	return fmt.Sprintf("%+v", s)
}
