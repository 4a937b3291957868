package api

// Measured summarizes the user's own measurements of a plan: their number, and the ratios of measured to predicted
// figures.
type Measured struct {
	// Rows counts measurements of the same model, format, engine and devices; OtherRows those of other models on the
	// same devices.
	Rows      int `json:"rows"`
	OtherRows int `json:"other_rows,omitempty"`
	// Quarantined counts figures that a rule excludes because they contradict the others.
	Quarantined int             `json:"quarantined,omitempty"`
	Ratios      []MeasuredRatio `json:"ratios,omitempty"`
}

// MeasuredRatio is the ratio of measured to predicted for one kind of figure: memory, decode or ttft.
type MeasuredRatio struct {
	Kind    string  `json:"kind"`
	Figures int     `json:"figures"`
	Median  float64 `json:"median"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
}
