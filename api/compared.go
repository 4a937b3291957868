package api

import "github.com/memwall/memwall/ledger"

// Line is a figure from a log compared with memwall's prediction.
type Line struct {
	// Name uses the engine's wording; Device is the rank, device or buffer that the log names.
	Name   string `json:"name"`
	Device string `json:"device,omitempty"`
	Unit   string `json:"unit,omitempty"`
	// Digits is the number of decimals that the engine prints.
	Digits int `json:"digits"`
	// Printed is nil if the log lacks the figure and Ours is nil if memwall has none; Why then says what is missing.
	Printed    *float64 `json:"printed"`
	Ours       *float64 `json:"ours"`
	Low        *float64 `json:"ours_low,omitempty"`
	High       *float64 `json:"ours_high,omitempty"`
	Difference *float64 `json:"difference"`
	// Equal reports that Ours, rounded to the printed digits, equals Printed. With Given set, it reports that some value
	// that rounds to the printed input leads to the printed figure.
	Equal bool `json:"equal"`
	// Within reports that Printed lies between ours_low and ours_high.
	Within bool `json:"within"`
	// Given names the printed figure that Ours was computed from; "" if Ours follows from the request alone.
	Given string        `json:"given,omitempty"`
	Basis *ledger.Basis `json:"basis,omitempty"`
	Why   string        `json:"why,omitempty"`
	// At is the line number in the log.
	At int `json:"line,omitempty"`
}

// OperatorLine is one operator of the model, several that a trace cannot tell apart, or a PyTorch operator that does
// not belong to the model. Times are in milliseconds per step on one device.
type OperatorLine struct {
	// Class is the kernel class, as in the Line of the same class: matmuls, attention, elementwise and so on.
	Class string `json:"class"`
	Name  string `json:"name"`
	// Members are the model's operators that the row covers, if more than one.
	Members []string `json:"members,omitempty"`
	// Shape is the weight matrix of one layer as sharded to a rank, outputs by inputs; for a collective, the message.
	Shape string `json:"shape,omitempty"`
	// Calls is the number of PyTorch operator calls per step.
	Calls float64 `json:"calls"`
	// Printed is nil if the trace has no such operator and Ours is nil if memwall has none; Why then says what is
	// missing.
	Printed *float64 `json:"printed"`
	Ours    *float64 `json:"ours"`
	Low     *float64 `json:"ours_low,omitempty"`
	High    *float64 `json:"ours_high,omitempty"`
	Ratio   *float64 `json:"ratio"` // Printed / Ours
	Within  bool     `json:"within"`
	// FLOPs and Bytes are the rates achieved, per second; PeakFraction is the share of the device's dense peak for such
	// operands.
	FLOPs        *float64 `json:"flops_per_s,omitempty"`
	Bytes        *float64 `json:"bytes_per_s,omitempty"`
	PeakFraction *float64 `json:"peak_fraction,omitempty"`
	// Of lists the underlying calls, longest first, at most eight.
	Of  []OperatorCall `json:"of,omitempty"`
	Why string         `json:"why,omitempty"`
}

// OperatorCall summarizes the calls of one PyTorch operator with one shape.
type OperatorCall struct {
	Name string `json:"name"`
	// Shape of a matmul: rows by columns of the result, by the contracted dimension.
	Shape string  `json:"shape,omitempty"`
	Pass  string  `json:"pass,omitempty"`
	Calls float64 `json:"calls"`
	MS    float64 `json:"ms"`
}
