package render

import (
	"math"
	"slices"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/unit"
)

// Rows of operators that are shown: those that take at least a share of all, and so many.
const (
	leastOfAll    = 0.002
	mostOperators = 24
)

// operators draws those of a trace beside the model's.
func (p *page) operators(rows []memwall.OperatorLine) {
	if len(rows) == 0 {
		return
	}
	all := 0.0
	for i := range rows {
		all += longest(&rows[i])
	}
	both := slices.ContainsFunc(rows, func(r memwall.OperatorLine) bool { return r.Ours != nil })
	tb := &table{sides: []side{left, right, decimal, decimal, decimal, right, right, left}, remark: true, most: map[int]int{0: 28}}
	ours, ratio := "ours", "ratio"
	if !both {
		ours, ratio = "", ""
	}
	tb.row(say("operators, ms a step", dim), say("calls", dim), say("trace", dim), say(ours, dim), say(ratio, dim), say("TFLOP/s", dim), say("peak", dim), say(""))
	shown := 0
	for i := range rows {
		if r := &rows[i]; longest(r) >= leastOfAll*all && shown < mostOperators {
			tb.operator(r, both)
			shown++
		}
	}
	p.blank()
	p.add(tb)
	if rest := len(rows) - shown; rest > 0 {
		p.para(pad(gap), say(plural(int64(rest), "shorter row", "shorter rows")+": --json", dim))
	}
}

// longest is the time that a row is judged by.
func longest(r *memwall.OperatorLine) float64 {
	if r.Printed != nil {
		return *r.Printed
	}
	return *r.Ours
}

// operator is a row; both: memwall has figures of some.
func (tb *table) operator(r *memwall.OperatorLine, both bool) {
	name := r.Name
	if r.Ours == nil && r.Shape != "" {
		name += " " + r.Shape
	}
	none := say("—", dim)
	calls, printed, ours := none, none, none
	if r.Printed != nil {
		calls, printed = say(callsOf(r.Calls)), say(inDigits(*r.Printed, 2))
	}
	if r.Ours != nil {
		ours = say(inDigits(*r.Ours, 2))
	}
	why := say(r.Why, dim)
	if !both {
		ours, why = say(""), say(r.Class, dim)
	}
	reached := join(optional(r.FLOPs, 1e-12, 0, ""), optional(r.Bytes, 1e-9, 0, " GB/s"))
	tb.row(say(name), calls, printed, ours, ratioOf(r), reached, optional(r.PeakFraction, 100, 0, " %"), why)
}

// ratioOf a row, with a mark when it lies outside the band.
func ratioOf(r *memwall.OperatorLine) text {
	ratio := optional(r.Ratio, 1, 2, "")
	if r.Ratio != nil && !r.Within {
		return join(ratio, say(" ✗", inkBad))
	}
	return ratio
}

// callsOf a step, which may be fewer than one.
func callsOf(n float64) string {
	if n < 10 && n != math.Trunc(n) {
		return unit.Fixed(n, 1)
	}
	return commas(unit.Fixed(n, 0))
}

// optional is a number that may be absent.
func optional(v *float64, times float64, digits int, unitName string) text {
	if v == nil {
		return say("")
	}
	return say(commas(unit.Fixed(*v*times, digits)) + unitName)
}
