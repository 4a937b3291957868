package startup

import (
	"math"
	"strconv"
	"strings"
)

// Figure is a number as a log prints it.
type Figure struct {
	// ID says what it is, in one word for all engines: weights, kv_available, kv_tokens, …
	ID     string
	Name   string // in the engine's words
	Device string // rank or device as the log calls it
	Unit   string
	Text   string // as printed, unit left out
	Value  float64
	Digits int // behind the point
	Line   int
}

// Half is how far the value may be from what was rounded to it.
func (f *Figure) Half() float64 { return math.Pow(10, -float64(f.Digits)) / 2 }

// Add keeps a figure that begins with a number at rest, unless there are too many. It gives what follows.
func (l *Log) Add(id, name, unit string, at *Line, rest string) (after string, ok bool) {
	text, value, digits, after := Number(rest)
	if text == "" {
		return rest, false
	}
	l.Signs++
	if len(l.Figures) < MaxFigures {
		l.Figures = append(l.Figures, Figure{ID: id, Name: name, Device: at.Rank, Unit: unit, Text: text, Value: value, Digits: digits,
			Line: at.Number})
	}
	return after, true
}

// Find gives the first figure with an ID; nil when the log has none.
func (l *Log) Find(id string) *Figure {
	for i := range l.Figures {
		if l.Figures[i].ID == id {
			return &l.Figures[i]
		}
	}
	return nil
}

// Number reads a decimal number with an optional sign and commas between thousands, after blanks: its
// text, its value, the digits behind its point, and what follows. The text is "" when there is none.
func Number(s string) (text string, value float64, digits int, rest string) {
	s = strings.TrimLeft(s, " \t=:")
	i := 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	first, point := i, -1
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
		case c == ',' && point < 0 && thousands(s[i+1:]) && i > first:
		case c == '.' && point < 0 && i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9' && i > first:
			point = i
		default:
			return number(s, first, i, point)
		}
	}
	return number(s, first, i, point)
}

func number(s string, first, end, point int) (string, float64, int, string) {
	const longest = 32
	if end == first || end > longest {
		return "", 0, 0, s
	}
	x, err := strconv.ParseFloat(strings.ReplaceAll(s[:end], ",", ""), 64)
	if err != nil {
		return "", 0, 0, s
	}
	n := 0
	if point >= 0 {
		n = end - point - 1
	}
	return s[:end], x, n, s[end:]
}

// thousands: three digits, and then no fourth.
func thousands(s string) bool {
	d := digits(s)
	return len(d) == 3
}

// After gives what follows the first anchor that a text holds.
func After(text string, anchors ...string) (rest string, ok bool) {
	for _, a := range anchors {
		if i := strings.Index(text, a); i >= 0 {
			return text[i+len(a):], true
		}
	}
	return "", false
}

// Integer reads a whole number from 0 to 2^53.
func Integer(s string) (int64, bool) {
	text, v, d, _ := Number(s)
	if text == "" || d > 0 || v < 0 || v > 1<<53 {
		return 0, false
	}
	return int64(v), true
}
