package render

import (
	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// BesideRow is a plan compared with others on one scale.
type BesideRow struct {
	Name    string
	Verdict memwall.Verdict
	Figures [5]BesideFigure // needed, usable, users, tokens per second, cost
}

// BesideFigure is a figure as printed. Best marks the best of its column; Aside marks figures of a plan that does not fit.
type BesideFigure struct {
	Words       string
	Best, Aside bool
	worth       float64 // more is better; 0 is not compared
}

// BesideRows returns plans in the order of their answers; nil answers leave their rows empty.
func BesideRows(answers []*memwall.Answer) []BesideRow {
	out := make([]BesideRow, len(answers))
	for i, a := range answers {
		if a != nil && len(a.Devices) > 0 {
			out[i] = besideRow(a)
		}
	}
	for c := range len(BesideRow{}.Figures) {
		best, others := 0.0, false
		for i := range out {
			w := out[i].Figures[c].worth
			others = others || w != 0 && best != 0 && w != best
			if w != 0 && (best == 0 || w > best) {
				best = w
			}
		}
		for i := range out {
			out[i].Figures[c].Best = others && out[i].Figures[c].worth == best
		}
	}
	return out
}

func besideRow(a *memwall.Answer) BesideRow {
	model, machine, engine := Names(a)
	d, n := &a.Devices[0], term.Needed(&a.Devices[0])
	r := BesideRow{Name: model + ", " + formats(&a.Plan.Plan) + ", " + machine + ", " + engine, Verdict: a.Verdict}
	r.Figures[0] = BesideFigure{Words: least1(d) + term.GiB(n.Mid, n.Decimals()), worth: -float64(d.Needed)}
	r.Figures[1] = BesideFigure{Words: term.GiB(d.Usable, n.Decimals())}
	r.Figures[2] = BesideFigure{Words: "any"}
	if a.KV != nil && a.KV.MaxSequences != nil {
		r.Figures[2] = BesideFigure{Words: unit.Count(*a.KV.MaxSequences), worth: float64(*a.KV.MaxSequences)}
	}
	r.Figures[3], r.Figures[4] = BesideFigure{Words: "—"}, BesideFigure{Words: "—"}
	if v := a.Speed; v != nil && v.Decode != nil {
		r.Figures[3] = BesideFigure{Words: term.Significant(*v.Decode, 2), worth: *v.Decode}
		if v.USDPerMillion != nil {
			r.Figures[4] = BesideFigure{Words: term.Significant(*v.USDPerMillion, 2), worth: -*v.USDPerMillion}
		}
	}
	if a.Verdict == memwall.DoesNotFit {
		for c := range r.Figures { // hypothetical figures are not compared
			r.Figures[c].worth, r.Figures[c].Aside = 0, c > 1
		}
	}
	return r
}
