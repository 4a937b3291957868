package unit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A scale is a suffix and its value in base units.
type scale struct {
	suffix string
	worth  float64
}

// Longest suffixes first within a prefix letter, so that "GiB" is not read as "B".
var byteScales = []scale{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40}, {"pib", 1 << 50},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12}, {"pb", 1e15}, {"b", 1}, {"", 1},
}

var lengthScales = []scale{{"k", 1 << 10}, {"m", 1 << 20}, {"", 1}}

var countScales = []scale{{"k", 1e3}, {"m", 1e6}, {"b", 1e9}, {"t", 1e12}, {"", 1}}

var flopScales = []scale{
	{"gflop/s", 1e9}, {"tflop/s", 1e12}, {"pflop/s", 1e15},
	{"gflops", 1e9}, {"tflops", 1e12}, {"pflops", 1e15},
	{"gops", 1e9}, {"tops", 1e12}, {"pops", 1e15},
}

// ParseBytes parses "24GiB", "80 GB", "512MiB", "1e9" or "1024". Decimal and binary prefixes keep their meanings, and
// the result is rounded to the nearest byte; a number without a unit is in bytes. Negative and overflowing sizes, and
// fractions of a byte, are errors.
func ParseBytes(s string) (Bytes, error) {
	const want = "a size such as 24GiB or 80GB"
	if _, worth, ok := split(strings.TrimSpace(s), byteScales); ok && worth > 1 {
		return wholeBytes(s, want)
	}
	x, err := parse(s, byteScales, want)
	return Bytes(x), err
}

// wholeBytes parses a size with a prefix, rounding to the nearest byte: 9.4GiB, for example, is not integral.
func wholeBytes(s, want string) (Bytes, error) {
	x, err := parseFloat(s, byteScales, want)
	switch {
	case err != nil:
		return 0, err
	case x >= 1<<63:
		return 0, fmt.Errorf("%q is too large", s)
	}
	return Bytes(exact(s, byteScales, math.Round(x))), nil
}

// ParseLength parses a number of tokens, where k means 1,024: "32k" is 32,768.
func ParseLength(s string) (int64, error) {
	return parse(s, lengthScales, "a length such as 8192 or 32k")
}

// ParseCount parses a count with decimal suffixes k, M, B and T: "10M" is 10,000,000.
func ParseCount(s string) (int64, error) {
	return parse(s, countScales, "a count such as 1000, 10M or 2T")
}

// ParseByteRate parses "3.35TB/s" or "900GB/s".
func ParseByteRate(s string) (ByteRate, error) {
	const want = "a rate such as 900GB/s or 3.35TB/s"
	body, ok := cutSuffixFold(strings.TrimSpace(s), "/s")
	if !ok {
		return 0, fmt.Errorf("%q is not %s", s, want)
	}
	x, err := parseFloat(body, byteScales, want)
	return ByteRate(x), err
}

// ParseFLOPRate parses "80TFLOPS", "989 TFLOP/s" or "1.9PFLOPS".
func ParseFLOPRate(s string) (FLOPRate, error) {
	x, err := parseFloat(s, flopScales, "a peak such as 80TFLOPS")
	return FLOPRate(x), err
}

func parse(s string, scales []scale, want string) (int64, error) {
	x, err := parseFloat(s, scales, want)
	switch {
	case err != nil:
		return 0, err
	case x >= 1<<63:
		return 0, fmt.Errorf("%q is too large", s)
	case x != math.Trunc(x):
		return 0, fmt.Errorf("%q is not a whole number", s)
	}
	return exact(s, scales, x), nil
}

// exact reparses plain integers beyond 2^53, which a float64 cannot represent.
func exact(s string, scales []scale, x float64) int64 {
	num, worth, _ := split(strings.TrimSpace(s), scales)
	if n, err := strconv.ParseInt(num, 10, 64); err == nil {
		if p, ok := MulOK(n, int64(worth)); ok {
			return p
		}
	}
	return int64(x)
}

func parseFloat(s string, scales []scale, want string) (float64, error) {
	num, worth, ok := split(strings.TrimSpace(s), scales)
	if !ok {
		return 0, fmt.Errorf("%q is not %s", s, want)
	}
	x, err := strconv.ParseFloat(num, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || strings.ContainsAny(num, "xXpP_") {
		return 0, fmt.Errorf("%q is not %s", s, want)
	}
	if x < 0 {
		return 0, fmt.Errorf("%q is negative", s)
	}
	return x * worth, nil
}

func split(s string, scales []scale) (num string, worth float64, ok bool) {
	for _, c := range scales {
		if body, ok := cutSuffixFold(s, c.suffix); ok {
			return strings.TrimSpace(body), c.worth, body != ""
		}
	}
	return "", 0, false
}

func cutSuffixFold(s, suffix string) (string, bool) {
	if len(s) < len(suffix) || !strings.EqualFold(s[len(s)-len(suffix):], suffix) {
		return s, false
	}
	return s[:len(s)-len(suffix)], true
}
