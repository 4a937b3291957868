package svg

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/memwall/memwall/internal/render/cards"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/quant"
)

// Quant draws how weights are spread, what error formats have at what size, and the matrices with outliers.
func Quant(r *quant.Report) []byte {
	s := newPicture(svgWidth, svgRight)
	s.style = plotStyle
	head := fmt.Sprintf("%s: %s, %v", r.Model, term.Plural(int64(r.Matrices), "matrix", "matrices"), r.Bytes)
	s.text(svgMargin, s.y, "h", head)
	s.y += svgLine
	if r.Spread != nil {
		plot{s, svgMargin, s.y}.magnitudes(r.Spread)
	}
	plot{s, svgMargin + plotApart, s.y}.tradeOff(r)
	s.y += plotTall + svgLine
	s.outliers(r.Spread)
	return (&drawing{s, head, "How weights are spread beside normal numbers; the error of formats by their size."}).file()
}

// Scales of the plots: shares and errors by powers of ten.
const (
	leastShare = -8 // of the axis of shares
	leastError = -3 // of that of errors
)

func powers(least float64) func(float64) float64 {
	return func(x float64) float64 { return 1 - math.Log10(max(x, 1e-300))/least }
}

func powerLabel(least float64) func(float64) string {
	return func(at float64) string {
		if x := math.Pow(10, least*(1-at)); x >= 1e-3 {
			return term.Percent(x)
		}
		return "10^" + strconv.FormatFloat(least*(1-at), 'f', -1, 64)
	}
}

// magnitudes draws the histogram and that of normal numbers.
func (p plot) magnitudes(s *quant.Spread) {
	p.axes("Magnitudes, in root mean squares of their matrix", 1, powerLabel(leastShare))
	y := powers(leastShare)
	for _, c := range []struct {
		class  string
		shares []float64
	}{{"w", s.Normal}, {"r", s.Magnitudes}} {
		line := p.line(len(c.shares), func(i int) (float64, float64) { return float64(i) / float64(len(c.shares)-1), y(c.shares[i]) })
		fmt.Fprintf(&p.b, "<path class=\"curve %s\" d=\"M%s\"/>\n", c.class, line)
	}
	for i := 0; i < len(s.Magnitudes); i += 8 {
		at := quant.SpreadFrom * math.Exp2(float64(i)/quant.SpreadPerOctave)
		p.anchored("middle", float64(p.x+plotLeft)+float64(i)/float64(len(s.Magnitudes)-1)*plotWidth, p.bottom()+svgLine,
			term.Significant(at, 2))
	}
	fmt.Fprintf(&p.b, "<text x=\"%d\" y=\"%d\"><tspan class=\"rf\">weights</tspan><tspan class=\"wf\" dx=\"14\">normal "+
		"numbers</tspan></text>\n", p.x+plotLeft, p.bottom()+2*svgLine+2)
}

// tradeOff draws the formats, and the mixtures where there are some.
func (p plot) tradeOff(r *quant.Report) {
	p.axes("Error by size", 1, powerLabel(leastError))
	y := powers(leastError)
	if len(r.Curve) > 0 {
		line := p.line(len(r.Curve), func(i int) (float64, float64) { return r.Curve[i].Share, y(r.Curve[i].Weighted) })
		fmt.Fprintf(&p.b, "<path class=\"curve k\" d=\"M%s\"/>\n", line)
	}
	for i := range r.Formats {
		f := &r.Formats[i]
		at := strings.Split(p.line(1, func(int) (float64, float64) { return 1 / f.Smaller, y(f.Weighted) }), ",")
		fmt.Fprintf(&p.b, "<circle class=\"rf\" cx=%q cy=%q r=\"3\"><title>%s %s, %s</title></circle>\n", at[0], at[1], escape(f.Format),
			f.Bytes, escape(cards.ErrorShare(f.Weighted)))
	}
	p.anchored("start", float64(p.x+plotLeft), p.bottom()+svgLine, "0")
	p.anchored("end", float64(p.x+plotLeft+plotWidth), p.bottom()+svgLine, r.Bytes.String())
}

// outliers lists the matrices with the largest share of elements far out.
func (s *svgPage) outliers(x *quant.Spread) {
	if x == nil || len(x.Outliers) == 0 {
		return
	}
	s.text(svgMargin, s.y+svgLine, "t", "Elements beyond 6 root mean squares")
	s.y += svgLine
	for _, o := range x.Outliers {
		s.y += svgLine
		s.text(svgMargin, s.y, "m", fmt.Sprintf("%s: %s of its elements, the largest %s, kurtosis %s", o.Tensor, term.Percent(o.Share),
			term.Significant(o.Largest, 3), term.Significant(o.Kurtosis, 3)))
	}
	s.y += svgLine
}
