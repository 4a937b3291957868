package term

import (
	"fmt"
	"math"
	"strings"
)

// Dot is a point of a scatter plot, drawn as a mark.
type Dot struct {
	X, Y float64
	Mark string // a cell wide
	Ink  Ink
	// Behind draws the dot only where nothing else is.
	Behind bool
}

// scatterRows is the height of a plot; scatterLabels is the width of the labels on its left.
const (
	scatterRows   = 9
	scatterLabels = 5
)

// Scatter draws points, the first in front, over a logarithmic horizontal axis; the vertical axis starts at zero. It returns nil if
// all points coincide.
func Scatter(dots []Dot, xName, yName string, cells int) []Text {
	lowX, highX, lowY, highY := math.Inf(1), 0.0, math.Inf(1), 0.0
	for _, d := range dots {
		lowX, highX = min(lowX, d.X), max(highX, d.X)
		lowY, highY = min(lowY, d.Y), max(highY, d.Y)
	}
	if len(dots) < 2 || !(lowX > 0 && lowY >= 0 && highY > 0) || lowX == highX && lowY == highY {
		return nil
	}
	width := cells - scatterLabels - 2*Gap
	rows := make([][]*Dot, scatterRows)
	for i := range rows {
		rows[i] = make([]*Dot, width)
	}
	span := max(math.Log(highX/lowX), 1e-9)
	for i := range dots {
		d := &dots[i]
		x := int(math.Round(math.Log(d.X/lowX) / span * float64(width-1)))
		row := rows[scatterRows-1-int(d.Y/highY*(scatterRows-1)+0.5)]
		for away := range width { // next to a mark already there, on the right if possible
			if at := x + away; at < width && row[at] == nil {
				row[at] = d
				break
			} else if at := x - away; x+away >= width && at >= 0 && row[at] == nil {
				row[at] = d
				break
			} else if d.Behind {
				break
			}
		}
	}
	return framed(rows, xName, yName, [2]string{Significant(lowX, 2), Significant(highX, 2)}, label(highY))
}

// label formats a label of the vertical axis to the available width.
func label(y float64) string {
	if s := Significant(y, 2); Cells(s) <= scatterLabels {
		return s
	}
	return Brief(int64(y))
}

// framed returns the rows of a plot with its axes.
func framed(rows [][]*Dot, xName, yName string, x [2]string, top string) []Text {
	out := []Text{Join(Pad(Gap), Say(yName, Dim))}
	for i, row := range rows {
		number := map[int]string{0: top, len(rows) - 1: "0"}[i]
		line := Say(fmt.Sprintf("%*s │", scatterLabels, number), Dim)
		for _, d := range row {
			if d == nil {
				line = Join(line, Say(" "))
				continue
			}
			line = Join(line, Say(d.Mark, d.Ink))
		}
		out = append(out, line)
	}
	width := len(rows[0])
	middle := max(1, width-Cells(x[0])-Cells(x[1])-Cells(xName))
	return append(out, Join(Pad(scatterLabels+1), Say("└"+strings.Repeat("─", width), Dim)),
		Join(Pad(scatterLabels+2), Say(x[0], Dim), Pad(middle/2), Say(xName, Dim), Pad(middle-middle/2), Say(x[1], Dim)))
}
