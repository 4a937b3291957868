package quality

import "math"

// sample is a change between two rows, or between a row and its baseline, in percent.
type sample struct {
	low, mid, high float64
	to             *Row
}

// pairs adds what the rows of a bench say of a change. From 16 bits, or back, a row is compared with its own
// baseline; between two formats, two rows with one baseline are.
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

// oneBaseline: two rows of a table without baselines stand beside each other; printed ones agree to one in five
// thousand, as baselines do that are differences of printed figures.
func oneBaseline(a, b *Row) bool {
	const apart = 1. / 5000
	if !a.Based || !b.Based {
		return a.Based == b.Based
	}
	return math.Abs(a.Baseline.Number/b.Baseline.Number-1) <= apart
}

// compared is the change from a to b. Either may be off by half of its last digit; runs differ by the noise of the
// metric.
func compared(r *Row, a, b Figure) sample {
	noise := r.Metric.Noise
	if max(a.Number, b.Number) <= 1 { // printed as shares, not as points
		noise /= 100
	}
	percent := func(a, b float64) float64 { return 100 * (b/a - 1) }
	return sample{
		low: percent(a.Number+a.half, b.Number-b.half-noise), mid: percent(a.Number, b.Number),
		high: percent(a.Number-a.half, b.Number+b.half+noise),
		to:   r,
	}
}
