package term

import (
	"math"
	"strings"

	"github.com/memwall/memwall/unit"
)

// Commas inserts thousands separators into the integer part of a printed number.
func Commas(s string) string {
	whole, rest, found := strings.Cut(s, ".")
	digits := strings.TrimLeft(whole, "<-−+≥")
	sign := whole[:len(whole)-len(digits)]
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if found {
		rest = "." + rest
	}
	return sign + digits + rest
}

// GiB formats a size in GiB without its unit.
func GiB(b unit.Bytes, decimals int) string {
	if b < 0 {
		return "−" + GiB(-b, decimals)
	}
	return Commas(unit.Fixed(b.GiB(), decimals))
}

// Banded is a size with the edges of its band.
type Banded struct{ Mid, Low, High unit.Bytes }

// Decimals returns the number of decimals that the band justifies.
func (b Banded) Decimals() int { return unit.Decimals(b.Mid, b.Low, b.High) }

// Exact reports whether there is no band.
func (b Banded) Exact() bool { return b.Low == b.Mid && b.High == b.Mid }

// Lopsided reports whether the halves of the band differ as printed.
func (b Banded) Lopsided() bool {
	apart := math.Abs(float64(b.High-b.Mid) - float64(b.Mid-b.Low))
	return b.Up() != b.Down() && apart >= math.Pow10(-b.Decimals())*float64(unit.GiB)
}

// Half returns the wider half of a symmetric band.
func (b Banded) Half() string { return GiB(max(b.High-b.Mid, b.Mid-b.Low), b.Decimals()) }

// Up returns the upper half of the band.
func (b Banded) Up() string { return GiB(b.High-b.Mid, b.Decimals()) }

// Down returns the lower half of the band.
func (b Banded) Down() string { return GiB(b.Mid-b.Low, b.Decimals()) }

// Band returns " ±0.6", " +0.3 −0.0" or "".
func (b Banded) Band() string {
	switch {
	case b.Exact():
		return ""
	case b.Lopsided():
		return " +" + zero(b.Up()) + " −" + zero(b.Down())
	}
	return " ±" + b.Half()
}

// zero returns 0.0 for "<0.1", the empty side of a lopsided band.
func zero(s string) string {
	rest, ok := strings.CutPrefix(s, "<")
	if !ok {
		return s
	}
	return strings.TrimRight(rest, "1") + "0"
}

// Sizes from 1,000 GiB on are printed in TiB, unless next to one below 100 GiB, which would lose its digits.
const (
	tera    = 1000 * unit.GiB
	hundred = 100 * unit.GiB
)

// Pair formats two sizes in one unit with the digits that the first justifies, and returns the unit's name.
func Pair(a Banded, b unit.Bytes) (first, second, name string) {
	if small := min(a.Mid, b); max(a.Mid, b) >= tera && (small >= hundred || small == 0) {
		const perTiB = unit.TiB / unit.GiB
		return Commas(unit.Fixed(a.Mid.GiB()/float64(perTiB), 2)) + tib(a), unit.Fixed(b.GiB()/float64(perTiB), 2), "TiB"
	}
	d := a.Decimals()
	return GiB(a.Mid, d) + a.Band(), GiB(b, d), "GiB"
}

// tib formats the band of a size in TiB; one that rounds to zero is omitted.
func tib(a Banded) string {
	up, down := unit.Fixed(a.High.GiB()/1024-a.Mid.GiB()/1024, 2), unit.Fixed(a.Mid.GiB()/1024-a.Low.GiB()/1024, 2)
	switch {
	case strings.HasPrefix(up, "<") && strings.HasPrefix(down, "<"), a.Exact():
		return ""
	case up == down:
		return " ±" + up
	}
	return " +" + zero(up) + " −" + zero(down)
}

// Users returns a number of users in words.
func Users(n int64) string {
	if n == 1 {
		return "1 user"
	}
	return unit.Count(n) + " users"
}

// Plural returns "1 device" or "2 devices".
func Plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return unit.Count(n) + " " + many
}

// Brief formats a parameter count with three digits and a letter.
func Brief(n int64) string {
	x := float64(n)
	for _, u := range []struct {
		letter string
		worth  float64
	}{{"T", 1e12}, {"B", 1e9}, {"M", 1e6}, {"K", 1e3}} {
		if x >= 0.9995*u.worth {
			return unit.Significant(max(1, x/u.worth), 3) + u.letter
		}
	}
	return unit.Count(n)
}

// Percent formats a fraction as a percentage with two significant digits.
func Percent(x float64) string { return unit.Significant(100*x, 2) + " %" }

// Size formats bytes; whole multiples of a unit have no decimals.
func Size(b unit.Bytes) string {
	n, name, _ := strings.Cut(b.String(), " ")
	if whole, zeros, found := strings.Cut(n, "."); found && strings.Trim(zeros, "0") == "" {
		n = whole
	}
	return Commas(n) + " " + name
}

// Compact formats up to four significant digits, without trailing zeros.
func Compact(x float64) string {
	s := unit.Significant(x, 4)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return Commas(s)
}

// Tick formats an axis label with three digits, abbreviating millions.
func Tick(x float64) string {
	if x >= 999_500 {
		return Tick(x/1e6) + "M"
	}
	s := unit.Significant(x, 3)
	if strings.Contains(s, ".") {
		s = strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
	}
	return Commas(s)
}

// Significant formats a number with the given significant digits and thousands separators.
func Significant(x float64, digits int) string {
	if x <= 0 || math.IsInf(x, 0) {
		return "0"
	}
	return Commas(unit.Significant(x, digits))
}

// Counted returns a name, preceded by the count if above one.
func Counted(n int64, name string) string {
	if n == 1 {
		return name
	}
	return unit.Count(n) + " × " + name
}
