package unit

import (
	"fmt"
	"strings"
)

var plainScales = []scale{{"", 1}}

// ParseNumber parses a non-negative number without a unit.
func ParseNumber(s string) (float64, error) {
	return parseFloat(s, plainScales, "a number such as 0.5")
}

// Longest suffixes first, so that "2days" is not read as seconds.
var timeScales = []scale{
	{"milliseconds", 1e-3}, {"seconds", 1}, {"minutes", 60}, {"hours", 3600}, {"days", 86400}, {"sec", 1}, {"min", 60},
	{"ms", 1e-3}, {"us", 1e-6}, {"µs", 1e-6}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}, {"", 1},
}

// ParseSeconds parses a duration: 500ms, 0.5s, 10min, 1h. A number without a unit is in seconds.
func ParseSeconds(s string) (Seconds, error) {
	x, err := parseFloat(s, timeScales, "a time such as 500ms, 30s or 10min")
	return Seconds(x), err
}

var perScales = []scale{{"/s", 1}, {"/sec", 1}, {"/min", 1.0 / 60}, {"/m", 1.0 / 60}, {"/h", 1.0 / 3600}, {"/d", 1.0 / 86400},
	{"/day", 1.0 / 86400}, {"", 1}}

// ParseRate parses an event rate into events per second: 4 or 4/s, 90/min, 1000/h.
func ParseRate(s string) (float64, error) {
	x, err := parseFloat(strings.ReplaceAll(s, " ", ""), perScales, "a rate such as 4, 90/min or 1000/h")
	if err == nil && x == 0 {
		return 0, fmt.Errorf("%q is never", s)
	}
	return x, err
}

// Milliseconds returns the duration in milliseconds.
func (s Seconds) Milliseconds() float64 { return 1000 * float64(s) }
