package term

import (
	"math"
	"strings"

	"github.com/memwall/memwall/unit"
)

// Commas puts thousands commas into the whole part of a printed number.
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

// GiB prints a size in GiB without its unit.
func GiB(b unit.Bytes, decimals int) string {
	if b < 0 {
		return "−" + GiB(-b, decimals)
	}
	return Commas(unit.Fixed(b.GiB(), decimals))
}

// Banded is a size with the edges of its band.
type Banded struct{ Mid, Low, High unit.Bytes }

// Decimals are as many as the band deserves.
func (b Banded) Decimals() int { return unit.Decimals(b.Mid, b.Low, b.High) }

// Exact: no band at all.
func (b Banded) Exact() bool { return b.Low == b.Mid && b.High == b.Mid }

// Lopsided: the two halves of the band differ by a digit that is printed.
func (b Banded) Lopsided() bool {
	apart := math.Abs(float64(b.High-b.Mid) - float64(b.Mid-b.Low))
	return b.Up() != b.Down() && apart >= math.Pow10(-b.Decimals())*float64(unit.GiB)
}

// Half is the wider half of a band that is not lopsided.
func (b Banded) Half() string { return GiB(max(b.High-b.Mid, b.Mid-b.Low), b.Decimals()) }

// Up is the upper half of a band.
func (b Banded) Up() string { return GiB(b.High-b.Mid, b.Decimals()) }

// Down is the lower half.
func (b Banded) Down() string { return GiB(b.Mid-b.Low, b.Decimals()) }

// Band prints " ±0.6", " +0.3 −0.0" or nothing.
func (b Banded) Band() string {
	switch {
	case b.Exact():
		return ""
	case b.Lopsided():
		return " +" + zero(b.Up()) + " −" + zero(b.Down())
	}
	return " ±" + b.Half()
}

// zero says that one side of a lopsided band is nothing: "<0.1" is shown as 0.0.
func zero(s string) string {
	rest, ok := strings.CutPrefix(s, "<")
	if !ok {
		return s
	}
	return strings.TrimRight(rest, "1") + "0"
}

// tera: a size from 1,000 GiB is said in TiB, but beside one of less than hundred, which would lose its digits.
const (
	tera    = 1000 * unit.GiB
	hundred = 100 * unit.GiB
)

// Pair prints two sizes in one unit with the digits that the first deserves, and names the unit.
func Pair(a Banded, b unit.Bytes) (first, second, name string) {
	if small := min(a.Mid, b); max(a.Mid, b) >= tera && (small >= hundred || small == 0) {
		const perTiB = unit.TiB / unit.GiB
		return Commas(unit.Fixed(a.Mid.GiB()/float64(perTiB), 2)) + tib(a), unit.Fixed(b.GiB()/float64(perTiB), 2), "TiB"
	}
	d := a.Decimals()
	return GiB(a.Mid, d) + a.Band(), GiB(b, d), "GiB"
}

// tib prints the band of a size that is said in TiB; one that rounds to nothing is left out.
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

// Users counts users in words.
func Users(n int64) string {
	if n == 1 {
		return "1 user"
	}
	return unit.Count(n) + " users"
}

// Plural is "1 device" and "2 devices".
func Plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return unit.Count(n) + " " + many
}

// Brief prints a count of parameters: three digits and a letter.
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

// Percent prints a share with two digits that count.
func Percent(x float64) string { return unit.Significant(100*x, 2) + " %" }

// Size prints bytes; whole ones of their unit without decimals.
func Size(b unit.Bytes) string {
	n, name, _ := strings.Cut(b.String(), " ")
	if whole, zeros, found := strings.Cut(n, "."); found && strings.Trim(zeros, "0") == "" {
		n = whole
	}
	return Commas(n) + " " + name
}

// Compact prints up to four significant digits, without zeros at the end.
func Compact(x float64) string {
	s := unit.Significant(x, 4)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return Commas(s)
}

// Tick is a figure at an axis: three digits, and millions short.
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

// Significant prints a number with so many digits that count, and commas.
func Significant(x float64, digits int) string {
	if x <= 0 || math.IsInf(x, 0) {
		return "0"
	}
	return Commas(unit.Significant(x, digits))
}

// Counted is a name, and how many of it when there are several.
func Counted(n int64, name string) string {
	if n == 1 {
		return name
	}
	return unit.Count(n) + " × " + name
}
