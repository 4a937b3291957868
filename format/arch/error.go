package arch

import (
	"strings"

	"github.com/memwall/memwall/format"
	"github.com/memwall/memwall/spell"
)

func quote(s string) string { return format.Quote(s) }

// didYouMean returns a fix that names the closest spellings, or else otherwise.
func didYouMean(word string, known []string, otherwise string) string {
	if near := spell.Nearest(word, known); len(near) > 0 {
		return "did you mean " + strings.Join(near, " or ") + "?"
	}
	return otherwise
}
