package render

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/memwall/memwall"
)

// The pieces of a formula make the formula.
func FuzzTokenise(f *testing.F) {
	f.Add("max(a, 2 × b) / c_2 - floor(1.5)")
	f.Fuzz(func(t *testing.T, formula string) {
		if !utf8.ValidString(formula) {
			return
		}
		var b strings.Builder
		for _, k := range Tokenise(formula, []memwall.ExplainInput{{Name: "a", Value: 1}}) {
			b.WriteString(k.Name)
		}
		if b.String() != formula {
			t.Errorf("%q became %q", formula, b.String())
		}
		for _, c := range Chunks(Tokenise(formula, nil)) {
			if c.Name != c.Value {
				t.Errorf("%q over %q without any input", c.Name, c.Value)
			}
		}
	})
}
