package ggml

import "github.com/memwall/memwall/model"

// Layers repeat, alone or as a pattern (five sliding layers and a full one). Lowering a few periods of each
// repetition is enough: when two periods in a row have the same events, they left the same state, so that
// every later one has these events too. The last period is kept as it is, because what follows it differs;
// so is the last layer, which drops rows.

const (
	keptPeriods = 4  // two to settle, one that must equal the one before it, and the last
	maxPeriod   = 16 // layers
)

// repetition is a run of equal periods: layers of the shortened stack from first on, times of them in the
// whole stack.
type repetition struct{ first, period, times int }

// Compile lowers a model's decoder, schedules it on a site and compiles its lifetimes.
func Compile(m *model.Model, s Shape, site *Site) (*Compiled, error) {
	layers := site.classes(m.Decoder())
	// slots sometimes alternate, so that a period only settles together with the next
	for factor := 1; factor <= 2; factor++ {
		short, reps := shorten(layers, factor)
		if 2*len(short) > len(layers) {
			break // too little to gain for an attempt
		}
		g, err := lower(m, short, s, site)
		if err != nil {
			return nil, err
		}
		if c := g.Compile(site); c.lengthen(reps) {
			return c, nil
		}
	}
	g, err := Lower(m, s, site)
	if err != nil {
		return nil, err
	}
	return g.Compile(site), nil
}

// shorten keeps some periods of every repetition of at least factor times the shortest period.
func shorten(layers []uint16, factor int) (short []int, reps []repetition) {
	end := len(layers) - 1
	for i := 0; i < end; {
		period, times := longest(layers[i:end], factor)
		if times <= keptPeriods {
			short = append(short, i)
			i++
			continue
		}
		reps = append(reps, repetition{len(short), period, times})
		for k := range keptPeriods * period {
			short = append(short, i+k)
		}
		i += times * period
	}
	for i := max(end, 0); i < len(layers); i++ {
		short = append(short, i)
	}
	return short, reps
}

// longest finds the period at the start of a stack that saves most layers, and how often it repeats.
func longest(layers []uint16, factor int) (period, times int) {
	saved := 0
	for p := factor; p <= maxPeriod*factor; p += factor {
		same := p
		for same < len(layers) && layers[same] == layers[same-p] {
			same++
		}
		if n := min(same, len(layers)) / p; (n-keptPeriods)*p > saved {
			period, times, saved = p, n, (n-keptPeriods)*p
		}
	}
	return period, times
}

// lengthen repeats the periods that settled; false when one did not at some spot.
func (c *Compiled) lengthen(reps []repetition) bool {
	orders := make([][]int16, len(c.Spots))
	for i := range c.Spots {
		if orders[i] = lengthened(c.Spots[i].Program.Order, reps); orders[i] == nil {
			return false
		}
	}
	for i := range c.Spots {
		c.Spots[i].Program.Order = orders[i]
	}
	return true
}

// lengthened is nil when a period did not settle. An order has a segment before the layers and one after
// them.
func lengthened(order []int16, reps []repetition) (out []int16) {
	const before = 1
	at := 0
	for _, r := range reps {
		settled := before + r.first + (keptPeriods-2)*r.period
		next := settled + r.period
		for i := settled; i < next; i++ {
			if order[i] != order[i-r.period] {
				return nil
			}
		}
		out = append(out, order[at:next]...)
		for range r.times - keptPeriods {
			out = append(out, order[settled:next]...)
		}
		at = next
	}
	return append(out, order[at:]...)
}
