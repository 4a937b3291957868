package render

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/unit"
)

// Sizes of the picture, in pixels.
const (
	svgWidth   = 840
	svgMargin  = 16
	svgRight   = 660 // where bars end; labels may go on
	svgBar     = 28  // height of a bar
	svgLine    = 18  // of a line of text
	svgLetter  = 6.6
	svgHeading = 24
)

// svgPage is a picture being written.
type svgPage struct {
	b strings.Builder
	y int
}

// SVG draws the ledger: one bar for each group of ranks on one scale, a label at every part, the limit as a
// line, what lies over it hatched, the band as a whisker. It follows the reader's light or dark setting.
func SVG(a *memwall.Answer) []byte {
	s := &svgPage{y: svgMargin + svgHeading}
	head := headText(a)
	s.text(svgMargin, s.y, "h", head[0])
	for _, l := range head[1:] {
		s.y += svgLine
		s.text(svgMargin, s.y, "m", l)
	}
	s.y += svgLine
	scale := unit.Bytes(0)
	for i := range a.Devices {
		d := &a.Devices[i]
		scale = max(scale, barOf(d).whole, d.NeededHigh)
	}
	for i := range a.Devices {
		s.device(&a.Devices[i], scale)
	}
	s.y += svgMargin
	return []byte(s.frame(head[0], describeDevices(a)))
}

// headText is the first lines of the screen.
func headText(a *memwall.Answer) []string {
	p := newPage(Style{Width: 110})
	p.title(a.Verdict, asked(a))
	p.headline(a)
	var out []string
	for _, l := range strings.Split(strings.TrimSpace(p.String()), "\n") {
		out = append(out, strings.Replace(strings.TrimSpace(l), "   ", ": ", 1))
	}
	return out
}

// describeDevices says the numbers of the picture in words.
func describeDevices(a *memwall.Answer) string {
	var out []string
	for i := range a.Devices {
		d := &a.Devices[i]
		n := needed(d)
		line := fmt.Sprintf("%s: needed %s%s GiB", rankName(d), gib(n.v, n.decimals()), n.band())
		if d.Usable > 0 {
			line += " of " + gib(d.Usable, n.decimals())
		}
		for _, it := range byFamily(d.Ledger) {
			line += fmt.Sprintf(", %s %s", it.Name, gib(it.Bytes, itemBand(&it).decimals()))
		}
		out = append(out, line)
	}
	return strings.Join(out, ". ")
}

const svgStyle = `text{font:13px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;fill:#16191d}.h{font-weight:650;font-size:16px}.m{fill:#5b6470}` +
	`.lim{stroke:#16191d}.lead{stroke:#5b6470}.free{fill:#f1f1ec;stroke:#e2e2dc}.over{fill:url(#over);stroke:#b3261e}.bad{fill:#b3261e}`

const svgDark = `text{fill:#e8eaed}.m{fill:#9aa3ad}.lim{stroke:#e8eaed}.lead{stroke:#9aa3ad}.free{fill:#20252b;stroke:#2b3138}.over{stroke:#ff8a80}.bad{fill:#ff8a80}.hatch{stroke:#ff8a80}`

// frame puts what is drawn into a document with its styles.
func (s *svgPage) frame(title, desc string) string {
	var css, dark strings.Builder
	css.WriteString(svgStyle)
	dark.WriteString(svgDark)
	for f := range families {
		if looks[f].light != "none" {
			fmt.Fprintf(&css, ".f%d{fill:%s}", f, looks[f].light)
			fmt.Fprintf(&dark, ".f%d{fill:%s}", f, looks[f].dark)
		}
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" role="img" aria-labelledby="t d">`+"\n"+
		"<title id=\"t\">%s</title>\n<desc id=\"d\">%s</desc>\n<style>%s@media(prefers-color-scheme:dark){%s}</style>\n"+
		`<defs><pattern id="over" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="hatch" d="M0 0V7" stroke="#b3261e" stroke-width="3"/></pattern></defs>`+"\n%s</svg>\n",
		svgWidth, s.y, svgWidth, escape(title), escape(desc), css.String(), dark.String(), s.b.String())
}

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(clean(s, false))
}

func (s *svgPage) text(x float64, y int, class, words string) {
	fmt.Fprintf(&s.b, "<text class=%q x=\"%.1f\" y=\"%d\">%s</text>\n", class, x, y, escape(words))
}

// device draws one bar with its labels.
func (s *svgPage) device(d *memwall.Device, scale unit.Bytes) {
	if scale == 0 {
		return
	}
	s.y += svgLine
	name := rankName(d)
	if d.Count > 1 {
		name += ", each"
	}
	s.text(svgMargin, s.y, "m", name+" · "+d.Name)
	s.y += 8
	at := func(b unit.Bytes) float64 { return svgMargin + float64(b)/float64(scale)*(svgRight-svgMargin) }
	whole := max(d.Capacity, d.Usable)
	if whole > 0 {
		fmt.Fprintf(&s.b, "<rect class=\"free\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n", at(0), s.y, at(whole)-at(0), svgBar)
	}
	labels := s.parts(d, at)
	s.overLimit(d, at)
	s.y += svgBar
	s.whisker(d, at)
	s.label(labels)
}

// tints tell the members of a family apart.
var tints = []float64{1, 0.72, 0.5, 0.36}

// placed is a label and the middle of the part it stands at.
type placed struct {
	words string
	x     float64
}

// parts draws the ledger's items, a pixel apart.
func (s *svgPage) parts(d *memwall.Device, at func(unit.Bytes) float64) (labels []placed) {
	from := unit.Bytes(0)
	var members [families]int
	for _, it := range byFamily(d.Ledger) {
		f := familyFor(it.ID)
		if f == spare || it.Bytes == 0 {
			continue
		}
		x, w := at(from), at(from+it.Bytes)-at(from)
		tint := tints[min(members[f], len(tints)-1)]
		members[f]++
		fmt.Fprintf(&s.b, "<rect class=\"f%d\" fill-opacity=\"%g\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n", f, tint, x, s.y, max(1, w-1), svgBar)
		name, _, _ := strings.Cut(it.Name, ": ")
		labels = append(labels, placed{name + " " + gib(it.Bytes, itemBand(&it).decimals()), x + w/2})
		from += it.Bytes
	}
	return labels
}

// overLimit draws the limit with its reason, and hatches what lies over it.
func (s *svgPage) overLimit(d *memwall.Device, at func(unit.Bytes) float64) {
	if d.Usable == 0 {
		return
	}
	x := at(d.Usable)
	if d.Needed > d.Usable {
		fmt.Fprintf(&s.b, "<rect class=\"over\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n", x, s.y, at(d.Needed)-x, svgBar)
	}
	fmt.Fprintf(&s.b, "<path class=\"lim\" stroke-width=\"2\" d=\"M%.1f %dV%d\"/>\n", x, s.y-6, s.y+svgBar+6)
	words := "may use " + gib(d.Usable, needed(d).decimals())
	if d.Limit != "" {
		words += " = " + d.Limit
	}
	fmt.Fprintf(&s.b, "<text class=\"m\" x=\"%.1f\" y=\"%d\" text-anchor=\"end\">%s</text>\n", min(x, svgRight), s.y-8, escape(words))
}

// whisker is the band of what is needed.
func (s *svgPage) whisker(d *memwall.Device, at func(unit.Bytes) float64) {
	if d.NeededLow == d.NeededHigh {
		return
	}
	fmt.Fprintf(&s.b, "<path class=\"lim\" fill=\"none\" stroke-width=\"1.5\" d=\"M%.1f %dv6M%.1f %dh%.1fM%.1f %dv6\"/>\n",
		at(d.NeededLow), s.y+2, at(d.NeededLow), s.y+5, at(d.NeededHigh)-at(d.NeededLow), at(d.NeededHigh), s.y+2)
}

// label sets the labels in rows, from the right to the left, each beginning at a line to its part: no line
// crosses a label.
func (s *svgPage) label(labels []placed) {
	top := s.y + 12
	var starts []float64 // of the leftmost label of each row
	for i := len(labels) - 1; i >= 0; i-- {
		l := labels[i]
		w := float64(cells(l.words)) * svgLetter
		x := max(svgMargin, min(l.x-2, svgWidth-svgMargin-w))
		row := 0
		for row < len(starts) && x+w > starts[row]-8 {
			row++
		}
		if row == len(starts) {
			starts = append(starts, x)
		}
		starts[row] = x
		y := top + (row+1)*svgLine
		fmt.Fprintf(&s.b, "<path class=\"lead\" d=\"M%.1f %dV%d\"/>\n", l.x, s.y+2, y-svgLine+5)
		s.text(x, y, "l", l.words)
	}
	s.y = top + len(starts)*svgLine + 6
}
