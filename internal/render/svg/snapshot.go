package svg

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/internal/render/cards"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/snapshot"
	"github.com/memwall/memwall/unit"
)

// Sizes of the picture of a record, in pixels.
const (
	recordLeft = 84
	recordHigh = 300
)

// categoryTints are the family and the tint of each category: families as in every picture of memory, members told apart by tint.
var categoryTints = map[snapshot.Category]struct {
	of   term.Family
	tint float64
}{
	snapshot.Parameters: {term.Weights, 1}, snapshot.Gathered: {term.Weights, .6}, snapshot.Optimizer: {term.Training, 1},
	snapshot.Gradients:  {term.Training, .6},
	snapshot.Activation: {term.Working, 1}, snapshot.Temporary: {term.Working, .6}, snapshot.Workspace: {term.Working, .35},
	snapshot.Inputs:     {term.Working, .2},
	snapshot.Collective: {term.System, 1}, snapshot.KVCache: {term.Cache, 1}, snapshot.Older: {term.System, .6},
	snapshot.Other: {term.System, .3},
}

// Snapshot draws what the fullest device of a record held over time, by category, with what was reserved as a line.
func Snapshot(r *snapshot.Report) []byte { return snapshotPicture(r).file() }

// SnapshotChart is the same as a chart of a page.
func SnapshotChart(r *snapshot.Report, name string) Chart {
	return snapshotPicture(r).chart(name, svgWidth)
}

func snapshotPicture(r *snapshot.Report) *picture {
	d := r.Fullest()
	if d == nil {
		d = &snapshot.Device{}
	}
	title := "peak " + cards.BytesOf(d.Peak.Live)
	if d.Peak.Phase != "" {
		title += " in the " + cards.PhaseAt(&d.Peak)
	}
	var words []string
	for _, h := range d.Held {
		words = append(words, string(h.Category)+" "+cards.BytesOf(h.Bytes))
	}
	under := []string{fmt.Sprintf("GPU %d, live bytes over %s events; the line is what the allocator reserved", d.Device,
		unit.Count(int64(d.Events)))}
	return &picture{title, under, "held at the peak: " + strings.Join(words, ", "), plotStyle, func(s *svgPage) { s.recorded(d) }}
}

// recorded stacks the categories over the record.
func (s *svgPage) recorded(d *snapshot.Device) {
	if len(d.Timeline) == 0 {
		s.text(svgMargin, s.y+svgLine, "m", "the snapshot has no record over time")
		s.y += 2 * svgLine
		return
	}
	top := s.y + svgLine
	v := &recordView{s, d, &view{0, max(1, unit.Bytes(d.PeakReserved)), float64(top + recordHigh), float64(top), 0},
		s.width - recordLeft - svgMargin}
	v.axes()
	under := make([]float64, len(d.Timeline))
	for i := range under {
		under[i] = v.high.left
	}
	for _, c := range snapshot.Categories() {
		under = v.area(c, under)
	}
	v.line()
	s.y = top + recordHigh + 2*svgLine
	v.legend()
}

// recordView is where the record lies: bytes go up, and events to the right.
type recordView struct {
	*svgPage
	d    *snapshot.Device
	high *view
	wide int
}

func (v *recordView) x(i int) float64 {
	return recordLeft + float64(i)/float64(max(1, len(v.d.Timeline)-1))*float64(v.wide)
}

// axes are lines across at nothing, at the peak and at what was reserved at most.
func (v *recordView) axes() {
	for i, b := range []unit.Bytes{0, v.high.to, unit.Bytes(v.d.Peak.Live)} {
		y := v.high.x(b)
		fmt.Fprintf(&v.b, "<path class=\"grid\" d=\"M%d %.1fh%d\"/>\n", recordLeft, y, v.wide)
		if i < 2 || y > v.high.right+svgLine {
			fmt.Fprintf(&v.b, "<text class=\"m\" text-anchor=\"end\" x=\"%d\" y=\"%.1f\">%s</text>\n", recordLeft-8, y+4,
				escape(b.String()))
		}
	}
}

// area draws one category upon the edge of those below it, and gives its own.
func (v *recordView) area(c snapshot.Category, under []float64) (over []float64) {
	there := false
	for i := range v.d.Timeline {
		n := unit.Bytes(v.d.Timeline[i].Held[c])
		there = there || n > 0
		over = append(over, under[i]+v.high.x(n)-v.high.left)
	}
	if !there {
		return under
	}
	path := v.edge(over, "M")
	for i := len(under) - 1; i >= 0; i-- {
		path += fmt.Sprintf("L%.1f %.1f", v.x(i), under[i])
	}
	t := categoryTints[c]
	fmt.Fprintf(&v.b, "<path class=\"f%d\" fill-opacity=\"%g\" d=\"%sZ\"><title>%s</title></path>\n", t.of, t.tint, path, escape(string(c)))
	return over
}

// edge is a path through heights.
func (v *recordView) edge(heights []float64, begin string) string {
	var path strings.Builder
	for i, y := range heights {
		fmt.Fprintf(&path, "%s%.1f %.1f", begin, v.x(i), y)
		begin = "L"
	}
	return path.String()
}

// line is what was reserved.
func (v *recordView) line() {
	var heights []float64
	for i := range v.d.Timeline {
		heights = append(heights, v.high.x(unit.Bytes(v.d.Timeline[i].Reserved)))
	}
	fmt.Fprintf(&v.b, "<path class=\"axis\" stroke-width=\"1.5\" d=\"%s\"/>\n", v.edge(heights, "M"))
}

// legend names the categories that lived at any time, with what they held at the moment that is explained.
func (v *recordView) legend() {
	x := float64(recordLeft)
	for _, c := range snapshot.Categories() {
		words := v.named(c)
		if words == "" {
			continue
		}
		if x+letters(words)+24 > float64(v.width-svgMargin) {
			x = recordLeft
			v.y += svgLine
		}
		t := categoryTints[c]
		fmt.Fprintf(&v.b, "<rect class=\"f%d\" fill-opacity=\"%g\" x=\"%.1f\" y=\"%d\" width=\"12\" height=\"12\"/>\n", t.of, t.tint, x,
			v.y-10)
		v.text(x+18, v.y, "l", words)
		x += letters(words) + 40
	}
	v.y += svgLine
}

// named is a category with its bytes; "" for one that never lived.
func (v *recordView) named(c snapshot.Category) string {
	for i := range v.d.Held {
		if h := &v.d.Held[i]; h.Category == c {
			return string(c) + " " + cards.BytesOf(h.Bytes)
		}
	}
	for i := range v.d.Timeline {
		if v.d.Timeline[i].Held[c] > 0 {
			return string(c)
		}
	}
	return ""
}
