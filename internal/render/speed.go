package render

import (
	"math"
	"slices"
	"strconv"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/term"
)

// writeBeside draws two blocks side by side if the page is wide enough, else one below the other.
func writeBeside(p *term.Page, first, second []term.Text) {
	width := 0
	for _, l := range first {
		width = max(width, l.Cells())
	}
	width += 2 * term.Gap
	if slices.ContainsFunc(second, func(l term.Text) bool { return width+l.Cells() > p.Style.Cells() }) {
		p.Lines = append(append(p.Lines, first...), nil)
		p.Lines = append(p.Lines, second...)
		return
	}
	for i := range max(len(first), len(second)) {
		var line term.Text
		if i < len(first) {
			line = first[i]
		}
		if i < len(second) {
			line = term.Join(line, term.Pad(width-line.Cells()), second[i])
		}
		p.Lines = append(p.Lines, line)
	}
}

// block returns a table drawn on a page of its own.
func block(p *term.Page, tb *term.Table) []term.Text {
	own := term.NewPage(p.Style)
	own.Add(tb)
	return own.Lines
}

// speed returns the plan's speed; nil if unknown.
func (s *screen) speed() []term.Text {
	v := s.a.Speed
	if v == nil || v.Decode == nil && v.Prefill == nil || runsNowhere(s.a) {
		return nil
	}
	users := max(1, int64(s.a.Plan.Sequences))
	tb := &term.Table{Sides: []term.Side{term.Left, term.Left, term.Left}}
	tb.Row(term.Say("speed", term.Dim), term.Say(term.Users(users), term.Dim), term.Say("90 % band", term.Dim))
	for _, l := range speedLines(v, users) {
		if l.mid != nil {
			d := l.digits()
			tb.Row(term.Say(l.name), term.Join(term.Say(term.Significant(*l.mid, d)+" "), term.Say(l.unit, term.Dim)),
				term.Say(term.Significant(*l.low, d)+"–"+term.Significant(*l.high, d), term.Dim))
		}
	}
	lines := block(s.page, tb)
	facts := []struct{ name, says string }{{"bound", boundBy(v)}}
	if v.USDPerHour != nil {
		facts = append(facts, struct{ name, says string }{"rent", "$" + cents(*v.USDPerHour) + " an hour" + rentedWhole(v)})
	}
	for _, f := range facts {
		if f.says != "" {
			name := term.Say(f.name)
			lines = append(lines, term.Join(term.Pad(term.Gap), name, term.Pad(tb.Rows[0][0].Cells()-name.Cells()+term.Gap),
				term.Say(f.says)).Clean(s.page.Style.ASCII))
		}
	}
	return lines
}

// runsNowhere reports whether the plan serves nobody, so that no speed is shown.
func runsNowhere(a *memwall.Answer) bool { return a.Verdict == memwall.DoesNotFit && waiting(a) == "" }

// speedLine is a figure with its band.
type speedLine struct {
	name, unit     string
	mid, low, high *float64
}

// digits returns the number of digits, more if the band is narrow.
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
		seconds(speedLine{"TTFT", "ms", v.TTFT, v.TTFTLow, v.TTFTHigh}),
		speedLine{"energy", "J/token", v.JoulesPerToken, v.JoulesPerTokenLow, v.JoulesPerTokenHigh},
		speedLine{"cost", "$/M tok", v.USDPerMillion, v.USDPerMillionLow, v.USDPerMillionHigh})
}

// seconds converts long times to seconds.
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

// boundBy describes what decoding is bound by, and the fraction of the datasheet rate achieved.
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

// rentedWhole states how many devices the rent is for, if more than the plan uses.
func rentedWhole(v *memwall.Speed) string {
	if v == nil || v.RentedDevices == 0 {
		return ""
	}
	return " for " + strconv.FormatInt(v.RentedDevices, 10)
}
