package speed

import "strconv"

// Formula shows how a component of a time is computed, in milliseconds, in the notation of ledger.Eval.
type Formula struct {
	Part, Text string
	Inputs     []Term
}

// Term is a named input of a formula.
type Term struct {
	Name   string
	Value  float64
	Origin string
}

// SixDigits rounds v to six significant digits, more than any time is known to.
func SixDigits(v float64) float64 {
	out, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	if err != nil {
		return v
	}
	return out
}
