package memwall

import (
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/speed"
)

// A trace that links kernels with the operators that launched them is set beside the model's own operators, row by row.
// Rows of a class add up to the class's line, in the trace and in what memwall says.
// compare_operators_own.go lists memwall's operators, compare_operators_rows.go says which row one of the trace belongs to,
// compare_products.go which operator of the model a matrix product is and compare_collectives.go what a collective is for,
// compare_operators_lines.go makes lines of the rows.

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

const mostCalls = 8

// operated is a row on its way to an answer.
type operated struct {
	OperatorLine
	ms, flops, bytes float64 // measured; operations and bytes of a step
	timed            float64 // milliseconds of what operations are known of
	types            []string
	own              float64 // ms of memwall's, 0 without
	known            bool
	vague            bool // of operators that the trace does not tell apart
	blended          bool // part of another row
	place            int
}

// operators sets the operators of a trace beside the model's.
type operators struct {
	c      *comparison
	device *hardware.Device
	own    []ownOperator
	whole  estimate // a step
	rows   []*operated
	byKey  map[string]*operated
	// batched: the trace has products of many matrices, as attention has that is not fused.
	batched bool
}

// ownOperator is one of memwall's with the class of its kernels.
type ownOperator struct {
	speed.Operator
	class string
}

// operators adds the rows of a trace that has any.
func (c *comparison) operators(a *Asker) []OperatorLine {
	if len(c.log.Operators) == 0 {
		return nil
	}
	o := &operators{c: c, byKey: map[string]*operated{}}
	o.predicted(a)
	match := newMatcher(o.own, c.log.Operators)
	for i := range c.log.Operators {
		o.measured(&c.log.Operators[i], match)
	}
	for i := range o.own {
		o.predictedRow(i, match)
	}
	o.otherShapes()
	o.blended()
	return o.lines()
}

// otherShapes warns when most products are of shapes that the model does not have.
func (o *operators) otherShapes() {
	var all, known float64
	for _, r := range o.rows {
		if r.Class == "products" && r.flops > 0 {
			all += r.ms
			if r.known {
				known += r.ms
			}
		}
	}
	if o.whole.known && known < all/2 {
		o.c.note("other_shapes", "warn", "model", "%.0f %% of the time of matrix products is of shapes that %s does not have in this plan: is it of another model, or shared by other groups (--tp)?", 100*(1-known/all), o.c.request.Model)
	}
}
