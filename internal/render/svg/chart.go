package svg

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall/internal/term"
)

// chartStyle is of the marks of charts, light and dark.
var chartStyle = styles{`.grid{stroke:#e2e2dc;fill:none}.axis{stroke:#5b6470;fill:none}.thin{fill:none;stroke-width:1;stroke-linejoin:round}.thick{fill:none;stroke-width:2.6;stroke-linejoin:round}.t{font-weight:600}` +
	`.band{fill-opacity:.18;stroke:none}.lead{fill:none;stroke-opacity:.45}.goal{stroke:#b3261e;stroke-dasharray:6 4;fill:none}.g{fill:#b3261e}.asked{stroke:#5b6470;stroke-dasharray:2 3;fill:none}.front{stroke:#2f62c9;stroke-opacity:.55;stroke-width:1.6;fill:none}.whisker{stroke:#2f62c9;stroke-opacity:.5;fill:none}` +
	`.dot{fill:none;stroke:#5b6470;stroke-width:1.3}.miss{stroke:#b3261e;stroke-width:1.4;fill:none}.s0{stroke:#2f62c9}.s1{stroke:#d4731a}.s2{stroke:#24a67b}.d0{fill:#2f62c9}.d1{fill:#d4731a}.d2{fill:#24a67b}text.d1{fill:#a85510}text.d2{fill:#14755a}`,
	`.grid{stroke:#2b3138}.axis,.asked,.dot{stroke:#9aa3ad}.goal,.miss{stroke:#ff8a80}.g{fill:#ff8a80}.front,.whisker,.s0{stroke:#5b93e6}.d0{fill:#5b93e6}.s1{stroke:#e08a3c}.d1{fill:#e08a3c}.s2{stroke:#3ddca6}.d2{fill:#3ddca6}text.d1{fill:#e08a3c}text.d2{fill:#3ddca6}`}

// scale puts figures along an axis.
type scale struct {
	low, high float64
	log       bool
	ticks     []float64
}

// nice steps of a decade.
var nice = []float64{1, 2, 5}

// logScale goes from a nice figure to another around what it shows; steps of decades alone where there are many.
func logScale(low, high float64) scale {
	low, high = max(low, 1e-9), max(high, 1e-9)
	s := scale{log: true}
	wide := high > 2000*low
	from := int(math.Floor(math.Log10(low)))
	var all []float64
	for e := from; len(all) == 0 || all[len(all)-1] < high*1.001; e++ {
		if wide {
			all = append(all, math.Pow10(e))
			continue
		}
		for _, n := range nice {
			all = append(all, n*math.Pow10(e))
		}
	}
	for i, x := range all {
		if x <= low*1.001 {
			s.ticks = s.ticks[:0]
		}
		if s.ticks = append(s.ticks, x); x >= high*0.999 && i > 0 && len(s.ticks) > 1 {
			break
		}
	}
	s.low, s.high = s.ticks[0], s.ticks[len(s.ticks)-1]
	return s
}

// linearScale begins at nothing.
func linearScale(high float64) scale {
	s := scale{high: round(high)}
	parts := 4
	switch term.Tick(s.high)[0] {
	case '1', '5':
		parts = 5
	case '3', '6':
		parts = 3
	}
	for i := range parts + 1 {
		s.ticks = append(s.ticks, float64(i)/float64(parts)*s.high)
	}
	return s
}

// spanScale is linear where that shows all, and of powers where it would not.
func spanScale(low, high float64) scale {
	if high > 15*low {
		return logScale(low, high)
	}
	return linearScale(high)
}

// position is a figure's place as a share of the axis.
func (s *scale) position(x float64) float64 {
	if s.log {
		x = math.Log(max(x, 1e-12)/s.low) / math.Log(s.high/s.low)
	} else {
		x = (x - s.low) / (s.high - s.low)
	}
	return min(max(x, 0), 1)
}

// chart is a field with two axes, in pixels from its upper left corner.
type chart struct {
	*svgPage
	left, top, width, height int
	x, y                     scale
}

func (c *chart) px(x float64) float64 { return float64(c.left) + c.x.position(x)*float64(c.width) }
func (c *chart) py(y float64) float64 {
	return float64(c.top+c.height) - c.y.position(y)*float64(c.height)
}

func (c *chart) bottom() int { return c.top + c.height }
func (c *chart) right() int  { return c.left + c.width }

func (c *chart) anchored(class, anchor string, x float64, y int, words string) {
	fmt.Fprintf(&c.b, "<text class=%q text-anchor=%q x=\"%.1f\" y=\"%d\">%s</text>\n", class, anchor, x, y, escape(words))
}

func (c *chart) path(class, d string) {
	fmt.Fprintf(&c.b, "<path class=%q d=%q/>\n", class, d)
}

// frame draws lines across with their figures, and what both axes measure.
func (c *chart) frame(xs, ys string) {
	c.anchored("m", "start", float64(svgMargin), c.top-10, ys)
	for _, y := range c.y.ticks {
		at := c.py(y)
		c.path("grid", fmt.Sprintf("M%d %.1fh%d", c.left, at, c.width))
		c.anchored("m", "end", float64(c.left-7), int(at)+4, term.Tick(y))
	}
	last := math.Inf(-1)
	for _, x := range c.x.ticks {
		at, words := c.px(x), term.Tick(x)
		c.path("grid", fmt.Sprintf("M%.1f %dv%d", at, c.bottom(), -c.height))
		half, edge := float64(term.Cells(words))*SvgLetter/2+3, float64(c.svgPage.width-svgMargin)
		if over := at + half - edge; over > 0 {
			at -= over
		}
		if at-half > last {
			c.anchored("m", "middle", at, c.bottom()+svgLine, words)
			last = at + half
		}
	}
	c.path("axis", fmt.Sprintf("M%d %dV%dh%d", c.left, c.top, c.bottom(), c.width))
	c.anchored("m", "middle", float64(c.left)+float64(c.width)/2, c.bottom()+2*svgLine, xs)
}

// goals are lines across at the bounds of a goal, each with its name where the one before leaves room.
func (c *chart) goals(bounds map[string]float64, width int, anchor string) {
	last := math.Inf(-1)
	for _, name := range percentilesOf(bounds) {
		y := c.py(bounds[name])
		c.path("goal", fmt.Sprintf("M%d %.1fh%d", c.left, y, width))
		if math.Abs(y-last) > svgLine {
			at := float64(c.left + 6)
			if anchor == "end" {
				at = float64(c.right() - 6)
			}
			c.anchored("g", anchor, at, int(y)-5, "goal, "+name+": "+timeWords(bounds[name]))
			last = y
		}
	}
}

// points join places of a line.
func (c *chart) points(n int, at func(i int) (x, y float64)) string {
	var b strings.Builder
	for i := range n {
		x, y := at(i)
		fmt.Fprintf(&b, "%c%.1f %.1f", "ML"[min(i, 1)], c.px(x), c.py(y))
	}
	return b.String()
}

// callout is what is said beside a place of a chart: its name, and lines of words.
type callout struct {
	x, y  float64 // the place
	class string  // of the name
	name  []string
	lines []string
	// letter is where one stands for the place, on telephones.
	letter float64
}

func (f *callout) height() int { return (len(f.name)+len(f.lines))*svgLine + 8 }

// callouts stand in a column beside the chart in the order of their places, each with a line to its own.
func (c *chart) callouts(all []callout) {
	if c.slim() {
		c.listed(all)
		return
	}
	at := flagsAt
	bottom := c.bottom() + svgLine
	tops := make([]int, len(all))
	next := c.top - 8
	for i := range all {
		tops[i] = max(next, int(all[i].y)-svgLine/2)
		next = tops[i] + all[i].height()
	}
	for i := len(all) - 1; i >= 0; i-- {
		tops[i] = max(c.top-8, min(tops[i], bottom-all[i].height()))
		bottom = tops[i]
	}
	for i := 1; i < len(all); i++ { // more words than the chart is high go on below it
		tops[i] = max(tops[i], tops[i-1]+all[i-1].height())
	}
	for i := range all {
		c.callout(at, tops[i], &all[i])
	}
}

// listed stand below the chart, each with a letter at its place.
func (c *chart) listed(all []callout) {
	c.svgPage.y += svgLine / 2
	for i := range all {
		f := &all[i]
		letter := string(rune('A' + i))
		c.anchored(f.class, "middle", c.letterPlace(all[:i], f), int(f.y)-7, letter)
		for j, l := range append(slices.Clone(f.name), f.lines...) {
			class := "m"
			if j < len(f.name) {
				class = f.class
			}
			c.svgPage.y += svgLine
			if j == 0 {
				c.text(svgMargin, c.svgPage.y, class, letter)
			}
			c.text(svgMargin+letterRoom, c.svgPage.y, class, l)
		}
		c.svgPage.y += 6
	}
}

// letterPlace is where the letter of a place stands: at its right or, towards the edge, at its left, and past letters before it.
func (c *chart) letterPlace(before []callout, f *callout) float64 {
	const step, wide = 13.0, 12.0
	away := step
	if f.x+step > float64(c.right()) {
		away = -step
	}
	x := f.x + away
	for i := len(before) - 1; i >= 0; i-- {
		if o := &before[i]; math.Abs(o.letter-x) < wide && math.Abs(o.y-f.y) < svgLine {
			x = o.letter + away
		}
	}
	f.letter = x
	return x
}

func (c *chart) callout(at, top int, f *callout) {
	c.path("lead", fmt.Sprintf("M%.1f %.1fL%d %dh4", f.x, f.y, at-8, top+svgLine-5))
	for i, l := range append(slices.Clone(f.name), f.lines...) {
		class := "m"
		if i < len(f.name) {
			class = f.class
		}
		c.text(float64(at), top+(i+1)*svgLine, class, l)
	}
	c.svgPage.y = max(c.svgPage.y, top+f.height())
}

// headed writes the finding of a picture, and what is said under it.
func (s *svgPage) headed(title string, under []string) {
	const most = 95 // letters of a heading
	s.text(svgMargin, s.y, "h", term.Shorten(title, most, "…"))
	for _, words := range under {
		for _, l := range s.broken(words, svgMargin, SvgLetter, 2) {
			s.y += svgLine
			s.text(svgMargin, s.y, "m", l)
		}
	}
}

// strong letters are wider.
const StrongLetter = 7.7
