package render

import (
	"math"
	"strings"

	"github.com/memwall/memwall/unit"
)

// commas puts thousands commas into the whole part of a printed number.
func commas(s string) string {
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

// gib prints a size in GiB without its unit.
func gib(b unit.Bytes, decimals int) string {
	if b < 0 {
		return "−" + gib(-b, decimals)
	}
	return commas(unit.Fixed(b.GiB(), decimals))
}

// banded is a size with the edges of its band.
type banded struct{ v, low, high unit.Bytes }

func (b banded) decimals() int { return unit.Decimals(b.v, b.low, b.high) }

// exact: no band at all.
func (b banded) exact() bool { return b.low == b.v && b.high == b.v }

// lopsided: the two halves of the band differ by a digit that is printed.
func (b banded) lopsided() bool {
	apart := math.Abs(float64(b.high-b.v) - float64(b.v-b.low))
	return b.up() != b.down() && apart >= math.Pow10(-b.decimals())*float64(unit.GiB)
}

// half is the wider half of a band that is not lopsided.
func (b banded) half() string { return gib(max(b.high-b.v, b.v-b.low), b.decimals()) }

func (b banded) up() string   { return gib(b.high-b.v, b.decimals()) }
func (b banded) down() string { return gib(b.v-b.low, b.decimals()) }

// band prints " ±0.6", " +0.3 −0.0" or nothing.
func (b banded) band() string {
	switch {
	case b.exact():
		return ""
	case b.lopsided():
		return " +" + zero(b.up()) + " −" + zero(b.down())
	}
	return " ±" + b.half()
}

// zero says that one side of a lopsided band is nothing: "<0.1" is shown as 0.0.
func zero(s string) string {
	rest, ok := strings.CutPrefix(s, "<")
	if !ok {
		return s
	}
	return strings.TrimRight(rest, "1") + "0"
}

// tera: a size from 1,000 GiB is said in TiB.
const tera = 1000 * unit.GiB

// pair prints two sizes in one unit with the digits that the first deserves, and names the unit.
func pair(a banded, b unit.Bytes) (first, second, name string) {
	if max(a.v, b) >= tera {
		const perTiB = unit.TiB / unit.GiB
		return commas(unit.Fixed(a.v.GiB()/float64(perTiB), 2)) + tib(a), unit.Fixed(b.GiB()/float64(perTiB), 2), "TiB"
	}
	d := a.decimals()
	return gib(a.v, d) + a.band(), gib(b, d), "GiB"
}

// tib prints the band of a size that is said in TiB; one that rounds to nothing is left out.
func tib(a banded) string {
	up, down := unit.Fixed(a.high.GiB()/1024-a.v.GiB()/1024, 2), unit.Fixed(a.v.GiB()/1024-a.low.GiB()/1024, 2)
	switch {
	case strings.HasPrefix(up, "<") && strings.HasPrefix(down, "<"), a.exact():
		return ""
	case up == down:
		return " ±" + up
	}
	return " +" + zero(up) + " −" + zero(down)
}

// people counts users in words.
func people(n int64) string {
	if n == 1 {
		return "1 user"
	}
	return unit.Count(n) + " users"
}

func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return unit.Count(n) + " " + many
}

// brief prints a count of parameters: three digits and a letter.
func brief(n int64) string {
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
