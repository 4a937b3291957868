package render_test

import (
	"strings"
	"testing"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/render/cards"
	"github.com/memwall/memwall/internal/term"
)

// Rows to be pasted stand whole on lines of their own at any width, tabs included; what stands around them keeps
// to the width and holds nothing that a terminal would obey.
func TestRowsAreWhole(t *testing.T) {
	m := &card.NewModel{Row: `{"id":"` + strings.Repeat("long-", 40) + `","name":"Größe"}`, RowIn: "a.jsonl", Check: `{"got":{"parameters":null}}`, CheckIn: "b.jsonl",
		Parameters: 1234567, Empty: []string{"released"}, Notes: []string{"the same network as x\x1b[31m: " + strings.Repeat("words ", 30)}}
	d := &card.NewDevice{Row: "id\t\tName" + strings.Repeat("\t12345678", 20), RowIn: "c.tsv", Empty: []string{"vendor", "sources"}}
	for width := term.MinWidth; width <= term.MaxWidth; width += 10 {
		st := term.Style{Width: width}
		for _, c := range []struct {
			screen string
			rows   []string
		}{{cards.NewModel(m, st), []string{m.Row, m.Check}}, {cards.NewDevice(d, st), []string{d.Row}}} {
			lines := strings.Split(strings.TrimSuffix(c.screen, "\n"), "\n")
			for _, row := range c.rows {
				lines = without(t, lines, row)
			}
			for _, l := range lines {
				checkLine(t, "rows", l, width, false)
			}
		}
	}
	if got := cards.NewModel(m, term.Style{Width: 80}); !strings.Contains(got, "1,234,567 parameters") ||
		!strings.Contains(got, "to fill in     released") {
		t.Error(got)
	}
}

func without(t *testing.T, lines []string, row string) (out []string) {
	t.Helper()
	for _, l := range lines {
		if l != row {
			out = append(out, l)
		}
	}
	if len(out) != len(lines)-1 {
		t.Errorf("%q stands on %d lines of %q", row, len(lines)-len(out), lines)
	}
	return out
}
