package render

import (
	"math"
	"slices"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// Operator rows are shown if they take at least a share of the total, up to a number.
const (
	leastOfAll    = 0.002
	mostOperators = 24
)

// writeOperators writes a trace's operators next to the model's.
func writeOperators(p *term.Page, rows []memwall.OperatorLine) {
	if len(rows) == 0 {
		return
	}
	all := 0.0
	for i := range rows {
		all += longest(&rows[i])
	}
	both := slices.ContainsFunc(rows, func(r memwall.OperatorLine) bool { return r.Ours != nil })
	tb := &term.Table{Sides: []term.Side{term.Left, term.Right, term.Decimal, term.Decimal, term.Decimal, term.Right, term.Right,
		term.Left}, Remark: true, Most: map[int]int{0: 28}}
	ours, ratio := "ours", "ratio"
	if !both {
		ours, ratio = "", ""
	}
	tb.Row(term.Say("operators, ms a step", term.Dim), term.Say("calls", term.Dim), term.Say("trace", term.Dim), term.Say(ours, term.Dim),
		term.Say(ratio, term.Dim), term.Say("TFLOP/s", term.Dim), term.Say("peak", term.Dim), term.Say(""))
	shown := 0
	for i := range rows {
		if r := &rows[i]; longest(r) >= leastOfAll*all && shown < mostOperators {
			writeOperator(tb, r, both)
			shown++
		}
	}
	p.Blank()
	p.Add(tb)
	if rest := len(rows) - shown; rest > 0 {
		p.Para(term.Pad(term.Gap), term.Say(term.Plural(int64(rest), "shorter row", "shorter rows")+": --json", term.Dim))
	}
}

// longest returns the time by which a row is selected.
func longest(r *memwall.OperatorLine) float64 {
	if r.Printed != nil {
		return *r.Printed
	}
	return *r.Ours
}

// writeOperator writes a row; both reports that some rows have predictions.
func writeOperator(tb *term.Table, r *memwall.OperatorLine, both bool) {
	name := r.Name
	if r.Ours == nil && r.Shape != "" {
		name += " " + r.Shape
	}
	none := term.Say("—", term.Dim)
	calls, printed, ours := none, none, none
	if r.Printed != nil {
		calls, printed = term.Say(callsOf(r.Calls)), term.Say(inDigits(*r.Printed, 2))
	}
	if r.Ours != nil {
		ours = term.Say(inDigits(*r.Ours, 2))
	}
	why := term.Say(r.Why, term.Dim)
	if !both {
		ours, why = term.Say(""), term.Say(r.Label(), term.Dim)
	}
	reached := term.Join(optional(r.FLOPs, 1e-12, 0, ""), optional(r.Bytes, 1e-9, 0, " GB/s"))
	tb.Row(term.Say(name), calls, printed, ours, ratioOf(r), reached, optional(r.PeakFraction, 100, 0, " %"), why)
}

// ratioOf formats a row's ratio, marked if outside the band.
func ratioOf(r *memwall.OperatorLine) term.Text {
	ratio := optional(r.Ratio, 1, 2, "")
	if r.Ratio != nil && !r.Within {
		return term.Join(ratio, term.Say(" ✗", term.InkBad))
	}
	return ratio
}

// callsOf formats the calls per step, which may be fewer than one.
func callsOf(n float64) string {
	if n < 10 && n != math.Trunc(n) {
		return unit.Fixed(n, 1)
	}
	return term.Commas(unit.Fixed(n, 0))
}

// optional formats a number that may be absent.
func optional(v *float64, times float64, digits int, unitName string) term.Text {
	if v == nil {
		return term.Say("")
	}
	return term.Say(term.Commas(unit.Fixed(*v*times, digits)) + unitName)
}
