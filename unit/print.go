package unit

import (
	"math"
	"strconv"
	"strings"
)

// exactWithin is the half width of a band below which a size is shown with two decimals of a GiB.
const exactWithin = GiB / 20

// Decimals returns the number of decimals of a GiB to print a size with the band low..high with: two if it is exact or
// known to 0.05 GiB, else one.
func Decimals(v, low, high Bytes) int {
	if high-v < exactWithin && v-low < exactWithin {
		return 2
	}
	return 1
}

// Fixed formats x with the given number of decimals. A positive x that would round to zero is formatted as "<0.01" (or
// "<0.1"), since zero means none.
func Fixed(x float64, decimals int) string {
	s := strconv.FormatFloat(x, 'f', decimals, 64)
	if x > 0 && strings.Trim(s, "0.") == "" {
		return "<" + strconv.FormatFloat(math.Pow10(-decimals), 'f', decimals, 64)
	}
	return s
}

// Size formats b in a suitable binary unit: bytes or KiB below 1 MiB, MiB below 0.1 GiB, GiB below 1,000 GiB, then TiB.
// decimals is the number of decimals for GiB.
func Size(b Bytes, decimals int) string {
	switch {
	case b < KiB:
		return strconv.FormatInt(int64(b), 10) + " B"
	case b < MiB:
		return Fixed(float64(b)/float64(KiB), 1) + " KiB"
	case b < GiB/10:
		return Fixed(b.MiB(), 1) + " MiB"
	case b < 1000*GiB:
		return Fixed(b.GiB(), decimals) + " GiB"
	}
	return Fixed(float64(b)/float64(TiB), 2) + " TiB"
}

// String formats the size to two decimals of a suitable unit. Use Count for the exact number of bytes.
func (b Bytes) String() string {
	if b < 0 {
		return "-" + Size(-max(b, -math.MaxInt64), 2) // the minimum int64 has no positive counterpart
	}
	return Size(b, 2)
}

// Exact formats a size in the largest unit that it is a whole multiple of, as in 9GiB or 1536MiB. ParseBytes reads it
// back exactly.
func Exact(b Bytes) string {
	for _, u := range []struct {
		worth Bytes
		name  string
	}{{GiB, "GiB"}, {MiB, "MiB"}, {KiB, "KiB"}} {
		if b != 0 && b%u.worth == 0 {
			return strconv.FormatInt(int64(b/u.worth), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

// Count formats n with thousands separators.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	neg := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	var b strings.Builder
	for i, c := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	if neg {
		return "-" + b.String()
	}
	return b.String()
}

// Length formats a number of tokens the way people write it: 8k or 128k for multiples of 1,024, else with thousands
// separators.
func Length(n int64) string {
	const k = 1 << 10
	switch {
	case n >= k*k && n%(k*k) == 0:
		return strconv.FormatInt(n/(k*k), 10) + "M"
	case n >= k && n%k == 0 && n < k*k:
		return strconv.FormatInt(n/k, 10) + "k"
	}
	return Count(n)
}

// Significant formats x with the given number of significant digits and no exponent.
func Significant(x float64, digits int) string {
	if x == 0 {
		return "0"
	}
	exp := int(math.Floor(math.Log10(math.Abs(x))))
	scale := math.Pow10(digits - 1 - exp)
	rounded := math.Round(x*scale) / scale
	return strconv.FormatFloat(rounded, 'f', max(0, digits-1-exp), 64)
}

// Rate formats a rate with two significant digits below 100 and three above, with thousands separators.
func Rate(x float64) string {
	if math.Abs(x) < 99.5 {
		return Significant(x, 2)
	}
	s := Significant(x, 3)
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return Count(n)
	}
	return s
}

// String formats the rate in a suitable decimal unit, to three significant digits: 3.35 TB/s.
func (r ByteRate) String() string { return prefixed(float64(r), "B/s") }

// String formats the rate in a suitable decimal unit, to three significant digits: 989 TFLOP/s.
func (r FLOPRate) String() string { return prefixed(float64(r), "FLOP/s") }

// String formats the count in a suitable decimal unit, to three significant digits.
func (f FLOPs) String() string { return prefixed(float64(f), "FLOP") }

// String formats the time in a suitable unit, to two significant digits: 27 ms, 0.71 s, 1.8 h.
func (s Seconds) String() string {
	x := float64(s)
	switch {
	case x > 0 && x < 1e-6:
		return Significant(x*1e9, 2) + " ns"
	case x > 0 && x < 1e-3:
		return Significant(x*1e6, 2) + " µs"
	case x < 0.1:
		return Significant(x*1e3, 2) + " ms"
	case x < 120:
		return Significant(x, 2) + " s"
	case x < 7200:
		return Significant(x/60, 2) + " min"
	case x < 48*3600:
		return Significant(x/3600, 2) + " h"
	}
	return Significant(x/86400, 2) + " days"
}

func prefixed(x float64, unit string) string {
	prefixes := []string{"", "k", "M", "G", "T", "P", "E"}
	i := 0
	for x >= 999.5 && i < len(prefixes)-1 {
		x /= 1000
		i++
	}
	s := Significant(x, 3)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s + " " + prefixes[i] + unit
}
