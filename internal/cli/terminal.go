package cli

import (
	"strconv"
	"strings"

	"github.com/memwall/memwall/internal/term"
)

const defaultColumns = 80

// styleOf determines width, colors and character set: colors only on a terminal that supports them and without NO_COLOR
// (no-color.org), ASCII for TERM=dumb.
func (a *app) styleOf(terminal bool) term.Style {
	kind := a.Env("TERM")
	s := term.Style{Width: a.width(), ASCII: a.ascii || kind == "dumb"}
	if terminal && a.Env("NO_COLOR") == "" && kind != "dumb" {
		s.Colour = colours(kind, a.Env("COLORTERM"), a.Env("WT_SESSION") != "")
	}
	return s
}

// colours returns the colors that a terminal declares; none if it declares nothing. Windows Terminal does not set TERM.
func colours(kind, colorterm string, windows bool) term.Colour {
	switch {
	case kind == "" && colorterm == "" && !windows:
		return term.NoColour
	case windows, colorterm == "truecolor", colorterm == "24bit", strings.Contains(kind, "256"), strings.Contains(kind, "direct"),
		strings.Contains(kind, "kitty"), strings.Contains(kind, "alacritty"), strings.Contains(kind, "ghostty"):
		return term.Colours256
	}
	return term.Colours16
}

// width returns COLUMNS, else the terminal's width, else 80.
func (a *app) width() int {
	if n, err := strconv.Atoi(a.Env("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if a.Columns > 0 {
		return a.Columns
	}
	return defaultColumns
}
