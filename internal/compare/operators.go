package compare

import (
	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/speed"
)

// A trace that links kernels with the operators that launched them is set beside the model's own operators, row by row.
// Rows of a class add up to the class's line, in the trace and in what memwall says.
// predicted.go lists memwall's operators, rows.go says which row one of the trace belongs to,
// products.go which operator of the model a matrix product is and collectives.go what a collective is for,
// classes.go makes lines of the rows.

const mostCalls = 8

// operated is a row on its way to an answer.
type operated struct {
	api.OperatorLine
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
	plan   *sized
	device *hardware.Device
	own    []ownOperator
	step   estimate
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

// operatorLines are the rows of a trace that has any.
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
	if o.step.known && known < all/2 {
		o.plan.note("other_shapes", "warn", "model", "%.0f %% of the time of matmuls is of shapes that %s does not have in this "+
			"plan: is it of another model, or shared by other groups (--tp)?", 100*(1-known/all), o.plan.Request.Model)
	}
}
