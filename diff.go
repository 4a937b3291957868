package memwall

import (
	"slices"

	"github.com/memwall/memwall/unit"
)

const askDiff = "diff"

// Diff is one plan beside another: the second is the request with its change applied.
type Diff struct {
	A *Answer `json:"a"`
	B *Answer `json:"b"`
	// Fields are those of the plans that differ.
	Fields []FieldDiff `json:"fields"`
	// Items are the lines of the ledgers of the devices that decide, those of one id together.
	Items []ItemDiff `json:"items"`
	// Needed and Headroom are their sums, and what these leave.
	Needed   ItemDiff `json:"needed"`
	Headroom ItemDiff `json:"headroom"`
	// DecodeRatio is of a user's tokens, TotalRatio of those of all users together: B over A, as FirstRatio and CostRatio
	// are; nil where either is unknown.
	DecodeRatio *float64 `json:"decode_ratio"`
	TotalRatio  *float64 `json:"total_ratio"`
	FirstRatio  *float64 `json:"ttft_ratio"`
	CostRatio   *float64 `json:"usd_ratio"`
	Quality     *Quality `json:"quality"`
}

// FieldDiff is a field of two plans.
type FieldDiff struct {
	Field string `json:"field"`
	A     any    `json:"a"`
	B     any    `json:"b"`
}

// ItemDiff is a line of two ledgers, of one device each.
type ItemDiff struct {
	ID     string     `json:"id"`
	A      unit.Bytes `json:"a_bytes"`
	B      unit.Bytes `json:"b_bytes"`
	Change unit.Bytes `json:"change_bytes"`
}

// Change is the merge patch that makes one request of any, with all fields that it has.
func Change(to *Request) map[string]any { return patchOf(&Request{}, to) }

// diff answers what a change buys: both plans in full, and what differs.
func (a *Asker) diff(r *Request) (*Answer, error) {
	if len(r.Change) == 0 {
		return nil, &Error{Code: BadField, Field: "change", Message: "change is missing", Hint: `{"change":{"weights":"fp8"}}`}
	}
	first := *r
	first.Ask, first.Change = "fit", nil
	second, err := Patch(&first, r.Change)
	if err != nil {
		return nil, err
	}
	both := a.remembering()
	d := &Diff{}
	if d.A, err = both.fit(&first); err != nil {
		return nil, err
	}
	if d.B, err = both.fit(second); err != nil {
		return nil, err
	}
	d.Fields = fieldsThatDiffer(d.A.Plan, d.B.Plan)
	d.items()
	d.DecodeRatio = faster(d.A.Speed, d.B.Speed)
	if x, y := d.A.Speed, d.B.Speed; x != nil && y != nil {
		d.TotalRatio, d.FirstRatio, d.CostRatio = ratio(x.Total, y.Total), ratio(x.TTFT, y.TTFT), ratio(x.USDPerMillion, y.USDPerMillion)
	}
	if d.A.Model.ID == d.B.Model.ID {
		q, err := both.prepare(&first)
		if err != nil {
			return nil, err
		}
		d.Quality = qualityOf(q.judged(), d.A.Plan, d.B.Plan)
	}
	return &Answer{Model: d.B.Model, Plan: d.B.Plan, Verdict: d.B.Verdict, Diff: d}, nil
}

func ratio(a, b *float64) *float64 {
	if a == nil || b == nil || *a == 0 {
		return nil
	}
	return rounded(*b / *a)
}

func fieldsThatDiffer(a, b *Request) (out []FieldDiff) {
	to, from := patchOf(a, b), patchOf(b, a)
	for _, f := range Fields() {
		if v, ok := to[f.Name]; ok {
			out = append(out, FieldDiff{f.Name, from[f.Name], v})
		}
	}
	return out
}

// items adds up the lines of one id, in the order of the first ledger and then of the second.
func (d *Diff) items() {
	if len(d.A.Devices) == 0 || len(d.B.Devices) == 0 {
		return
	}
	a, b := &d.A.Devices[0], &d.B.Devices[0]
	for _, ledger := range [][]Item{a.Ledger, b.Ledger} {
		for i := range ledger {
			id := ledger[i].ID
			if !slices.ContainsFunc(d.Items, func(d ItemDiff) bool { return d.ID == id }) {
				d.Items = append(d.Items, itemDiff(id, a.Sum(id), b.Sum(id)))
			}
		}
	}
	d.Needed, d.Headroom = itemDiff("needed", a.Needed, b.Needed), itemDiff("headroom", a.Headroom, b.Headroom)
}

func itemDiff(id string, a, b unit.Bytes) ItemDiff { return ItemDiff{id, a, b, b - a} }
