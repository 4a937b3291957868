package api

// Measured is what the user's own rows say of a plan: how many there are, and measured figures over predicted ones.
type Measured struct {
	// Rows are of the same model and format with the same engine on the same devices, OtherRows of other models there.
	Rows      int `json:"rows"`
	OtherRows int `json:"other_rows,omitempty"`
	// Quarantined figures do not agree with the others, by rule, and count for nothing here.
	Quarantined int             `json:"quarantined,omitempty"`
	Ratios      []MeasuredRatio `json:"ratios,omitempty"`
}

// MeasuredRatio is measured over predicted of one kind of figure: memory, decode, ttft.
type MeasuredRatio struct {
	Kind    string  `json:"kind"`
	Figures int     `json:"figures"`
	Median  float64 `json:"median"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
}
