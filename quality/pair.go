package quality

import "math"

// sample is the change between two rows, or between a row and its baseline, in percent.
type sample struct {
	low, mid, high float64
	to             *Row
}

// pairs appends the changes that a bench shows. A change from or to 16 bits compares a row with its own baseline; one
// between two formats compares two rows with the same baseline.
func (b *bench) pairs(from, to side, found []sample) []sample {
	switch {
	case (from.wide || to.wide) && b.source.Baseline != "":
		return found
	case from.wide:
		return b.fromBaseline(to, found)
	case to.wide:
		return b.toBaseline(from, found)
	}
	for _, a := range b.rows {
		if !from.holds(a.Format) {
			continue
		}
		for _, r := range b.rows {
			if to.holds(r.Format) && oneBaseline(a, r) {
				found = append(found, compared(r, a.Value, r.Value))
			}
		}
	}
	return found
}

func (b *bench) fromBaseline(to side, found []sample) []sample {
	for _, r := range b.rows {
		if r.Based && to.holds(r.Format) {
			found = append(found, compared(r, r.Baseline, r.Value))
		}
	}
	return found
}

func (b *bench) toBaseline(from side, found []sample) []sample {
	for _, r := range b.rows {
		if r.Based && from.holds(r.Format) {
			found = append(found, compared(r, r.Value, r.Baseline))
		}
	}
	return found
}

// oneBaseline reports whether two rows share a baseline. Rows of a table without baselines do; printed ones must agree
// to one in five thousand, which allows for baselines computed from rounded figures.
func oneBaseline(a, b *Row) bool {
	const apart = 1. / 5000
	if !a.Based || !b.Based {
		return a.Based == b.Based
	}
	return math.Abs(a.Baseline.Number/b.Baseline.Number-1) <= apart
}

// compared returns the change from a to b. Each may be off by half its last digit, and runs vary by the noise of the
// metric.
func compared(r *Row, a, b Figure) sample {
	noise := r.Metric.Noise
	if max(a.Number, b.Number) <= 1 { // printed as fractions, not as points
		noise /= 100
	}
	percent := func(a, b float64) float64 { return 100 * (b/a - 1) }
	return sample{
		low: percent(a.Number+a.half, b.Number-b.half-noise), mid: percent(a.Number, b.Number),
		high: percent(a.Number-a.half, b.Number+b.half+noise),
		to:   r,
	}
}
