package api

import "github.com/memwall/memwall/unit"

// Pick is a model that hardware runs, in the best format that leaves room for the context and is fast enough for the use.
type Pick struct {
	Model      string     `json:"model"`
	Name       string     `json:"name"`
	Released   string     `json:"released"`
	Parameters int64      `json:"parameters"`
	Active     int64      `json:"active_parameters"`
	Weights    string     `json:"weights"`
	Score      *PickScore `json:"score"`
	// First names what no other pick is better at: best, fastest, longest.
	First      []string   `json:"first,omitempty"`
	Contexts   []PickedAt `json:"contexts"`
	MaxContext *int64     `json:"max_context"`
	Headroom   unit.Bytes `json:"headroom_bytes"`
	// Host is what of the weights lies in the memory of the host.
	Host    unit.Bytes        `json:"host_bytes,omitempty"`
	Speed   *Speed            `json:"speed"`
	Quality *Quality          `json:"quality"`
	Plan    *Request          `json:"plan"`
	Flags   map[string]string `json:"flags,omitempty"`
}

// PickedAt is what a pick needs at a context.
type PickedAt struct {
	Context int64      `json:"context"`
	Needed  unit.Bytes `json:"needed_bytes"`
	Verdict Verdict    `json:"verdict"`
}

// PickScore is how good a model is at a use, on the scale of a public benchmark.
type PickScore struct {
	Benchmark string  `json:"benchmark"`
	Name      string  `json:"name"`
	Value     float64 `json:"value"`
	// Published is false where Value is estimated from Rows figures of other benchmarks.
	Published bool   `json:"published"`
	Rows      int    `json:"rows"`
	Date      string `json:"date,omitempty"`
	Source    string `json:"source,omitempty"`
}

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
