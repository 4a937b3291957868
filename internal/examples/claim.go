package examples

import (
	"math"
	"strconv"
	"strings"
)

// Unit is what a claim counts in. Worth is one of it in base units (bytes, seconds, FLOP, …); Binary is
// what the same name is worth when its prefix is read as a power of 1,024, 0 where that makes no sense.
type Unit struct {
	Name   string
	Worth  float64
	Binary float64
}

var (
	bytesU = Unit{"bytes", 1, 0}
	kb     = Unit{"KB", 1e3, 1 << 10}
	mb     = Unit{"MB", 1e6, 1 << 20}
	gb     = Unit{"GB", 1e9, 1 << 30}
	tb     = Unit{"TB", 1e12, 1 << 40}
	gbs    = Unit{"GB/s", 1e9, 0}
	tbs    = Unit{"TB/s", 1e12, 0}
	tflops = Unit{"TFLOP/s", 1e12, 0}
	tflop  = Unit{"TFLOP", 1e12, 0}
	perB   = Unit{"FLOP/byte", 1, 0}
	millis = Unit{"ms", 1e-3, 0}
	micros = Unit{"µs", 1e-6, 0}
	cycles = Unit{"cycles", 1, 0}
	tokps  = Unit{"tok/s", 1, 0}
	times  = Unit{"×", 1, 0}
	pct    = Unit{"%", 0.01, 0}
	params = Unit{"billion", 1e9, 0}
	bits   = Unit{"bits", 1, 0}
	tokens = Unit{"tokens", 1, 0}
	plain  = Unit{"", 1, 0}
)

// Said is a figure as a document gives it: the words shown, and the values, in base units, that would
// round to it.
type Said struct {
	Text      string
	Low, High float64
	Unit      Unit
}

// tilde is what "about" allows: 5 %, where the claim's own rounding is not wider.
const tilde = 0.05

// said reads a figure: it may be off by half a unit of its last digit.
func said(text string, u Unit) Said { return rounded(text, u, lastDigit(text)) }

// rounded reads a figure that was rounded to a multiple of step.
func rounded(text string, u Unit, step float64) Said {
	x := number(text)
	return Said{withUnit(text, u), (x - step/2) * u.Worth, (x + step/2) * u.Worth, u}
}

// about reads a figure that its document marks as approximate.
func about(text string, u Unit) Said {
	s, x := said(text, u), number(text)*u.Worth
	s.Low, s.High = min(s.Low, x*(1-tilde)), max(s.High, x*(1+tilde))
	s.Text = "~" + s.Text
	return s
}

// span reads a range; both ends are rounded.
func span(from, to string, u Unit) Said {
	return Said{withUnit(from+"–"+to, u), said(from, u).Low, said(to, u).High, u}
}

// aboutSpan reads a range that its document marks as approximate.
func aboutSpan(from, to string, u Unit) Said {
	return Said{"~" + withUnit(from+"–"+to, u), about(from, u).Low, about(to, u).High, u}
}

// atLeast reads "16+".
func atLeast(text string, u Unit) Said {
	return Said{withUnit(text+"+", u), said(text, u).Low, math.Inf(1), u}
}

// most is a claim in words that holds up to a bound in base units, as "fits on one card" does.
func most(words string, bound float64, u Unit) Said { return between(words, math.Inf(-1), bound, u) }

// least is a claim in words that holds from a bound on.
func least(words string, bound float64, u Unit) Said { return between(words, bound, math.Inf(1), u) }

// between is a claim in words that holds from low to high in base units, so that prefixes do not matter.
func between(words string, low, high float64, u Unit) Said {
	u.Binary = 0
	return Said{words, low, high, u}
}

func withUnit(text string, u Unit) string {
	switch u.Name {
	case "":
		return text
	case "×":
		return text + "×"
	}
	return text + " " + u.Name
}

func number(text string) float64 {
	x, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil {
		return math.NaN()
	}
	return x
}

// lastDigit is what one step of the last written digit is worth.
func lastDigit(text string) float64 {
	_, fraction, _ := strings.Cut(text, ".")
	return math.Pow10(-len(fraction))
}

// digits counts the significant digits of the longest figure in a text.
func digits(text string) int {
	longest, n := 0, 0
	for _, r := range text {
		switch {
		case r >= '1' && r <= '9' || r == '0' && n > 0:
			n++
		case r != '0' && r != '.' && r != ',':
			n = 0
		}
		longest = max(longest, n)
	}
	return longest
}

// slack forgives the last bits of a float64 at the edge of a range.
const slack = 1e-9

// Holds reports whether a value, in base units, is what the claim says.
func (s Said) Holds(v float64) bool { return s.off(v, 1) == 0 }

// HoldsBinary reports whether it is when the claim's prefix means a power of 1,024.
func (s Said) HoldsBinary(v float64) bool {
	return s.Unit.Binary > 0 && s.off(v, s.Unit.Binary/s.Unit.Worth) == 0
}

// Off is how far a value lies outside the claim, as a share of the nearer edge; negative below.
func (s Said) Off(v float64) float64 { return s.off(v, 1) }

func (s Said) off(v, scale float64) float64 {
	low, high := s.Low*scale, s.High*scale
	switch {
	case v < low-slack*math.Abs(low):
		return (v - low) / math.Abs(low)
	case v > high+slack*math.Abs(high):
		return (v - high) / math.Abs(high)
	}
	return 0
}
