package unit

import (
	"math"
	"testing"
)

func TestParseSeconds(t *testing.T) {
	for text, want := range map[string]float64{"500ms": 0.5, "30": 30, "30s": 30, "10min": 600, "10m": 600, "1.5h": 5400, "2days": 172800,
		"250 us": 250e-6, "3 seconds": 3} {
		got, err := ParseSeconds(text)
		if err != nil || math.Abs(float64(got)-want) > 1e-12 {
			t.Errorf("%q: %v, %v; want %v", text, float64(got), err, want)
		}
	}
	for _, text := range []string{"", "-1s", "NaN", "soon", "0x10", "1e400s", "ms"} {
		if got, err := ParseSeconds(text); err == nil {
			t.Errorf("%q: %v, want an error", text, got)
		}
	}
}

func TestParseRate(t *testing.T) {
	for text, want := range map[string]float64{"4": 4, "4/s": 4, "90/min": 1.5, "3600 / h": 1, "0.25": 0.25} {
		if got, err := ParseRate(text); err != nil || math.Abs(got-want) > 1e-12 {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"0", "-4", "NaN", "4/fortnight", ""} {
		if got, err := ParseRate(text); err == nil {
			t.Errorf("%q: %v, want an error", text, got)
		}
	}
}
