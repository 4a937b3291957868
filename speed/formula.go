package speed

import "strconv"

// Formula is how a part of a time is made, in milliseconds, in the notation of ledger.Eval.
type Formula struct {
	Part, Text string
	Inputs     []Term
}

// Term is a named number of a formula.
type Term struct {
	Name   string
	Value  float64
	Origin string
}

// SixDigits of a number are more than any time is known to.
func SixDigits(v float64) float64 {
	out, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	if err != nil {
		return v
	}
	return out
}
