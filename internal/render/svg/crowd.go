package svg

import (
	"fmt"
	"math"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/term"
)

// Sizes of the two charts of a crowd, in pixels.
const (
	crowdWide = 568
	crowdHigh = 120
)

// crowd is one plan with more and more users at once.
type crowd struct{ all []*memwall.Answer }

// CrowdChart draws how long a token takes, and how many all users together get a second, against how many users there are
// at once: answers to one plan with more and more users, all with a speed. False where these are fewer than two.
func CrowdChart(answers []*memwall.Answer, name string) (Chart, bool) {
	p := crowdPicture(answers)
	if p == nil {
		return Chart{}, false
	}
	return p.chart(name, crowdWide), true
}

// Crowd is CrowdChart by itself; nil where that is false.
func Crowd(answers []*memwall.Answer) []byte {
	if p := crowdPicture(answers); p != nil {
		return p.file()
	}
	return nil
}

func crowdPicture(answers []*memwall.Answer) *picture {
	c := &crowd{}
	for _, a := range answers {
		if v := a.Speed; v != nil && v.Decode != nil && v.TPOT != nil && v.Total != nil {
			c.all = append(c.all, a)
		}
	}
	if len(c.all) < 2 {
		return nil
	}
	under := []string{"up to as many as there is room for, each with the context asked for; the bands hold nine of ten measurements"}
	return &picture{c.title(), under, c.describe(), chartStyle, c.draw}
}

func users(a *memwall.Answer) float64 { return float64(a.Plan.Sequences) }

// title is the finding: what the largest crowd gets, and what one user alone.
func (c *crowd) title() string {
	first, last := c.all[0], c.all[len(c.all)-1]
	return fmt.Sprintf("%s at once get %s tok/s each, %s", term.Users(int64(last.Plan.Sequences)), term.Significant(*last.Speed.Decode, 2),
		alone(first))
}

func alone(a *memwall.Answer) string {
	n, rate := int64(a.Plan.Sequences), term.Significant(*a.Speed.Decode, 2)
	if n == 1 {
		return "one alone " + rate
	}
	return fmt.Sprintf("%d of them %s", n, rate)
}

// draw both charts, one below the other.
func (c *crowd) draw(s *svgPage) {
	for _, t := range []struct {
		what string
		of   func(*memwall.Speed) extent
	}{
		{"time per token, ms", func(v *memwall.Speed) extent { return banding(v.TPOT, v.TPOTLow, v.TPOTHigh) }},
		{"tokens a second, of all together", func(v *memwall.Speed) extent { return banding(v.Total, v.TotalLow, v.TotalHigh) }},
	} {
		f := &chart{svgPage: s, left: roofLeft, top: s.y + 32, width: s.width - roofLeft - 2*svgMargin, height: crowdHigh}
		c.scales(f, t.of)
		f.frame("users at once", t.what)
		c.line(f, t.of)
		s.y = f.bottom() + 2*svgLine
	}
}

func (c *crowd) scales(f *chart, of func(*memwall.Speed) extent) {
	low, high := math.Inf(1), 0.0
	for _, a := range c.all {
		e := of(a.Speed)
		low, high = min(low, e.low), max(high, e.high)
	}
	f.x = spanScale(users(c.all[0]), users(c.all[len(c.all)-1]))
	f.y = spanScale(low, high)
}

// line of the figure over its band, and a dot where it ends.
func (c *crowd) line(f *chart, of func(*memwall.Speed) extent) {
	n := len(c.all)
	at := func(edge func(extent) float64) func(int) (x, y float64) {
		return func(i int) (x, y float64) { return users(c.all[i]), edge(of(c.all[i].Speed)) }
	}
	upper := f.points(n, at(func(e extent) float64 { return e.high }))
	lower := f.points(n, func(i int) (x, y float64) { return at(func(e extent) float64 { return e.low })(n - 1 - i) })
	f.path("band d0", upper+"L"+strings.TrimPrefix(lower, "M")+"Z")
	f.path("thick s0", f.points(n, at(func(e extent) float64 { return e.mid })))
}

// describe says the numbers of the picture in words.
func (c *crowd) describe() string {
	var out []string
	for _, a := range c.all {
		v := a.Speed
		out = append(out, fmt.Sprintf("%s: %s ms a token, %s tokens/s together", term.Users(int64(a.Plan.Sequences)),
			figures(banding(v.TPOT, v.TPOTLow, v.TPOTHigh), term.Tick), figures(banding(v.Total, v.TotalLow, v.TotalHigh), term.Tick)))
	}
	return strings.Join(out, ". ")
}
