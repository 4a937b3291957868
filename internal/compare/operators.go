package compare

import (
	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/speed"
)

// A trace that links kernels with the operators that launched them is compared with the model's own operators, row by row. Rows of
// a class add up to the class's line, both measured and predicted. predicted.go lists the predicted operators, rows.go assigns
// trace operators to rows, products.go identifies matrix products and collectives.go the purpose of collectives, and classes.go
// turns rows into lines.

const mostCalls = 8

// operated is a row being built.
type operated struct {
	api.OperatorLine
	ms, flops, bytes float64 // measured; operations and bytes per step
	timed            float64 // milliseconds with known operations
	types            []string
	own              float64 // predicted ms; 0 if none
	known            bool
	vague            bool // of operators that the trace does not distinguish
	blended          bool // merged into another row
	place            int
}

// operators compares the operators of a trace with the model's.
type operators struct {
	plan   *sized
	device *hardware.Device
	own    []ownOperator
	step   estimate
	rows   []*operated
	byKey  map[string]*operated
	// batched reports batched matrix products in the trace, as in unfused attention.
	batched bool
}

// ownOperator is a predicted operator with the class of its kernels.
type ownOperator struct {
	speed.Operator
	class string
}

// operatorLines returns the rows of a trace that has operators.
func operatorLines(a *question.Env, s *sized) []api.OperatorLine {
	if len(s.Log.Operators) == 0 {
		return nil
	}
	o := &operators{plan: s, byKey: map[string]*operated{}}
	o.predicted(a)
	match := newMatcher(o.own, s.Log.Operators)
	for i := range s.Log.Operators {
		o.measured(&s.Log.Operators[i], match)
	}
	for i := range o.own {
		o.predictedRow(i, match)
	}
	o.otherShapes()
	o.blended()
	return o.lines()
}

// otherShapes warns if most products have shapes that the model does not have.
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
	if o.step.known && known < all/2 {
		o.plan.note("other_shapes", "warn", "model", "%.0f %% of the time of matmuls is of shapes that %s does not have in this "+
			"plan: is it of another model, or shared by other groups (--tp)?", 100*(1-known/all), o.plan.Request.Model)
	}
}
