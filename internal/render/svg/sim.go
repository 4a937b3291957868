package svg

import (
	"fmt"
	"math"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// Sizes of the plots of a simulation, in pixels: two by two.
const (
	plotWidth  = 330
	plotHeight = 130
	plotLeft   = 62 // room for the figures of an axis
	plotApart  = 414
	plotTall   = 218
)

// plotStyle is of the marks of plots over time, light and dark.
var plotStyle = styles{`.grid{stroke:#e2e2dc;fill:none}.axis{stroke:#5b6470;fill:none}.area{stroke:none;fill-opacity:.22}.curve{fill:none;stroke-width:1.8;stroke-linejoin:round}.t{font-weight:600}` +
	`.k{stroke:#d4731a}.kf{fill:#d4731a}.w{stroke:#24a67b}.wf{fill:#24a67b}.r{stroke:#2f62c9}.rf{fill:#2f62c9}tspan.kf{fill:#a85510}tspan.wf{fill:#14755a}`,
	`.grid{stroke:#2b3138}.axis{stroke:#9aa3ad}.k{stroke:#bd6c22}.kf{fill:#bd6c22}.w{stroke:#3ddca6}.wf{fill:#3ddca6}.r{stroke:#5b93e6}.rf{fill:#5b93e6}tspan.kf{fill:#e08a3c}tspan.wf{fill:#3ddca6}`}

// plot is one of the four, at a place of the picture.
type plot struct {
	*svgPage
	x, y int // of its upper left corner
}

// Sim draws a simulation: the queue, the batch and the KV cache over time, and how the times of requests are spread.
func Sim(a *memwall.Answer) []byte {
	p := simPicture(a)
	head := render.SimHeadText(a)
	p.title, p.under = head[0], head[1:]
	return p.file()
}

// SimChart is Sim as a part of a page.
func SimChart(a *memwall.Answer, name string) Chart { return simPicture(a).chart(name, svgWidth) }

func simPicture(a *memwall.Answer) *picture {
	return &picture{"Over time, and the spread of latencies", nil, strings.Join(render.SimHeadText(a), ". "), plotStyle, func(s *svgPage) {
		if s.y += svgLine; a.Simulated != nil && a.Simulated.Series != nil {
			s.plots(a)
		}
	}}
}

func (s *svgPage) plots(a *memwall.Answer) {
	v := a.Simulated
	t := v.Series
	columns := 2
	if s.slim() {
		columns = 1
	}
	top := s.y
	at := func(i int) plot { return plot{s, svgMargin + i%columns*plotApart, top + i/columns*plotTall} }
	longest, batch, kv := render.Peak(t.Waiting), render.Peak(t.Running), render.Peak(t.KV)
	at(0).overTime("Longest queue: "+few(longest), t.Waiting, round(longest), t.IntervalS, "w", scaleLabel)
	at(1).overTime("Batch: "+few(batch)+" running at its largest", t.Running, round(batch), t.IntervalS, "r", scaleLabel)
	if p := render.PoolOf(a); p != nil {
		kv = max(kv, p.Peak) // between two figures of the series too
	}
	whole := 1.0
	if kv < 0.25 {
		whole = round(kv)
	}
	at(2).overTime("KV cache: at most "+term.Percent(kv)+" in use", t.KV, whole, t.IntervalS, "k", percentLabel)
	if v.Quantiles != nil {
		at(3).spread(v)
	}
	s.y += 4/columns*plotTall - svgLine/2
}

// round up to a figure that an axis ends with.
func round(x float64) float64 {
	if x <= 0 {
		return 1
	}
	power := math.Pow10(int(math.Floor(math.Log10(x))))
	for _, step := range []float64{1, 2, 3, 4, 5, 6, 8} {
		if x <= step*power {
			return step * power
		}
	}
	return 10 * power
}

// few are requests on average of an interval.
func few(mean float64) string {
	if mean > 0 && mean < 1 {
		return "fewer than one"
	}
	return term.Significant(mean, 2)
}

// scaleLabel is a figure of an axis, without zeros behind its point.
func scaleLabel(x float64) string {
	words := term.Significant(x, 3)
	if strings.Contains(words, ".") {
		words = strings.TrimRight(strings.TrimRight(words, "0"), ".")
	}
	return words
}

func percentLabel(x float64) string {
	if x == 0 {
		return "0"
	}
	return term.Percent(x)
}

// wide is how wide a plot is.
func (p *plot) wide() int {
	if p.slim() {
		return p.width - p.x - plotLeft - svgMargin
	}
	return plotWidth
}

// frame of a plot: its finding, three lines across with figures, and the axis.
func (p *plot) axes(title string, whole float64, label func(float64) string) {
	p.text(float64(p.x), p.y+svgLine, "t", title)
	for i := range 3 {
		y := p.bottom() - i*plotHeight/2
		fmt.Fprintf(&p.b, "<path class=\"grid\" d=\"M%d %dh%d\"/>\n", p.x+plotLeft, y, p.wide())
		p.anchored("end", float64(p.x+plotLeft-6), y+4, label(float64(i)/2*whole))
	}
	fmt.Fprintf(&p.b, "<path class=\"axis\" d=\"M%d %dh%d\"/>\n", p.x+plotLeft, p.bottom(), p.wide())
}

func (p *plot) bottom() int { return p.y + svgLine + 14 + plotHeight }

func (p *plot) anchored(anchor string, x float64, y int, words string) {
	fmt.Fprintf(&p.b, "<text class=\"m\" text-anchor=%q x=\"%.1f\" y=\"%d\">%s</text>\n", anchor, x, y, escape(words))
}

// overTime draws a series on a scale from nothing to a whole.
func (p plot) overTime(title string, all []float64, whole, interval float64, class string, label func(float64) string) {
	p.axes(title, whole, label)
	list := term.Sampled(all, p.wide()/2)
	line := p.line(len(list), func(i int) (x, y float64) {
		return float64(i) / float64(max(1, len(list)-1)), list[i] / max(whole, 1e-12)
	})
	left, right, bottom := p.x+plotLeft, p.x+plotLeft+p.wide(), p.bottom()
	fmt.Fprintf(&p.b, "<path class=\"area %sf\" d=\"M%d %dL%sL%d %dZ\"/>\n", class, left, bottom, line, right, bottom)
	fmt.Fprintf(&p.b, "<path class=\"curve %s\" d=\"M%s\"/>\n", class, line)
	span := interval * float64(len(all))
	for i := range 3 {
		words := unit.Seconds(float64(i) / 2 * span).String()
		if i == 0 {
			words = "0"
		}
		p.anchored([]string{"start", "middle", "end"}[i], float64(left)+float64(i)/2*float64(p.wide()), bottom+svgLine, words)
	}
}

// line joins points given as shares of the plot's width and height.
func (p *plot) line(n int, at func(int) (x, y float64)) string {
	var b strings.Builder
	for i := range n {
		x, y := at(i)
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%.1f,%.1f", float64(p.x+plotLeft)+x*float64(p.wide()), float64(p.bottom())-min(max(y, 0), 1)*plotHeight)
	}
	return b.String()
}

// spread draws which share of requests had each time, on a scale of powers of ten.
func (p plot) spread(v *memwall.Simulated) {
	q := v.Quantiles
	p.axes("Latency: TTFT p99 "+unit.Seconds(v.TTFT.P99/1000).String(), 1, percentLabel)
	low, high := decades(q)
	scale := func(ms float64) float64 {
		return (math.Log10(max(ms, low)) - math.Log10(low)) / (math.Log10(high) - math.Log10(low))
	}
	step := 10.0
	if high > 2e4*low {
		step = 100 // figures of more lines would touch
	}
	for ms := low; ms <= high*1.01; ms *= step {
		x, anchor := float64(p.x+plotLeft)+scale(ms)*float64(p.wide()), "middle"
		if ms > high/2 {
			anchor = "end"
		}
		fmt.Fprintf(&p.b, "<path class=\"grid\" d=\"M%.1f %dV%d\"/>\n", x, p.bottom(), p.bottom()-plotHeight)
		p.anchored(anchor, x, p.bottom()+svgLine, decadeLabel(ms))
	}
	for _, c := range []struct {
		class string
		times []float64
	}{{"r", q.TPOT}, {"w", q.TTFT}, {"k", q.E2E}} {
		if len(c.times) == 0 {
			continue
		}
		line := p.line(len(c.times), func(i int) (x, y float64) { return scale(c.times[i]), q.Share[i] })
		fmt.Fprintf(&p.b, "<path class=\"curve %s\" d=\"M%s\"/>\n", c.class, line)
	}
	p.key()
}

// key names the curves in their colours.
func (p *plot) key() {
	fmt.Fprintf(&p.b, "<text x=\"%d\" y=\"%d\"><tspan class=\"rf\">TPOT</tspan><tspan class=\"wf\" dx=\"14\">TTFT</tspan>"+
		"<tspan class=\"kf\" dx=\"14\">end to end</tspan></text>\n", p.x+plotLeft, p.bottom()+2*svgLine+2)
}

// decades are the powers of ten around all times.
func decades(q *memwall.Quantiles) (low, high float64) {
	low, high = math.Inf(1), 0
	for _, list := range [][]float64{q.TTFT, q.TPOT, q.E2E} {
		for _, ms := range list {
			low, high = min(low, max(ms, 0.1)), max(high, ms, 0.2)
		}
	}
	return math.Pow10(int(math.Floor(math.Log10(low)))), math.Pow10(int(math.Ceil(math.Log10(high))))
}

func decadeLabel(ms float64) string {
	if ms < 1000 {
		return term.Significant(ms, 1) + " ms"
	}
	return term.Significant(ms/1000, 1) + " s"
}
