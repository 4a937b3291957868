package term_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall/internal/term"
)

// TestNarrow: a page without room for all columns shows whole cells of some: those that give way are left out first, then the last ones.
func TestNarrow(t *testing.T) {
	long := strings.Repeat("1", 30)
	table := func() *term.Table {
		tb := &term.Table{Sides: []term.Side{term.Left, term.Right, term.Right, term.Left}, Give: []int{1}}
		tb.Row(term.Say("name"), term.Say(strings.Repeat("a", 28)), term.Say(long), term.Say("✓ fits"))
		tb.Row(term.Say("other"), term.Say("b"))
		return tb
	}
	for width, want := range map[int]string{
		80: "  name   " + strings.Repeat("a", 28) + "  " + long + "  ✓ fits\n  other  " + strings.Repeat(" ", 27) + "b\n",
		50: "  name   " + long + "  ✓ fits\n  other\n",
		40: "  name   " + long + "\n  other\n",
	} {
		p := term.NewPage(term.Style{Width: width})
		p.Add(table())
		if got := p.String(); got != want {
			t.Errorf("at %d:\n%swant\n%s", width, got, want)
		}
	}
}

// TestUnitsStay: a line does not begin with the unit of the number before.
func TestUnitsStay(t *testing.T) {
	text := "peak 15.0 GiB, takes 43 % of 36.1 ms (1.9–2.8 s) at 1,800 tok/s; 12 users"
	for n := 16; n < 80; n++ {
		for _, l := range term.Say(text).Wrap(n) {
			if first, _, _ := strings.Cut(l.String(), " "); slices.Contains([]string{"GiB,", "%", "ms", "s)", "tok/s;"}, first) {
				t.Errorf("at %d a line begins with %q", n, first)
			}
			if l.Cells() > n {
				t.Errorf("at %d a line has %d cells", n, l.Cells())
			}
		}
	}
}
