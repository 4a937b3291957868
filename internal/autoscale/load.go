package autoscale

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memwall/memwall/fault"
	"github.com/memwall/memwall/scale"
	"github.com/memwall/memwall/unit"
)

// Bounds of a file of a load: a month of seconds is not a load of minutes, and no line of one is long.
const (
	mostBytes = 32 << 20
	mostParts = 1 << 19
)

// List reads rates in equal parts of a day.
func List(text string) (*scale.Load, error) {
	l := &scale.Load{}
	for word := range strings.SplitSeq(text, ",") {
		x, err := unit.ParseNumber(strings.TrimSpace(word))
		if err != nil {
			return nil, &fault.Error{Problem: err.Error(), Fix: "2,1,1,4,9,8"}
		}
		l.Rates = append(l.Rates, x)
	}
	l.Part = 86400 / float64(len(l.Rates))
	return l, checked(l)
}

func checked(l *scale.Load) error {
	if err := l.Check(); err != nil {
		return &fault.Error{Problem: err.Error(), Fix: "a day in minutes: times and requests per second"}
	}
	if l.Peak() == 0 {
		return &fault.Error{Problem: "nobody asks at any time", Fix: "requests per second, such as 4"}
	}
	return nil
}

// moment is a line of a table: when, and how many requests a second.
type moment struct {
	at, rate float64
	line     int
}

// Table reads lines of a time and a rate, parted by commas, semicolons or tabs; a first line may name the columns. Without times each line
// is an equal part of a day.
func Table(r io.Reader) (*scale.Load, error) {
	t := &table{timeAt: -1}
	lines := bufio.NewScanner(io.LimitReader(r, mostBytes+1))
	lines.Buffer(make([]byte, 0, 4096), 1<<16)
	size := 0
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if size += len(lines.Text()) + 1; size > mostBytes {
			return nil, fault.In("", n, "the file is larger than 32 MB", "a line for each minute")
		}
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		if err := t.read(n, text); err != nil {
			return nil, err
		}
	}
	if err := lines.Err(); err != nil {
		return nil, &fault.Error{Problem: readable(err), Fix: "lines of a time and a rate"}
	}
	return t.load()
}

func readable(err error) string {
	if errors.Is(err, bufio.ErrTooLong) {
		return "a line has more than 65,536 bytes"
	}
	return err.Error()
}

// table is what was read of one.
type table struct {
	moments        []moment
	columns        int
	timeAt, rateAt int
	counted        bool   // requests of a part, not a rate
	unit           string // of times that are numbers, as their column is named
}

// columns by what people call them.
var (
	timeNames  = []string{"time", "timestamp", "ts", "at", "at_s", "second", "seconds", "minute", "minutes", "hour", "date"}
	rateNames  = []string{"requests_per_s", "rate", "rps", "qps", "requests/s", "value"}
	countNames = []string{"requests", "count", "arrivals"}
)

func (t *table) read(n int, text string) error {
	cells := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' || r == '\t' })
	for i := range cells {
		cells[i] = strings.Trim(strings.TrimSpace(cells[i]), `"`)
	}
	if len(cells) == 0 {
		return fault.In("", n, "nothing stands between the commas", "a time and a rate")
	}
	if t.columns == 0 {
		t.columns = len(cells)
		if t.head(cells) {
			return nil
		}
	}
	if len(cells) <= max(t.timeAt, t.rateAt) {
		return fault.In("", n, fmt.Sprintf("%d columns, where lines before have %d", len(cells), t.columns), "a time and a rate")
	}
	rate, err := strconv.ParseFloat(cells[t.rateAt], 64)
	switch {
	case err != nil || math.IsNaN(rate) || math.IsInf(rate, 0):
		return fault.In("", n, fmt.Sprintf("%.40q is not a rate", cells[t.rateAt]), "requests per second, such as 4.5")
	case rate < 0:
		return fault.In("", n, fmt.Sprintf("a rate of %g is less than nothing", rate), "0 where nobody asks")
	}
	at := float64(len(t.moments))
	if t.timeAt >= 0 {
		if at, err = clock(cells[t.timeAt], t.unit); err != nil {
			return fault.In("", n, err.Error(), "seconds, 07:30, or 2026-07-20T07:30:00Z")
		}
	}
	if len(t.moments) == mostParts {
		return fault.In("", n, fmt.Sprintf("more than %d lines", mostParts), "a line for each minute")
	}
	t.moments = append(t.moments, moment{at, rate, n})
	return nil
}

// head reads the names of columns; false where the line has figures already.
func (t *table) head(cells []string) bool {
	if _, err := strconv.ParseFloat(cells[len(cells)-1], 64); err == nil {
		if t.rateAt = len(cells) - 1; len(cells) > 1 {
			t.timeAt = 0
		}
		return false
	}
	t.rateAt = len(cells) - 1
	for i, c := range cells {
		c = strings.ToLower(c)
		switch {
		case slices.Contains(timeNames, c):
			t.timeAt, t.unit = i, c
		case slices.Contains(rateNames, c):
			t.rateAt = i
		case slices.Contains(countNames, c):
			t.rateAt, t.counted = i, true
		}
	}
	return true
}

// clock reads a time in seconds: a number in the unit of its column, an hour of a day, or a date.
func clock(s, unit string) (float64, error) {
	if x, err := strconv.ParseFloat(s, 64); err == nil {
		if math.Abs(x) > 1e12 || math.IsNaN(x) {
			return 0, fmt.Errorf("%.40q is not a time", s)
		}
		switch {
		case strings.HasPrefix(unit, "minute"):
			x *= 60
		case unit == "hour":
			x *= 3600
		}
		return x, nil
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		if t, err := time.Parse(layout, s); err == nil {
			return float64(t.Hour()*3600 + t.Minute()*60 + t.Second()), nil
		}
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04"} {
		if t, err := time.Parse(layout, s); err == nil {
			return float64(t.Unix()), nil
		}
	}
	return 0, fmt.Errorf("%.40q is not a time", s)
}

// load is what the lines say, where each follows the one before by the same time.
func (t *table) load() (*scale.Load, error) {
	l := &scale.Load{}
	switch n := len(t.moments); {
	case n == 0:
		return nil, &fault.Error{Problem: "no line has a rate", Fix: "lines of a time and a rate"}
	case t.timeAt < 0:
		l.Part = 86400 / float64(n)
	case n == 1:
		return nil, fault.In("", t.moments[0].line,
			"one line with a time says nothing of how long it lasts", "a line for each minute")
	default:
		l.Part = t.moments[1].at - t.moments[0].at
	}
	for i := range t.moments {
		m := &t.moments[i]
		if i > 0 && t.timeAt >= 0 {
			if err := follows(&t.moments[i-1], m, l.Part); err != nil {
				return nil, err
			}
		}
		rate := m.rate
		if t.counted {
			rate /= l.Part
		}
		l.Rates = append(l.Rates, rate)
	}
	return l, checked(l)
}

// follows checks that a moment comes a part after another. Hours of a day begin anew at midnight.
func follows(before, m *moment, part float64) error {
	gap := m.at - before.at
	if gap < 0 && math.Abs(gap+86400-part) < 1e-3*part {
		m.at += 86400 * math.Ceil((before.at-m.at)/86400)
		gap = m.at - before.at
	}
	const fix = "a line for each part of the time, 0 where nobody asks"
	switch {
	case gap == 0:
		return fault.In("", m.line, fmt.Sprintf("the same time as line %d: parts of 0 s", before.line), fix)
	case gap < 0:
		return fault.In("", m.line, fmt.Sprintf("the clock jumps back by %s", unit.Seconds(-gap)), "lines in the order of time")
	case math.Abs(gap-part) > 1e-3*part:
		return fault.In("", m.line,
			fmt.Sprintf("the clock jumps by %s, where lines before are %s apart", unit.Seconds(gap), unit.Seconds(part)), fix)
	}
	return nil
}
