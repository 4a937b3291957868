// Package svg renders answers as pictures, for files and web pages: the ledger, the phases of a step, fleets on their
// Pareto front, a simulation over time, a roofline, a pipeline, a study, a snapshot, badges.
//
// See ledger.go for the canvas that all pictures use, picture.go for how one picture becomes a file and a part of a
// page with a version for phones, chart.go for axes and labels.
package svg

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// Sizes of the picture, in pixels.
const (
	svgWidth   = 840
	svgMargin  = 16
	svgRight   = 660 // where bars end; labels may go on
	svgBar     = 28  // height of a bar
	svgLine    = 18  // of a line of text
	SvgLetter  = 6.6
	svgHeading = 24
)

// svgPage is a picture being written.
type svgPage struct {
	b     strings.Builder
	y     int
	width int // of the picture
	bars  int // where bars end
	style styles
}

func newPicture(width, bars int) *svgPage {
	return &svgPage{y: svgMargin + svgHeading, width: width, bars: bars}
}

// Ledger draws the ledger: one bar for each group of ranks on one scale, a label at every part, the limit as a
// line, what lies over it hatched, the band as a whisker. It follows the reader's light or dark setting.
func Ledger(a *memwall.Answer) []byte {
	s := newPicture(svgWidth, svgRight)
	head := render.HeadText(a)
	s.text(svgMargin, s.y, "h", head[0])
	for _, l := range head[1:] {
		s.y += svgLine
		s.text(svgMargin, s.y, "m", l)
	}
	s.y += svgLine
	s.devices(a)
	return (&drawing{s, head[0], describeDevices(a)}).file()
}

// LedgerPicture is the ledger of Ledger as a part of a page that has the styles, so many pixels wide and without its head.
// The name tells it from other pictures of the page.
func LedgerPicture(a *memwall.Answer, name string, width int) string {
	s := newPicture(width, width-svgMargin)
	s.y = 0
	s.devices(a)
	return (&drawing{s, "memory of one device, needed against allowed", describeDevices(a)}).part(name)
}

// devices draws a bar for each group of ranks, all on one scale.
func (s *svgPage) devices(a *memwall.Answer) {
	scale := unit.Bytes(0)
	for i := range a.Devices {
		d := &a.Devices[i]
		scale = max(scale, term.BarOf(d).Scale, d.NeededHigh)
	}
	for i := range a.Devices {
		s.device(&a.Devices[i], scale)
	}
	s.y += svgMargin
}

// describeDevices says the numbers of the picture in words.
func describeDevices(a *memwall.Answer) string {
	var out []string
	for i := range a.Devices {
		d := &a.Devices[i]
		n := term.Needed(d)
		line := fmt.Sprintf("%s: needed %s%s GiB", render.RankName(d), term.GiB(n.Mid, n.Decimals()), n.Band())
		if d.Usable > 0 {
			line += " of " + term.GiB(d.Usable, n.Decimals())
		}
		for _, it := range render.ByFamily(d.Ledger) {
			line += fmt.Sprintf(", %s %s", it.Name, term.GiB(it.Bytes, render.ItemBand(&it).Decimals()))
		}
		out = append(out, line)
	}
	return strings.Join(out, ". ")
}

// styles are rules for the marks of a picture, and those that differ in the dark.
type styles struct{ light, dark string }

var svgStyle = styles{`text{font:13px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;fill:#16191d}.h{font-weight:650;font-size:16px}.m{fill:#5b6470}` +
	`.lim{stroke:#16191d}.lead{stroke:#5b6470}.free{fill:#f1f1ec;stroke:#e2e2dc}.over{fill:url(#over);stroke:#b3261e}.bad{fill:#b3261e}.wedge{fill:#f1f1ec;fill-opacity:.75}`,
	`text{fill:#e8eaed}.m{fill:#9aa3ad}.lim{stroke:#e8eaed}.lead{stroke:#9aa3ad}.free{fill:#20252b;stroke:#2b3138}.over{stroke:#ff8a80}.bad{fill:#ff8a80}.hatch{stroke:#ff8a80}.wedge{fill:#20252b}`}

// withCommon are these rules after those that every picture has.
func (s styles) withCommon() styles {
	var light, dark strings.Builder
	for f := range term.Families {
		if term.Looks[f].Light != "none" {
			fmt.Fprintf(&light, ".f%d{fill:%s}", f, term.Looks[f].Light)
			fmt.Fprintf(&dark, ".f%d{fill:%s}", f, term.Looks[f].Dark)
		}
	}
	return styles{svgStyle.light + light.String() + s.light, svgStyle.dark + dark.String() + s.dark}
}

// drawing is a picture that is done, what it finds, and what it shows in words.
type drawing struct {
	*svgPage
	title, words string
}

// file is the picture by itself. It follows the reader's light or dark setting.
func (d *drawing) file() []byte {
	css := d.style.withCommon()
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" role="img" aria-labelledby="t d">`+"\n"+
		"<title id=\"t\">%s</title>\n<desc id=\"d\">%s</desc>\n<style>%s@media(prefers-color-scheme:dark){%s}</style>\n<defs>"+hatching+
		"</defs>\n%s</svg>\n",
		svgWidth, d.y, svgWidth, escape(d.title), escape(d.words), css.light, css.dark, d.b.String())
}

// part is the picture in a page that has the styles. The name tells it from the page's other pictures.
func (d *drawing) part(name string) string {
	return fmt.Sprintf(`<svg class="mw" viewBox="0 0 %d %d" width="%d" role="img" aria-labelledby="%s-t %s-d"><title id="%s-t">%s</title><desc id="%s-d">%s</desc>%s</svg>`,
		d.width, d.y, d.width, name, name, name, escape(d.title), name, escape(d.words), d.b.String())
}

// PartStyles are the rules of all pictures that are parts of a page, which says which theme it has.
func PartStyles() string {
	all := styles{chartStyle.light + plotStyle.light + roofStyle + scheduleStyle, chartStyle.dark + plotStyle.dark}.withCommon()
	return "svg.mw{" + all.light + "}\n:root[data-theme=dark] svg.mw{" + all.dark +
		"}\n@media(prefers-color-scheme:dark){:root:not([data-theme=light]) svg.mw{" + all.dark + "}}\n"
}

// hatching is the pattern of what lies over a limit.
const hatching = `<pattern id="over" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="hatch" d="M0 0V7" stroke="#b3261e" stroke-width="3"/></pattern>`

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(term.Clean(s, false))
}

func (s *svgPage) text(x float64, y int, class, words string) {
	fmt.Fprintf(&s.b, "<text class=%q x=\"%.1f\" y=\"%d\">%s</text>\n", class, x, y, escape(words))
}

// view is a stretch of the scale and where it lies: bytes from the first to the last, pixels from left to right.
type view struct {
	from, to    unit.Bytes
	left, right float64
	high        int
}

// x is the place of so many bytes; what lies outside is at its edges.
func (v *view) x(b unit.Bytes) float64 {
	b = min(max(b, v.from), v.to)
	return v.left + float64(b-v.from)/float64(v.to-v.from)*(v.right-v.left)
}

// device draws one bar with its labels. Where one part leaves little room to the others, the last stretch of the scale
// stands enlarged below, and the labels there.
func (s *svgPage) device(d *memwall.Device, scale unit.Bytes) {
	if scale == 0 {
		return
	}
	s.y += svgLine
	name := render.RankName(d)
	if d.Count > 1 {
		name += ", each"
	}
	s.text(svgMargin, s.y, "m", name+" · "+d.Name)
	s.y += 8
	v := &view{0, scale, svgMargin, float64(s.bars), svgBar}
	lens := s.lens(d, v)
	if lens != nil {
		v.high = svgBar * 2 / 3
	} else if words, x := s.limitAt(d, v); x-letters(words) < svgMargin+letters(name+" · "+d.Name)+SvgLetter {
		s.y += svgLine // beside each other there is no room for both
	}
	labels := s.bar(d, v)
	if lens != nil {
		s.wedge(v, lens)
		labels = s.bar(d, lens)
		v = lens
	}
	s.limitWords(d, v)
	s.y += v.high
	s.whisker(d, v)
	s.label(labels)
}

// bar draws parts, what lies over the limit, and the limit.
func (s *svgPage) bar(d *memwall.Device, v *view) []placed {
	if whole := max(d.Capacity, d.Usable); whole > 0 {
		fmt.Fprintf(&s.b, "<rect class=\"free\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n", v.left, s.y, v.x(whole)-v.left,
			v.high)
	}
	labels := s.parts(d, v)
	s.overLimit(d, v)
	return labels
}

// The lens shows a fifth of the scale at least, once the first part takes two thirds of it.
const (
	lensFrom  = 2.0 / 3
	lensShare = 5
)

// lens is the end of the scale, from shortly before the end of the largest part; nil where the bar shows all well.
func (s *svgPage) lens(d *memwall.Device, v *view) *view {
	items := render.ByFamily(d.Ledger)
	if len(items) < 2 || float64(items[0].Bytes) < lensFrom*float64(v.to) || d.Usable == 0 {
		return nil
	}
	from := min(v.to-v.to/lensShare, items[0].Bytes-(v.to-items[0].Bytes)/lensShare/2)
	return &view{from, v.to, v.left, v.right, svgBar + svgBar/2}
}

// wedge leads from a stretch of the bar to the lens.
func (s *svgPage) wedge(v, lens *view) {
	const apart = 46
	top, bottom := s.y+v.high, s.y+v.high+apart
	fmt.Fprintf(&s.b, "<path class=\"wedge\" d=\"M%.1f %dL%.1f %dH%.1fV%dZ\"/>\n", v.x(lens.from), top, lens.left, bottom, lens.right, top)
	s.y = bottom
}

// tints tell the members of a family apart.
var tints = []float64{1, 0.72, 0.5, 0.36}

// placed is a label and the middle of the part it stands at.
type placed struct {
	words string
	x     float64
}

// parts draws the ledger's items, a pixel apart.
func (s *svgPage) parts(d *memwall.Device, v *view) (labels []placed) {
	from := unit.Bytes(0)
	var members [term.Families]int
	for _, it := range render.ByFamily(d.Ledger) {
		f := term.FamilyFor(it.ID)
		if f == term.Spare || it.Bytes == 0 {
			continue
		}
		x, w := v.x(from), v.x(from+it.Bytes)-v.x(from)
		tint := tints[min(members[f], len(tints)-1)]
		members[f]++
		fmt.Fprintf(&s.b, "<rect class=\"f%d\" data-item=\"%s\" fill-opacity=\"%g\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n",
			f, escape(it.ID), tint, x, s.y, max(1, w-1), v.high)
		name, _, _ := strings.Cut(it.Name, ": ")
		labels = append(labels, placed{name + " " + term.GiB(it.Bytes, render.ItemBand(&it).Decimals()), x + w/2})
		from += it.Bytes
	}
	return labels
}

// overLimit draws the limit, and hatches what lies over it.
func (s *svgPage) overLimit(d *memwall.Device, v *view) {
	if d.Usable == 0 {
		return
	}
	x := v.x(d.Usable)
	if d.Needed > d.Usable {
		fmt.Fprintf(&s.b, "<rect class=\"over\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n", x, s.y, v.x(d.Needed)-x, v.high)
	}
	fmt.Fprintf(&s.b, "<path class=\"lim\" stroke-width=\"2\" d=\"M%.1f %dV%d\"/>\n", x, s.y-6, s.y+v.high+6)
}

// limitWords say what the limit is.
func (s *svgPage) limitWords(d *memwall.Device, v *view) {
	words, x := s.limitAt(d, v)
	if words == "" {
		return
	}
	fmt.Fprintf(&s.b, "<text class=\"m\" x=\"%.1f\" y=\"%d\" text-anchor=\"end\">%s</text>\n", x, s.y-8, escape(words))
}

// limitAt is what the limit is in words, and where these end; none where there is no limit.
func (s *svgPage) limitAt(d *memwall.Device, v *view) (words string, end float64) {
	if d.Usable == 0 {
		return "", float64(s.width)
	}
	words = "may use " + term.GiB(d.Usable, term.Needed(d).Decimals())
	if d.Limit != "" {
		words += " = " + d.Limit
	}
	return words, max(svgMargin+letters(words), min(v.x(d.Usable), float64(s.bars)))
}

// letters is how wide words are.
func letters(words string) float64 { return float64(term.Cells(words)) * SvgLetter }

// whisker is the band of what is needed.
func (s *svgPage) whisker(d *memwall.Device, v *view) {
	if d.NeededLow == d.NeededHigh {
		return
	}
	fmt.Fprintf(&s.b, "<path class=\"lim\" fill=\"none\" stroke-width=\"1.5\" d=\"M%.1f %dv6M%.1f %dh%.1fM%.1f %dv6\"/>\n",
		v.x(d.NeededLow), s.y+2, v.x(d.NeededLow), s.y+5, v.x(d.NeededHigh)-v.x(d.NeededLow), v.x(d.NeededHigh), s.y+2)
}

// label sets the labels in rows, from the right to the left, each beginning at a line to its part: no line
// crosses a label.
func (s *svgPage) label(labels []placed) {
	top := s.y + 12
	var free []float64 // where a label of each row may end: before the next label, and before lines to rows below
	for i := len(labels) - 1; i >= 0; i-- {
		l := labels[i]
		w := float64(term.Cells(l.words)) * SvgLetter
		x := max(svgMargin, min(l.x-2, float64(s.width-svgMargin)-w))
		row := 0
		for row < len(free) && x+w > free[row]-8 {
			free[row] = min(free[row], l.x)
			row++
		}
		if row == len(free) {
			free = append(free, 0)
		}
		free[row] = x
		y := top + (row+1)*svgLine
		fmt.Fprintf(&s.b, "<path class=\"lead\" d=\"M%.1f %dV%d\"/>\n", l.x, s.y+2, y-svgLine+5)
		s.text(x, y, "l", l.words)
	}
	s.y = top + len(free)*svgLine + 6
}

// SmallBar is the first group's bar without words, beside those of other plans on one scale.
func SmallBar(a *memwall.Answer, scale unit.Bytes) string {
	const wide, high = 118, 9
	if len(a.Devices) == 0 || scale == 0 {
		return ""
	}
	d := &a.Devices[0]
	s := newPicture(wide, wide)
	v := &view{0, scale, 0, wide - 2, high}
	s.y = 3
	s.parts(d, v)
	if d.Usable > 0 {
		fmt.Fprintf(&s.b, "<path class=\"lim\" stroke-width=\"2\" d=\"M%.1f 0v%d\"/>", v.x(d.Usable), high+6)
	}
	return fmt.Sprintf(`<svg class="mw" viewBox="0 0 %d %d" width="%d" height="%d" aria-hidden="true">%s</svg>`, wide, high+6, wide, high+6, s.b.String())
}

// ScaleOf is what bars of a few answers have to show.
func ScaleOf(answers ...*memwall.Answer) (scale unit.Bytes) {
	for _, a := range answers {
		if a != nil && len(a.Devices) > 0 {
			scale = max(scale, term.BarOf(&a.Devices[0]).Scale)
		}
	}
	return scale
}

// Hatching is the pattern that pictures which are parts of a page refer to.
func Hatching() string { return "<defs>" + hatching + "</defs>" }
