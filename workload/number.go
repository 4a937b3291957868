package workload

import (
	"bytes"
	"math"
	"strconv"
	"time"
)

// tokens parses an integer, which some programs write as 512.0, from CSV or JSON.
func tokens(text []byte) (int64, Reason) {
	n, digits := leading(text)
	if digits == len(text) && digits > 0 && digits < 18 {
		return n, limited(n)
	}
	x, reason := number(text)
	switch {
	case reason != "":
		return 0, reason
	case x != math.Trunc(x):
		return 0, NotWhole
	case x > MaxTokens:
		return 0, Absurd
	}
	return int64(x), ""
}

func limited(n int64) Reason {
	if n > MaxTokens {
		return Absurd
	}
	return ""
}

// leading parses the leading digits of a text, as far as they fit.
func leading(text []byte) (n int64, digits int) {
	for digits < len(text) && digits < 18 {
		d := text[digits] - '0'
		if d > 9 {
			break
		}
		n = n*10 + int64(d)
		digits++
	}
	return n, digits
}

// number parses a finite, non-negative number.
func number(text []byte) (float64, Reason) {
	x, err := strconv.ParseFloat(string(text), 64)
	switch {
	case len(text) == 0:
		return 0, Missing
	case len(text) > 40 || bytes.ContainsAny(text, "xXpP_") || err != nil || math.IsNaN(x) || math.IsInf(x, 0):
		return 0, NotNumber
	case x < 0:
		return 0, Negative
	}
	return x, ""
}

// elapsed parses a time in a unit that is a power of ten in nanoseconds. It works on decimal digits, so that times
// written by this package are read back exactly.
func elapsed(text []byte, unit time.Duration) (time.Duration, Reason) {
	whole, i := leading(text)
	if i == 0 || i > 12 || i > 9 && unit == time.Second {
		return spelt(text, unit)
	}
	t := time.Duration(whole) * unit
	if i < len(text) && text[i] == '.' && i+1 < len(text) {
		i++
		for part := unit / 10; i < len(text) && text[i]-'0' <= 9; i++ {
			t += time.Duration(text[i]-'0') * part
			part /= 10
		}
	}
	if i < len(text) {
		return spelt(text, unit)
	}
	return inTime(t)
}

// spelt parses times such as 2.1e-05.
func spelt(text []byte, unit time.Duration) (time.Duration, Reason) {
	x, reason := number(text)
	if reason != "" {
		return 0, reason
	}
	if x = float64(x * float64(unit)); x > MaxSeconds*1e9 {
		return 0, Absurd
	}
	return time.Duration(x + 0.5), ""
}

func inTime(t time.Duration) (time.Duration, Reason) {
	if t > MaxSeconds*time.Second {
		return 0, Absurd
	}
	return t, ""
}

// named maps a name to a number: a number to itself, any other text to a number that no file contains.
func named(text []byte) uint64 {
	text = bytes.Trim(text, `"`)
	if len(text) == 0 || text[0] == '0' && len(text) > 1 || bytes.ContainsFunc(text, func(r rune) bool { return r < '0' || r > '9' }) {
		return hash(text) | 1<<63
	}
	if n, err := strconv.ParseUint(string(text), 10, 64); err == nil {
		return n
	}
	return hash(text) | 1<<63
}

// hash returns a hash of a text (FNV-1a, then mixed).
func hash[T string | []byte](text T) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return mix(h)
}
