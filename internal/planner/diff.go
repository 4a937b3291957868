package planner

import (
	"slices"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/unit"
)

// Change returns the JSON merge patch that sets every field that to has.
func Change(to *api.Request) map[string]any { return change.PatchOf(&api.Request{}, to) }

// Diff answers what a change buys: both plans in full, and their differences.
func Diff(a *question.Env, r *api.Request) (*api.Answer, error) {
	if len(r.Change) == 0 {
		return nil, &api.Error{Code: api.BadField, Field: "change", Message: "change is missing", Hint: `{"change":{"weights":"fp8"}}`}
	}
	first := *r
	first.Ask, first.Change = "fit", nil
	second, err := api.Patch(&first, r.Change)
	if err != nil {
		return nil, err
	}
	both := a.Remembering()
	d := &api.Diff{}
	if d.A, err = Fit(both, &first); err != nil {
		return nil, err
	}
	if d.B, err = Fit(both, second); err != nil {
		return nil, err
	}
	d.Fields = fieldsThatDiffer(d.A.Plan, d.B.Plan)
	items(d)
	d.DecodeRatio = question.Faster(d.A.Speed, d.B.Speed)
	if x, y := d.A.Speed, d.B.Speed; x != nil && y != nil {
		d.TotalRatio, d.FirstRatio, d.CostRatio = question.Ratio(x.Total, y.Total), question.Ratio(x.TTFT, y.TTFT),
			question.Ratio(x.USDPerMillion, y.USDPerMillion)
	}
	if d.A.Model.ID == d.B.Model.ID {
		q, err := both.Prepare(&first)
		if err != nil {
			return nil, err
		}
		d.Quality = question.QualityOf(q.Judged(), d.A.Plan, d.B.Plan)
	}
	return &api.Answer{Model: d.B.Model, Plan: d.B.Plan, Verdict: d.B.Verdict, Diff: d}, nil
}

func fieldsThatDiffer(a, b *api.Request) (out []api.FieldDiff) {
	to, from := change.PatchOf(a, b), change.PatchOf(b, a)
	for _, f := range api.Fields() {
		if v, ok := to[f.Name]; ok {
			out = append(out, api.FieldDiff{Field: f.Name, A: from[f.Name], B: v})
		}
	}
	return out
}

// items merges lines of the same id, in the order of the first ledger and then the second.
func items(d *api.Diff) {
	if len(d.A.Devices) == 0 || len(d.B.Devices) == 0 {
		return
	}
	a, b := &d.A.Devices[0], &d.B.Devices[0]
	for _, ledger := range [][]api.Item{a.Ledger, b.Ledger} {
		for i := range ledger {
			id := ledger[i].ID
			if !slices.ContainsFunc(d.Items, func(d api.ItemDiff) bool { return d.ID == id }) {
				d.Items = append(d.Items, itemDiff(id, a.Sum(id), b.Sum(id)))
			}
		}
	}
	d.Needed, d.Headroom = itemDiff("needed", a.Needed, b.Needed), itemDiff("headroom", a.Headroom, b.Headroom)
}

func itemDiff(id string, a, b unit.Bytes) api.ItemDiff {
	return api.ItemDiff{ID: id, A: a, B: b, Change: b - a}
}
