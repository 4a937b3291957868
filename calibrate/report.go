package calibrate

import "math"

// Report is what a calibration did.
type Report struct {
	Schema  string    `json:"schema"`
	Format  string    `json:"format"`
	Profile *Profile  `json:"profile"`
	Refused []Refusal `json:"refused,omitempty"`
	// Kept is how many offsets of other devices an older file had, that the new one has too.
	Kept    int    `json:"kept,omitempty"`
	Written string `json:"written,omitempty"`
}

// Effect is what an offset does to its coefficient, as a factor with its standard error.
type Effect struct {
	Offset
	Factor, Error float64
}

// moved is the least offset that is shown: a fiftieth.
const moved = 0.02

// Effects of the offsets that this calibration found, and how many others hardly moved.
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
