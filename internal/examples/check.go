package examples

import (
	"errors"
	"fmt"
)

// beyond is how far off a value must be for its claim to be called wrong.
const beyond = 0.02

// Check reports where a row's verdict and its values disagree:
//
//	right    every value rounds to its claim
//	unit     every value does so only with the other kind of prefix
//	wrong    every value is more than 2 % outside its claim, with either prefix
//	depends  two values or more, on both sides of the claim: some agree and some do not, or they straddle it
//	stale    the first value agrees, the last does not
//	later    nothing is judged, and no bound contradicts the claim
func (r *Row) Check(found []Finding) error {
	ours := judged(found)
	switch r.Verdict {
	case Later:
		return r.checkLater(found, ours)
	case Depends, Stale:
		return r.checkOpen(ours)
	case Right, UnitSlip, Wrong:
		if len(ours) == 0 {
			return errors.New("no value")
		}
		for _, f := range ours {
			if err := checkOne(r.Verdict, &f); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("verdict %q is none of %v", r.Verdict, Verdicts)
}

func judged(found []Finding) (out []Finding) {
	for _, f := range found {
		if f.Role == Ours {
			out = append(out, f)
		}
	}
	return out
}

func checkOne(v Verdict, f *Finding) error {
	decimal, binary, off := f.Said.Holds(f.Value), f.Said.HoldsBinary(f.Value), f.Said.Off(f.Value)
	ok := false
	switch v {
	case Right:
		ok = decimal
	case UnitSlip:
		ok = binary && !decimal
	case Wrong:
		ok = !binary && (off > beyond || off < -beyond)
	}
	if !ok {
		return fmt.Errorf("said %s, ours %s: called %s, off by %.3g %%, with binary prefix %v", f.Said.Text, f.show(), v, 100*off, binary)
	}
	return nil
}

func (r *Row) checkOpen(ours []Finding) error {
	if len(ours) < 2 {
		return fmt.Errorf("%s with %d values", r.Verdict, len(ours))
	}
	for _, f := range ours {
		if f.When == "" {
			return fmt.Errorf("%s without saying when ours is %s", r.Verdict, f.show())
		}
	}
	first, last := ours[0], ours[len(ours)-1]
	if r.Verdict == Stale && !(agrees(&first) && !agrees(&last)) {
		return fmt.Errorf("stale: then %s, now %s, said %s", first.show(), last.show(), first.Said.Text)
	}
	if r.Verdict == Depends && !bothSides(ours) {
		return fmt.Errorf("depends, and all values lie on one side of %s", first.Said.Text)
	}
	return nil
}

func agrees(f *Finding) bool { return f.Said.Holds(f.Value) || f.Said.HoldsBinary(f.Value) }

func bothSides(ours []Finding) bool {
	var inside, below, above bool
	for i := range ours {
		switch off := ours[i].Said.Off(ours[i].Value); {
		case agrees(&ours[i]):
			inside = true
		case off < 0:
			below = true
		default:
			above = true
		}
	}
	return inside && (below || above) || below && above
}

func (r *Row) checkLater(found, ours []Finding) error {
	if len(ours) > 0 {
		return errors.New("later, and yet judged")
	}
	if r.Waits == "" {
		return errors.New("later without saying what it waits for")
	}
	for _, f := range found {
		if f.Role == Ceiling && f.Said.High > f.Value || f.Role == Floor && f.Said.Low < f.Value {
			return fmt.Errorf("later, but the bound %s contradicts %s: decide it", f.show(), f.Said.Text)
		}
	}
	return nil
}
