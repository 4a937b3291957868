package api

import "github.com/memwall/memwall/unit"

// Pick is a model that the hardware can run, in the best format that leaves room for the context and is fast enough for
// the use case.
type Pick struct {
	Model      string     `json:"model"`
	Name       string     `json:"name"`
	Released   string     `json:"released"`
	Parameters int64      `json:"parameters"`
	Active     int64      `json:"active_parameters"`
	Weights    string     `json:"weights"`
	Score      *PickScore `json:"score"`
	// First lists the respects in which this pick ranks first: best, fastest, longest.
	First      []string   `json:"first,omitempty"`
	Contexts   []PickedAt `json:"contexts"`
	MaxContext *int64     `json:"max_context"`
	Headroom   unit.Bytes `json:"headroom_bytes"`
	// Host is the part of the weights held in host memory.
	Host    unit.Bytes        `json:"host_bytes,omitempty"`
	Speed   *Speed            `json:"speed"`
	Quality *Quality          `json:"quality"`
	Plan    *Request          `json:"plan"`
	Flags   map[string]string `json:"flags,omitempty"`
}

// PickedAt is what a pick needs at one context length.
type PickedAt struct {
	Context int64      `json:"context"`
	Needed  unit.Bytes `json:"needed_bytes"`
	Verdict Verdict    `json:"verdict"`
}

// PickScore rates a model for a use case, on the scale of a public benchmark.
type PickScore struct {
	Benchmark string  `json:"benchmark"`
	Name      string  `json:"name"`
	Value     float64 `json:"value"`
	// Published is false if Value is estimated, from Rows figures of other benchmarks.
	Published bool   `json:"published"`
	Rows      int    `json:"rows"`
	Date      string `json:"date,omitempty"`
	Source    string `json:"source,omitempty"`
}

// Diff compares two plans, A and B. B is the request with the change applied.
type Diff struct {
	A *Answer `json:"a"`
	B *Answer `json:"b"`
	// Fields are the plan fields that differ.
	Fields []FieldDiff `json:"fields"`
	// Items are the ledger lines of each plan's limiting device, merged by id.
	Items []ItemDiff `json:"items"`
	// Needed and Headroom compare the totals and the memory left.
	Needed   ItemDiff `json:"needed"`
	Headroom ItemDiff `json:"headroom"`
	// DecodeRatio compares the tokens a second of one user, TotalRatio of all users. Like FirstRatio and CostRatio they
	// are B over A, and nil if either side is unknown.
	DecodeRatio *float64 `json:"decode_ratio"`
	TotalRatio  *float64 `json:"total_ratio"`
	FirstRatio  *float64 `json:"ttft_ratio"`
	CostRatio   *float64 `json:"usd_ratio"`
	Quality     *Quality `json:"quality"`
}

// FieldDiff is a field in which two plans differ.
type FieldDiff struct {
	Field string `json:"field"`
	A     any    `json:"a"`
	B     any    `json:"b"`
}

// ItemDiff is a ledger line of two plans, one device each.
type ItemDiff struct {
	ID     string     `json:"id"`
	A      unit.Bytes `json:"a_bytes"`
	B      unit.Bytes `json:"b_bytes"`
	Change unit.Bytes `json:"change_bytes"`
}
