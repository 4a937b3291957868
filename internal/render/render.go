// Package render writes answers as text for a terminal, a pipe or a file, and the ledger as a picture. It
// does no arithmetic on values: it chooses digits, aligns, scales bars to cells and breaks lines.
//
// Open fit.go for the main screen and the order of its blocks. page.go is the paper that all screens are
// written on, table.go aligns columns, bar.go shares cells out, ink.go has the families with their glyphs
// and colours, number.go how many digits a number deserves.
package render

// Style is how a screen is drawn. No line is wider than Width.
type Style struct {
	Width  int // cells; see MinWidth and MaxWidth
	Colour Colour
	ASCII  bool
	// endless: a screen is taken apart, and no line ends.
	endless bool
}

// Colour is how many colours a terminal has.
type Colour uint8

const (
	NoColour Colour = iota
	Colours16
	Colours256
)

// Bounds of Style.Width: narrower screens are drawn at MinWidth, wider ones at MaxWidth.
const (
	MinWidth = 40
	MaxWidth = 120
	// pictures and notes are left out below this width.
	narrow = 60
	// the width that screens are made for.
	defaultWidth = 80
)

func (s Style) width() int {
	if s.endless {
		return 1 << 20
	}
	return min(max(s.Width, MinWidth), MaxWidth)
}
