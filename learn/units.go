package learn

import (
	"math"
	"strconv"
	"strings"

	"github.com/memwall/memwall/unit"
)

// scales maps units to their values in bytes, seconds, operations per second or fractions.
var scales = map[string]float64{
	"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "PB": 1e15,
	"µs": 1e-6, "ms": 1e-3, "s": 1, "h": 3600, "%": 0.01, "tok/s": 1, "GB/s": 1e9, "TB/s": 1e12, "TFLOP/s": 1e12, "TFLOP": 1e12,
	"GFLOP": 1e9, "FLOP/B": 1,
	"bits": 1, "billion": 1e9, "million": 1e6, "W": 1, "J": 1, "J/token": 1, "kWh": 1, "days": 1, "$": 1, "$/M": 1, "×": 1, "cycles": 1,
	"points": 1,
}

// forms are ways to format a number without a unit: integral, as a length, in a suitable unit.
var forms = map[string]func(float64) string{
	"":       digits,
	"count":  func(x float64) string { return unit.Count(int64(math.Round(x))) },
	"length": func(x float64) string { return unit.Length(int64(math.Round(x))) },
	"bytes":  func(x float64) string { return fitting(x, 1<<10, "B", "KiB", "MiB", "GiB", "TiB") },
	"size":   func(x float64) string { return fitting(x, 1e3, "B", "KB", "MB", "GB", "TB", "PB") },
	"rate":   func(x float64) string { return fitting(x, 1e3, "B/s", "KB/s", "MB/s", "GB/s", "TB/s") },
	"flops": func(x float64) string {
		return fitting(x, 1e3, "FLOP/s", "KFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s")
	},
	"time":  func(x float64) string { return unit.Seconds(x).String() },
	"power": power,
}

// written formats a number in the unit of a lesson: "GiB" appends the unit, "in GiB" leaves it to the column head.
func written(x float64, name string) (string, bool) {
	if f := forms[name]; f != nil {
		return f(x), true
	}
	bare, only := strings.CutPrefix(name, "in ")
	scale := scales[bare]
	if scale == 0 {
		return "", false
	}
	s := scaled(x/scale, bare)
	switch {
	case only:
		return s, true
	case bare == "×":
		return s + " ×", true
	case strings.HasPrefix(bare, "$"):
		return "$" + s + strings.Replace(bare[1:], "/M", " per M", 1), true
	}
	return s + " " + bare, true
}

// scaled formats rates and money with two digits below 100, and everything else with three.
func scaled(x float64, name string) string {
	if strings.HasPrefix(name, "$") || name == "tok/s" || name == "J/token" || name == "%" {
		return trimmed(unit.Rate(x))
	}
	return digits(x)
}

// digits formats three digits without trailing zeros; integers stay whole.
func digits(x float64) string {
	switch {
	case x < 0:
		return "−" + digits(-x)
	case x == math.Trunc(x) && x < 1e15:
		return unit.Count(int64(x))
	case x >= 1000:
		return unit.Count(int64(math.Round(x)))
	}
	return trimmed(unit.Significant(x, 3))
}

func trimmed(s string) string {
	if strings.Contains(s, ".") {
		return strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// fitting formats a number in the largest unit that it reaches.
func fitting(x, step float64, units ...string) string {
	i := 0
	for ; i+1 < len(units) && math.Abs(x) >= step; i++ {
		x /= step
	}
	return digits(x) + " " + units[i]
}

// power formats a number of any magnitude: 65,504 and 3.4e38.
func power(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e6 || x >= 1e-3 && x < 1e6 {
		return digits(x)
	}
	head, exp, _ := strings.Cut(strconv.FormatFloat(x, 'e', 2, 64), "e")
	return head + "e" + strings.TrimPrefix(exp[:1], "+") + strings.TrimLeft(exp[1:], "0")
}
