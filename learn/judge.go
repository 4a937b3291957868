package learn

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall"
)

// measures maps units to their kind and scale. Kinds prevent mistaking a time for a size.
var measures = map[string]struct {
	kind  string
	worth float64
}{
	"b": {"size", 1}, "bytes": {"size", 1}, "kib": {"size", 1 << 10}, "mib": {"size", 1 << 20}, "gib": {"size", 1 << 30},
	"tib": {"size", 1 << 40},
	"kb":  {"size", 1e3}, "mb": {"size", 1e6}, "gb": {"size", 1e9}, "tb": {"size", 1e12}, "pb": {"size", 1e15},
	"µs": {"time", 1e-6}, "us": {"time", 1e-6}, "ms": {"time", 1e-3}, "s": {"time", 1}, "sec": {"time", 1}, "seconds": {"time", 1},
	"min": {"time", 60}, "minutes": {"time", 60},
	"h": {"time", 3600}, "hours": {"time", 3600},
	"%": {"share", 0.01}, "percent": {"share", 0.01}, "×": {"ratio", 1}, "x": {"ratio", 1}, "times": {"ratio", 1},
	"tok/s": {"pace", 1}, "tokens/s": {"pace", 1}, "t/s": {"pace", 1}, "gb/s": {"rate", 1e9}, "tb/s": {"rate", 1e12},
	"tflop": {"work", 1e12}, "gflop": {"work", 1e9}, "tflop/s": {"flops", 1e12}, "tflops": {"flops", 1e12}, "pflop/s": {"flops", 1e15},
	"pflops": {"flops", 1e15},
	"$":      {"money", 1}, "$/m": {"money", 1}, "bits": {"bits", 1}, "billion": {"count", 1e9}, "million": {"count", 1e6},
}

// Judge reports whether a typed answer is right. It is a number, in the question's unit unless it has its own, or a
// choice by word, letter or number. An unparsable answer is a *memwall.Error.
func (q *Question) Judge(typed string) (bool, error) {
	typed = strings.TrimSpace(typed)
	if len(q.Choices) > 0 {
		i := q.choice(typed)
		if i < 0 {
			return false, q.noAnswer(typed, "one of "+strings.Join(q.Choices, ", "))
		}
		return q.Choices[i] == q.Answer.Text, nil
	}
	x, ok := q.typed(typed)
	if !ok {
		return false, q.noAnswer(typed, "a number such as "+q.example())
	}
	return math.Abs(x-*q.Answer.Value) <= q.Within*math.Abs(*q.Answer.Value)*(1+1e-9), nil
}

func (q *Question) noAnswer(typed, want string) error {
	return &memwall.Error{Code: memwall.BadField, Field: "answer", Value: typed,
		Message: strconv.Quote(typed) + " is not an answer to this",
		Hint:    want}
}

// example returns an answer of the right form that reveals nothing.
func (q *Question) example() string {
	s, _ := written(12*max(1, scales[q.Unit]), q.Unit)
	if scales[q.Unit] < 1 && scales[q.Unit] > 0 {
		s, _ = written(12*scales[q.Unit], q.Unit)
	}
	return s
}

// choice returns the index of a choice given by its word, a, b, c … or 1, 2, 3 …; -1 if none.
func (q *Question) choice(typed string) int {
	w := strings.ToLower(typed)
	if i := slices.IndexFunc(q.Choices, func(c string) bool { return strings.ToLower(c) == w }); i >= 0 {
		return i
	}
	i := -1
	if n, err := strconv.Atoi(w); err == nil {
		i = n - 1
	} else if len(w) == 1 {
		i = int(w[0]) - 'a'
	}
	if i < 0 || i >= len(q.Choices) {
		return -1
	}
	return i
}

// typed parses a number with a unit of the question's kind, into bytes, seconds or a count.
func (q *Question) typed(s string) (float64, bool) {
	s = strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(s, "$"), ",", ""))
	n := len(s) - len(strings.TrimLeft(s, "0123456789."))
	x, err := strconv.ParseFloat(s[:n], 64)
	if err != nil {
		return 0, false
	}
	asked := measures[strings.ToLower(q.Unit)]
	name := strings.TrimSpace(s[n:])
	m, known := measures[name]
	switch {
	case name == "" && asked.worth > 0:
		return x * asked.worth, true
	case name == "" || !known && asked.kind == "":
		return x, true // a bare count
	case !known && strings.HasPrefix(name, "per "):
		return x * max(1, asked.worth), true
	}
	return x * m.worth, known && m.kind == asked.kind
}
