package api

import "github.com/memwall/memwall/ledger"

// Line is a figure of a log beside memwall's own.
type Line struct {
	// Name is in the engine's words; Device is the rank, device or buffer that the log names.
	Name   string `json:"name"`
	Device string `json:"device,omitempty"`
	Unit   string `json:"unit,omitempty"`
	// Digits behind the point that the engine prints.
	Digits int `json:"digits"`
	// Printed is null when the log does not have the figure, Ours when memwall has none: why says what
	// is missing then.
	Printed    *float64 `json:"printed"`
	Ours       *float64 `json:"ours"`
	Low        *float64 `json:"ours_low,omitempty"`
	High       *float64 `json:"ours_high,omitempty"`
	Difference *float64 `json:"difference"`
	// Equal: rounded to the printed digits, ours is the printed figure. With Given, the printed figure is
	// one that the printed input, rounded as it is, can lead to.
	Equal bool `json:"equal"`
	// Within: the printed figure lies in ours_low to ours_high.
	Within bool `json:"within"`
	// Given names the printed figure that ours was computed from; "" when ours follows from the request.
	Given string        `json:"given,omitempty"`
	Basis *ledger.Basis `json:"basis,omitempty"`
	Why   string        `json:"why,omitempty"`
	// At is the line of the log.
	At int `json:"line,omitempty"`
}

// OperatorLine is an operator of the model, or several that a trace does not tell apart, or one of PyTorch that is none of
// the model's. Times are milliseconds of a step of one device.
type OperatorLine struct {
	// Class of kernels, as in the line of the same class: products, attention, elementwise, ….
	Class string `json:"class"`
	Name  string `json:"name"`
	// Members are the model's operators that the row is, when they are more than one.
	Members []string `json:"members,omitempty"`
	// Shape of a layer's matrix as a rank has it, outputs by inputs; of a collective what is sent.
	Shape string `json:"shape,omitempty"`
	// Calls of PyTorch's operators in a step.
	Calls float64 `json:"calls"`
	// Printed is null when the trace has no such operator, Ours when memwall has none; why says what is missing then.
	Printed *float64 `json:"printed"`
	Ours    *float64 `json:"ours"`
	Low     *float64 `json:"ours_low,omitempty"`
	High    *float64 `json:"ours_high,omitempty"`
	Ratio   *float64 `json:"ratio"` // printed over ours
	Within  bool     `json:"within"`
	// FLOPs and Bytes a second that it reached; PeakFraction is the share of the device's dense peak for such operands.
	FLOPs        *float64 `json:"flops_per_s,omitempty"`
	Bytes        *float64 `json:"bytes_per_s,omitempty"`
	PeakFraction *float64 `json:"peak_fraction,omitempty"`
	// Of are the calls that it is made of, the longest first, at most eight.
	Of  []OperatorCall `json:"of,omitempty"`
	Why string         `json:"why,omitempty"`
}

// OperatorCall are calls of one operator of PyTorch with one shape.
type OperatorCall struct {
	Name string `json:"name"`
	// Shape of a product: rows by columns of the result, by the side that is summed over.
	Shape string  `json:"shape,omitempty"`
	Pass  string  `json:"pass,omitempty"`
	Calls float64 `json:"calls"`
	MS    float64 `json:"ms"`
}
