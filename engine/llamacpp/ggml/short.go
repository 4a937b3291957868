package ggml

import (
	"errors"
	"fmt"
	"slices"

	"github.com/memwall/memwall/model"
)

// Layers repeat, alone or as a pattern (five sliding layers and a full one). Lowering a few periods of each
// repetition is enough: when two periods in a row have the same events, they left the same state, so that
// every later one has these events too. The last period is kept as it is, because what follows it differs;
// so is the last layer, which drops rows.

const (
	keptPeriods = 4  // two to settle, one that must equal the one before it, and the last
	maxPeriod   = 16 // layers
	maxFactor   = 2  // slots sometimes alternate, so that a period only settles together with the next
)

// repetition is a run of equal periods: layers of the shortened stack from first on, times of them in the
// whole stack. run is the run's number in the whole stack.
type repetition struct{ first, period, times, run int }

// ErrNoLayers is what an unknown architecture has: tensors of a file, and no layer that says what they do.
var ErrNoLayers = errors.New("the graph of an unknown architecture")

func (lib *Library) compile(m *model.Model, s Shape, site *Site) (c *Compiled, err error) {
	if len(m.Decoder().Layers) == 0 {
		return nil, ErrNoLayers
	}
	if !Checked(m.Family) {
		defer func() {
			if r := recover(); r != nil {
				c, err = nil, noRule(m.Family, fmt.Sprintf("its forms (%v)", r))
			}
		}()
	}
	layers := deepened(site.classes(m.Decoder()), familyQuirks[m.Family].deepStack)
	runs := runsOf(layers)
	factors := firstFactors(runs, site)
	for range maxFactor {
		short, reps := shorten(len(layers), runs, factors)
		if 3*len(short) > 2*len(layers) {
			break // too little to gain for an attempt
		}
		c, err := lib.compiled(m, short, layers, s, site)
		if err != nil {
			return nil, err
		}
		if c.settles(reps, factors) {
			return c.lengthened(reps), nil
		}
	}
	return lib.compiled(m, allOf(layers), layers, s, site)
}

// deepened sets the first layers apart, which read embeddings of their own.
func deepened(layers []uint16, first int64) []uint16 {
	if first == 0 {
		return layers
	}
	const apart = 1 << 15
	out := slices.Clone(layers)
	for i := range out[:min(len(out), int(first))] {
		out[i] |= apart
	}
	return out
}

// firstFactors: on devices equal layers mostly settle in pairs.
func firstFactors(runs []run, site *Site) []int {
	out := make([]int, len(runs))
	for i := range runs {
		out[i] = 1
		if site != nil && runs[i].period == 1 {
			out[i] = 2
		}
	}
	return out
}

// run is a period of layers that repeats from a layer on; a period of one layer and once for what does not
// repeat.
type run struct{ first, period, times int }

// runsOf a stack but for its last layer.
func runsOf(layers []uint16) (runs []run) {
	end := len(layers) - 1
	for i := 0; i < end; {
		r := longest(layers[i:end])
		r.first = i
		runs = append(runs, r)
		i += r.times * r.period
	}
	return runs
}

// longest finds the period at the start of a stack that saves most layers, and how often it repeats.
func longest(layers []uint16) run {
	best, saved := run{period: 1, times: 1}, 0
	for p := 1; p <= maxPeriod; p++ {
		same := p
		for same < len(layers) && layers[same] == layers[same-p] {
			same++
		}
		if n := min(same, len(layers)) / p; (n-keptPeriods)*p > saved {
			best, saved = run{period: p, times: n}, (n-keptPeriods)*p
		}
	}
	return best
}

// shorten keeps some periods of every run, or of so many of them together as factors says.
func shorten(layers int, runs []run, factors []int) (short []int, reps []repetition) {
	keep := func(first, n int) {
		for i := range n {
			short = append(short, first+i)
		}
	}
	for i, r := range runs {
		period, times := r.period*factors[i], r.times/factors[i]
		if times <= keptPeriods {
			keep(r.first, r.period*r.times)
			continue
		}
		extra := r.period*r.times - period*times
		keep(r.first, extra)
		reps = append(reps, repetition{len(short), period, times, i})
		keep(r.first+extra, keptPeriods*period)
	}
	if layers > 0 {
		keep(layers-1, 1)
	}
	return short, reps
}

// settles reports whether all periods settled at all spots. It raises the factors of those that did not.
func (c *Compiled) settles(reps []repetition, factors []int) bool {
	all := true
	for _, r := range reps {
		if !c.settled(r) {
			all = false
			factors[r.run]++
		}
	}
	return all
}

// lengthened repeats the periods that settled.
func (c *Compiled) lengthened(reps []repetition) *Compiled {
	out := *c
	out.Spots = slices.Clone(c.Spots)
	for i := range out.Spots {
		p := &out.Spots[i].Program
		p.Order = lengthened(p.Order, reps)
	}
	return &out
}

// beforeLayers is the segment in front of the layers; another follows them.
const beforeLayers = 1

// last is where the last period of a repetition begins in an order, which the one before it repeats.
func (r *repetition) last() int { return beforeLayers + r.first + (keptPeriods-1)*r.period }

func (c *Compiled) settled(r repetition) bool {
	for i := range c.Spots {
		order := c.Spots[i].Program.Order
		for k := r.last() - r.period; k < r.last(); k++ {
			if order[k] != order[k-r.period] || c.early[k] {
				return false
			}
		}
	}
	return true
}

func lengthened(order []int16, reps []repetition) (out []int16) {
	at := 0
	for _, r := range reps {
		last := r.last()
		out = append(out, order[at:last]...)
		for range r.times - keptPeriods {
			out = append(out, order[last-r.period:last]...)
		}
		at = last
	}
	return append(out, order[at:]...)
}
