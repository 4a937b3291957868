package diagnose

import (
	"math"
	"strings"

	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/unit"
)

// units as messages write them. torch, ggml, XLA, Ray and the kernel all mean powers of 1,024, whatever they write.
var units = []struct {
	word string
	of   unit.Bytes
}{
	{"bytes", 1}, {"Bytes", 1}, {"byte", 1}, {"megabytes", unit.MiB}, {"Gb", unit.GiB}, {"Mb", unit.MiB},
	{"GiB", unit.GiB}, {"MiB", unit.MiB}, {"KiB", unit.KiB}, {"TiB", unit.GiB << 10},
	{"GB", unit.GiB}, {"MB", unit.MiB}, {"KB", unit.KiB}, {"kB", unit.KiB}, {"kb", unit.KiB}, {"TB", unit.GiB << 10},
	{"Ti", unit.GiB << 10}, {"Gi", unit.GiB}, {"Mi", unit.MiB}, {"Ki", unit.KiB},
	{"G", unit.GiB}, {"M", unit.MiB}, {"K", unit.KiB}, {"B", 1},
}

// most exceeds any plausible figure.
const most = 1 << 58

// amount parses a number with a unit at the start of a text. If bare is set, a number without a unit is in bytes.
func amount(s string, bare bool) (a Amount, rest string, ok bool) {
	text, value, digits, rest := startup.Number(strings.TrimLeft(s, "("))
	if text == "" || value < 0 {
		return a, s, false
	}
	scale, after, ok := unitOf(rest)
	if of, found := strings.CutPrefix(rest, "/"); !ok && found { // "31.4/47.4 GiB"
		_, _, _, of = startup.Number(of)
		scale, after, ok = unitOf(of)
	}
	if !ok {
		if !bare {
			return a, s, false
		}
		scale, after = 1, rest
	}
	bytes := value * float64(scale)
	if !(bytes < most) {
		return Amount{Bytes: math.MaxInt64}, s, false
	}
	a = Amount{Bytes: unit.Bytes(math.Round(bytes)), Known: true}
	if scale > 1 {
		a.Half = unit.Bytes(math.Ceil(float64(scale) * math.Pow(10, -float64(digits)) / 2))
	}
	return a, after, true
}

func unitOf(s string) (scale unit.Bytes, rest string, ok bool) {
	s = strings.TrimLeft(s, " ")
	for _, u := range units {
		rest, ok := strings.CutPrefix(s, u.word)
		if ok && (rest == "" || !letter(rest[0])) {
			return u.of, rest, true
		}
	}
	return 0, s, false
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// amountBefore parses the number with a unit immediately before an anchor.
func amountBefore(text, anchor string) (Amount, bool) {
	i := strings.Index(text, anchor)
	if i < 0 {
		return Amount{}, false
	}
	words := strings.Fields(text[max(0, i-64):i])
	for n := 1; n <= 2 && n <= len(words); n++ {
		at := strings.Join(words[len(words)-n:], " ")
		if a, rest, ok := amount(at, false); ok && strings.Trim(rest, " ,;") == "" {
			return a, true
		}
	}
	return Amount{}, false
}
