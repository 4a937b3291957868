package trust

import (
	"bytes"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"
)

// inputs are made one by one.
type inputs = iter.Seq[[]byte]

// all gives several, one after the other.
func all(of ...inputs) inputs {
	return func(yield func([]byte) bool) {
		for _, in := range of {
			for b := range in {
				if !yield(b) {
					return
				}
			}
		}
	}
}

func texts(list ...string) inputs {
	return func(yield func([]byte) bool) {
		for _, s := range list {
			if !yield([]byte(s)) {
				return
			}
		}
	}
}

// cut is the seed, ended at every step-th byte.
func cut(seed []byte, step int) inputs {
	return func(yield func([]byte) bool) {
		for n := 0; n < len(seed); n += step {
			if !yield(seed[:n:n]) {
				return
			}
		}
	}
}

// struck is the seed with a piece written over every step-th byte, for each of the pieces.
func struck(seed []byte, step int, pieces ...string) inputs {
	return func(yield func([]byte) bool) {
		for at := 0; at < len(seed); at += step {
			for _, p := range pieces {
				b := append(bytes.Clone(seed[:at]), p...)
				if rest := at + len(p); rest < len(seed) {
					b = append(b, seed[rest:]...)
				}
				if !yield(b) {
					return
				}
			}
		}
	}
}

// put is the seed with a piece put in before every step-th byte, for each of the pieces.
func put(seed []byte, step int, pieces ...string) inputs {
	return func(yield func([]byte) bool) {
		for at := 0; at <= len(seed); at += step {
			for _, p := range pieces {
				if !yield(slices.Concat(seed[:at], []byte(p), seed[at:])) {
					return
				}
			}
		}
	}
}

// lines is a text with each of its lines left out, twice, last, and very long.
func lines(seed string) inputs {
	return func(yield func([]byte) bool) {
		l := strings.SplitAfter(seed, "\n")
		for i := range l {
			before, after := strings.Join(l[:i], ""), strings.Join(l[i+1:], "")
			for _, s := range []string{before + after, before + l[i] + l[i] + after, before + after + l[i],
				before + strings.Repeat(strings.TrimSuffix(l[i], "\n"), 500) + after} {
				if !yield([]byte(s)) {
					return
				}
			}
		}
	}
}

// Bytes that mean something in texts, and pieces that have broken readers.
var (
	marks  = []string{"\x00", "\"", "{", "}", "[", "]", ",", ":", "\\", "\xff", "9", "-", "\n", " ", "#", "'"}
	pieces = []string{"\ufeff", "\r\n", "\t", "\u202e", "\u009b", "\xed\xa0\x80", "1e999", "-0", "NaN", "Infinity", "0x7fffffffffffffff",
		"18446744073709551616", "/*", "<!--", "${x}", "%s%n", "../../etc/passwd", "&a *a", "!!python/object:os.system", "<<: *a"}
)

// values are what may stand in place of any value of JSON.
var values = []string{`null`, `true`, `""`, `"x"`, `"\u0000"`, `"\u202e"`, `"NaN"`, `-1`, `0`, `1`, `0.5`, `1e308`, `-1e308`, `1e-320`, `1e400`, `9007199254740993`, `9223372036854775807`, `9223372036854775808`, `-9223372036854775808`,
	`[]`, `[1]`, `[null]`, `[[[]]]`, `{}`, `{"a":{}}`, strings.Repeat("[", 300) + strings.Repeat("]", 300), `"` + strings.Repeat("x", 5000) + `"`, `[` + strings.Repeat("1,", 5000) + `1]`}

// members is an object of JSON with each of its members left out, twice, and of each of the values.
func members(object string) inputs {
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(object), &m); err != nil {
		panic(object)
	}
	names := slices.Sorted(maps.Keys(m))
	write := func(without string, more ...string) []byte {
		var all []string
		for _, n := range names {
			if n != without {
				all = append(all, `"`+n+`":`+string(m[n]))
			}
		}
		return []byte("{" + strings.Join(append(all, more...), ",") + "}")
	}
	return func(yield func([]byte) bool) {
		for _, n := range names {
			if !yield(write(n)) || !yield(write("", `"`+n+`":`+string(m[n]))) || !yield(write("", `"`+n+`":7`)) {
				return
			}
			for _, v := range values {
				if !yield(write(n, `"`+n+`":`+v)) {
					return
				}
			}
		}
	}
}

// nested is a text within many others.
func nested(open, middle, shut string, deep int) string {
	return strings.Repeat(open, deep) + middle + strings.Repeat(shut, deep)
}
