package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/stable"
)

// blended merges a class's operators that the trace does not show with trace operators that could be any of them: kernels and
// products that the trace does not distinguish and, of PyTorch's cheap operators, all that are not the model's, whose element-wise
// sums and products may be parts of any.
func (o *operators) blended() {
	for _, class := range o.classes() {
		var own, measured []*operated
		for _, r := range o.rows {
			switch {
			case r.Class != class:
			case r.Printed == nil:
				own = append(own, r)
			case !r.known && (class == "elementwise" || r.vague):
				measured = append(measured, r)
			}
		}
		if len(own) > 0 && len(measured) > 0 {
			o.rows = append(o.rows, blend(class, own, measured))
		}
	}
	o.rows = slices.DeleteFunc(o.rows, func(r *operated) bool { return r.blended })
}

// classes returns the classes of all rows.
func (o *operators) classes() (out []string) {
	for _, r := range o.rows {
		if !slices.Contains(out, r.Class) {
			out = append(out, r.Class)
		}
	}
	return out
}

// several returns a name for several operators.
func several(names []string) string {
	if len(names) > 2 {
		return fmt.Sprintf("%s and %d others", names[0], len(names)-1)
	}
	return strings.Join(names, ", ")
}

func blend(class string, own, measured []*operated) *operated {
	r := &operated{OperatorLine: api.OperatorLine{Class: class}, known: true, place: own[0].place}
	r.Printed = &r.ms
	stable.Sort(own, func(a, b *operated) int { return cmp.Compare(b.own, a.own) })
	var names []string
	for _, x := range own {
		names, r.own, x.blended = append(names, x.Name), r.own+x.own, true
	}
	for _, x := range measured {
		x.blended = true
		r.ms, r.Calls, r.Of = r.ms+x.ms, r.Calls+x.Calls, append(r.Of, x.Of...)
	}
	stable.Sort(r.Of, func(a, b api.OperatorCall) int { return cmp.Compare(b.MS, a.MS) })
	r.Name, r.Members, r.Of = several(names), names, r.Of[:min(len(r.Of), mostCalls)]
	return r
}

// lines returns the rows in the order of classes, longest first; short rows of a class that do not belong to the model are merged.
func (o *operators) lines() (out []api.OperatorLine) {
	order := map[string]int{}
	for i := range o.plan.Log.Operators {
		if class := o.plan.Log.Operators[i].Class; order[class] == 0 {
			order[class] = i + 1
		}
	}
	stable.Sort(o.rows, func(a, b *operated) int {
		return cmp.Or(cmp.Compare(order[a.Class], order[b.Class]), cmp.Compare(a.Class, b.Class),
			cmp.Compare(max(b.ms, b.own), max(a.ms, a.own)), cmp.Compare(a.place, b.place))
	})
	for _, r := range o.lumped() {
		o.finish(r)
		out = append(out, r.OperatorLine)
	}
	return out
}

// mostUnmatched is the number of rows per class outside the model that are shown individually.
const mostUnmatched = 5

// lumped merges the rows of a class after its longest ones.
func (o *operators) lumped() (out []*operated) {
	left, seen := map[string][]*operated{}, map[string]int{}
	for _, r := range o.rows {
		if !r.known {
			left[r.Class] = append(left[r.Class], r)
		}
	}
	for _, r := range o.rows {
		others := left[r.Class]
		switch at := seen[r.Class]; {
		case r.known:
			out = append(out, r)
			continue
		case at < mostUnmatched || len(others) == mostUnmatched+1:
			out = append(out, r)
		case at == mostUnmatched:
			out = append(out, lump(others[at:]))
		}
		seen[r.Class]++
	}
	return out
}

func lump(rest []*operated) *operated {
	r := &operated{OperatorLine: api.OperatorLine{Class: rest[0].Class, Name: fmt.Sprintf("%d others", len(rest))}}
	r.Printed = &r.ms
	for _, x := range rest {
		r.ms, r.Calls = r.ms+x.ms, r.Calls+x.Calls
	}
	return r
}

// finish computes the predicted side of a row.
func (o *operators) finish(r *operated) {
	switch {
	case r.known:
		o.estimated(r, share(o.step, r.own, r.Class))
	case o.step.known:
		r.Why = "none of the model's"
	default:
		r.Why = "memwall has no time for the step"
	}
	if r.Printed == nil {
		r.Why = "not in the trace"
		return
	}
	if r.flops > 0 && r.timed > 0 {
		x := r.flops / (r.timed / 1e3)
		r.FLOPs = question.Rounded(x)
		o.peak(r, x)
	}
	if r.bytes > 0 && r.ms > 0 {
		r.Bytes = question.Rounded(r.bytes / (r.ms / 1e3))
	}
}

func (o *operators) estimated(r *operated, e estimate) {
	if !e.known {
		r.Why = e.why
		return
	}
	r.Ours, r.Low, r.High = &e.value, &e.low, &e.high
	if r.Printed == nil {
		return
	}
	if strings.Contains(r.Name, expertMatrices) {
		r.Why = "what is multiplied is booked with experts"
		return
	}
	r.Ratio = question.Rounded(r.ms / e.value)
	r.Within = e.low <= r.ms && r.ms <= e.high
}

// peaks are the formats whose dense peak the products of a type are compared with. For FP32 it is unknown whether inputs are
// rounded to TF32.
var peaks = map[string]string{"c10::BFloat16": "bf16", "c10::Half": "fp16", "c10::Float8_e4m3fn": "fp8", "c10::Float8_e4m3fnuz": "fp8",
	"c10::Float8_e5m2": "fp8", "signed char": "int8"}

func (o *operators) peak(r *operated, flops float64) {
	if o.device == nil || len(r.types) != 1 {
		return
	}
	if p := o.device.Peaks.At(peaks[r.types[0]]); p.Known {
		dies := float64(max(1, o.device.Dies))
		r.PeakFraction = question.Rounded(flops / (float64(p.Value) / dies))
	}
}
