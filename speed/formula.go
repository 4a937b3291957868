package speed

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
