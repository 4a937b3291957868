// Package term lays out text for a terminal, a pipe or a file: styled spans, tables, bars and lines of a page, and the
// same page as blocks for other media. It does no arithmetic on values: it chooses digits, aligns, scales bars to cells
// and wraps lines.
//
// See page.go for the page that all screens are written on. table.go aligns columns, bar.go divides cells, ink.go has
// the families of ledger items with their glyphs and colors, number.go how many digits a number deserves, block.go the
// blocks.
package term

// Style is how a screen is drawn. No line is wider than Width.
type Style struct {
	Width  int // in cells; see MinWidth and MaxWidth
	Colour Colour
	ASCII  bool
	// Endless reports that the screen is collected as blocks, so that lines do not wrap.
	Endless bool
}

// Colour is the number of colors of a terminal.
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
	// Narrow is the width below which pictures and notes are omitted.
	Narrow = 60
	// DefaultWidth is the width that screens are designed for.
	DefaultWidth = 80
)

// Cells returns the width of a screen, within MinWidth and MaxWidth.
func (s Style) Cells() int {
	if s.Endless {
		return 1 << 20
	}
	return min(max(s.Width, MinWidth), MaxWidth)
}
