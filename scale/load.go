package scale

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Load is the arrival rate in requests a second over equal parts of a time that begins at second 0.
type Load struct {
	Rates []float64
	Part  float64 // seconds
}

// Limits of a replay, so that a day takes seconds and a malicious load is rejected.
const (
	mostParts    = 1 << 19
	mostReplicas = 1 << 12
	mostSeconds  = 31 * day
	longestTime  = day
)

// Seconds returns the duration of the load.
func (l *Load) Seconds() float64 { return float64(len(l.Rates)) * l.Part }

// at returns the rate at a time.
func (l *Load) at(t float64) float64 { return l.Rates[l.part(t)] }

func (l *Load) part(t float64) int { return min(len(l.Rates)-1, max(0, int(t/l.Part))) }

// Peak returns the highest rate.
func (l *Load) Peak() float64 { return slices.Max(l.Rates) }

// Check validates the load.
func (l *Load) Check() error {
	if len(l.Rates) == 0 || len(l.Rates) > mostParts {
		return fmt.Errorf("%d parts are not from 1 to %d", len(l.Rates), mostParts)
	}
	if !(l.Part >= 1 && l.Seconds() <= mostSeconds) {
		return fmt.Errorf("%d parts of %g s: a part is a second at least, and all are a month at most", len(l.Rates), l.Part)
	}
	for i, r := range l.Rates {
		if !(r >= 0 && r <= 1e6) {
			return fmt.Errorf("part %d has %g requests a second, which is not a rate from 0 to a million", i+1, r)
		}
	}
	return nil
}

// Fleet is what a policy controls, and what happens to it.
type Fleet struct {
	Curve       *Curve
	Least, Most int
	Begin       int     // replicas that serve at the start, clamped to the allowed range
	Start       float64 // seconds until a new replica serves
	Grace       float64 // seconds that a replica may drain before it is killed
	// MaxWaiting is the maximum queue per replica beyond what it holds; further requests are shed. 0 means unbounded.
	MaxWaiting float64
	// Classes are shares of requests by priority, highest first. Lower classes wait and are shed first. Empty means a
	// single class.
	Classes []float64
	// Scrape is the interval in seconds at which the replicas' metrics are read; policies see the last reading. 0 means
	// continuously.
	Scrape float64
	// Evicted is the rate at which the provider reclaims replicas, per hour, and Notice the warning in seconds.
	Evicted, Notice float64
	Seed            uint64
}

// Check validates the fleet.
func (f *Fleet) Check() error {
	within := func(x, most float64) bool { return x >= 0 && x <= most }
	switch {
	case f.Curve == nil:
		return errors.New("no replica is known")
	case f.Least < 0 || f.Most < max(1, f.Least) || f.Most > mostReplicas:
		return fmt.Errorf("%d to %d replicas are not a range within 0 to %d", f.Least, f.Most, mostReplicas)
	case !within(f.Start, longestTime) || !within(f.Grace, longestTime) || !within(f.Notice, longestTime) ||
		!within(f.Scrape, longestTime):
		return fmt.Errorf("a start of %g s, a grace of %g s, a notice of %g s, metrics each %g s: no times from 0 to a day", f.Start,
			f.Grace, f.Notice, f.Scrape)
	case !within(f.Evicted, 60) || !within(f.MaxWaiting, 1e9):
		return fmt.Errorf("%g evictions an hour and %g who wait are out of range", f.Evicted, f.MaxWaiting)
	}
	return f.checkClasses()
}

func (f *Fleet) checkClasses() error {
	sum := 0.0
	for _, x := range f.Classes {
		if !(x > 0 && x <= 1) {
			return fmt.Errorf("a class of requests has a share of %g, not one above 0 and at most 1", x)
		}
		sum += x
	}
	if len(f.Classes) > 16 || len(f.Classes) > 0 && math.Abs(sum-1) > 1e-6 {
		return fmt.Errorf("shares of %d classes add up to %g: at most 16, and together 1", len(f.Classes), sum)
	}
	return nil
}

func (f *Fleet) classes() []float64 {
	if len(f.Classes) == 0 {
		return []float64{1}
	}
	return f.Classes
}
