package calibrate

import "math"

// Report is the outcome of a calibration.
type Report struct {
	Schema  string    `json:"schema"`
	Format  string    `json:"format"`
	Profile *Profile  `json:"profile"`
	Refused []Refusal `json:"refused,omitempty"`
	// Kept is the number of offsets of other devices carried over from an older file.
	Kept    int    `json:"kept,omitempty"`
	Written string `json:"written,omitempty"`
}

// Effect is an offset as a factor on its coefficient, with its standard error.
type Effect struct {
	Offset
	Factor, Error float64
}

// moved is the smallest offset shown, 2 %.
const moved = 0.02

// Effects returns the offsets found by this calibration, and the number of negligible ones.
func (r *Report) Effects() (out []Effect, still int) {
	for _, o := range r.Profile.Offsets[:len(r.Profile.Offsets)-r.Kept] {
		if math.Abs(o.Value) < moved {
			still++
			continue
		}
		out = append(out, o.effect())
	}
	return out, still
}
