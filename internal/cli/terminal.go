package cli

import (
	"strconv"
	"strings"

	"github.com/memwall/memwall/internal/render"
)

const defaultColumns = 80

// styleOf decides width, colours and letters: colours only on a terminal that has them and where NO_COLOR
// is not set (no-color.org), ASCII for TERM=dumb.
func (a *app) styleOf(terminal bool) render.Style {
	term := a.Env("TERM")
	s := render.Style{Width: a.width(), ASCII: a.ascii || term == "dumb"}
	if terminal && a.Env("NO_COLOR") == "" && term != "dumb" {
		s.Colour = colours(term, a.Env("COLORTERM"), a.Env("WT_SESSION") != "")
	}
	return s
}

// colours that a terminal has, by what it says of itself; one that says nothing has none. Windows Terminal
// sets no TERM.
func colours(term, colorterm string, windows bool) render.Colour {
	switch {
	case term == "" && colorterm == "" && !windows:
		return render.NoColour
	case windows, colorterm == "truecolor", colorterm == "24bit", strings.Contains(term, "256"), strings.Contains(term, "direct"),
		strings.Contains(term, "kitty"), strings.Contains(term, "alacritty"), strings.Contains(term, "ghostty"):
		return render.Colours256
	}
	return render.Colours16
}

// width is COLUMNS, else the terminal's, else 80.
func (a *app) width() int {
	if n, err := strconv.Atoi(a.Env("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if a.Columns > 0 {
		return a.Columns
	}
	return defaultColumns
}
