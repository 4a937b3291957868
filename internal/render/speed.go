package render

import (
	"math"
	"slices"
	"strconv"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/unit"
)

// beside draws two blocks next to each other where the page is wide enough, else one below the other.
func (p *page) beside(first, second []text) {
	width := 0
	for _, l := range first {
		width = max(width, l.cells())
	}
	width += 2 * gap
	if slices.ContainsFunc(second, func(l text) bool { return width+l.cells() > p.st.width() }) {
		p.lines = append(append(p.lines, first...), nil)
		p.lines = append(p.lines, second...)
		return
	}
	for i := range max(len(first), len(second)) {
		var line text
		if i < len(first) {
			line = first[i]
		}
		if i < len(second) {
			line = join(line, pad(width-line.cells()), second[i])
		}
		p.lines = append(p.lines, line)
	}
}

// block is what a table draws on a page of its own.
func (p *page) block(tb *table) []text {
	own := newPage(p.st)
	own.add(tb)
	return own.lines
}

// speed is how fast the plan runs; nil when nobody knows.
func (s *screen) speed() []text {
	v := s.a.Speed
	if v == nil || v.Decode == nil && v.Prefill == nil {
		return nil
	}
	users := max(1, int64(s.a.Plan.Sequences))
	tb := &table{sides: []side{left, left, left}}
	name := "speed"
	if s.a.Verdict == memwall.DoesNotFit {
		name = "if it fit"
	}
	tb.row(say(name, dim), say(people(users), dim), say("90 % band", dim))
	for _, l := range speedLines(v, users) {
		if l.mid != nil {
			d := l.digits()
			tb.row(say(l.name), join(say(significant(*l.mid, d)+" "), say(l.unit, dim)), say(significant(*l.low, d)+"–"+significant(*l.high, d), dim))
		}
	}
	lines := s.page.block(tb)
	facts := []struct{ name, says string }{{"bound", boundBy(v)}}
	if v.USDPerHour != nil {
		facts = append(facts, struct{ name, says string }{"rent", "$" + cents(*v.USDPerHour) + " an hour"})
	}
	for _, f := range facts {
		if f.says != "" {
			name := say(f.name)
			lines = append(lines, join(pad(gap), name, pad(tb.rows[0][0].cells()-name.cells()+gap), say(f.says)).clean(s.page.st.ASCII))
		}
	}
	return lines
}

// speedLine is a figure with its band.
type speedLine struct {
	name, unit     string
	mid, low, high *float64
}

// digits are more where the band is narrow.
func (l *speedLine) digits() int {
	if *l.high-*l.low < 0.15**l.mid {
		return 3
	}
	return 2
}

func speedLines(v *memwall.Speed, users int64) []speedLine {
	each := "decode"
	if users > 1 {
		each = "each"
	}
	lines := []speedLine{{each, "tok/s", v.Decode, v.DecodeLow, v.DecodeHigh}}
	if users > 1 {
		lines = append(lines, speedLine{"together", "tok/s", v.Total, v.TotalLow, v.TotalHigh})
	}
	return append(lines,
		speedLine{"prefill", "tok/s", v.Prefill, v.PrefillLow, v.PrefillHigh},
		seconds(speedLine{"first", "ms", v.TTFT, v.TTFTLow, v.TTFTHigh}),
		speedLine{"energy", "J/token", v.JoulesPerToken, v.JoulesPerTokenLow, v.JoulesPerTokenHigh},
		speedLine{"cost", "$/M", v.USDPerMillion, v.USDPerMillionLow, v.USDPerMillionHigh})
}

// seconds prints long times in seconds.
func seconds(l speedLine) speedLine {
	if l.mid == nil || *l.mid < 1000 {
		return l
	}
	l.unit = "s"
	for _, x := range []**float64{&l.mid, &l.low, &l.high} {
		v := **x / 1000
		*x = &v
	}
	return l
}

// significant prints a number with so many digits that count, and commas.
func significant(x float64, digits int) string {
	if x <= 0 || math.IsInf(x, 0) {
		return "0"
	}
	return commas(unit.Significant(x, digits))
}

// boundBy says what decoding waits for, and how near it comes to the datasheet.
func boundBy(v *memwall.Speed) string {
	x := string(v.Bound)
	if f := v.BandwidthFraction; f != nil && x == "memory" {
		return x + ", " + strconv.Itoa(int(math.Round(100**f))) + " % of its rate"
	}
	if f := v.FLOPsFraction; f != nil && x == "compute" {
		return x + ", " + strconv.Itoa(int(math.Round(100**f))) + " % of the peak"
	}
	return x
}
