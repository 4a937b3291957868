package serving

import (
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/speed"
)

// Operators returns the operators of a step without prompts, per token generated, without host time and drafting. Those of a part
// add up to that of Closed.
func (m *Model) Operators(l Load) (out []speed.Operator) {
	p := m.loop(l)
	batch := m.batches(l, &p).decode
	b := m.book() // as when it was compiled, so that coefficients have the same places
	for i := range m.in.Stages {
		var told []operating
		s := m.stage(b, &m.in.Stages[i], func(k *speed.Kernel, kernel int) { told = append(told, operating{*k, kernel}) })
		at := m.point(&s, batch, 1)
		s.each(m, &at, 1, func(r execution) {
			for _, x := range r.apart(told, r.place, r.at, r.times*r.seconds(r.at, &m.device, m.c)/p.expected) {
				out = speed.PutOperator(out, x)
			}
		})
	}
	return out
}

// operating is an operator of a stage, and which of its kernels it is.
type operating struct {
	speed.Kernel
	kernel int
}

// apart divides a kernel's time among its operators: by layers if their matrices are equal, by bytes if memory bound.
func (o *op) apart(told []operating, place int, p *point, seconds float64) (out []speed.Operator) {
	if seconds == 0 {
		return nil
	}
	if w, ok := o.law.(*pointwise); ok {
		return w.apart(told, p, o.part, seconds)
	}
	for i := range told {
		k := &told[i]
		if k.kernel != place {
			continue
		}
		x := k.Of(o.part, seconds*float64(k.Count)/o.count)
		if g, ok := o.law.(*product); ok {
			x.FLOPs = 2 * g.tokens(p) * g.rows * g.cols * float64(k.Count)
		}
		out = append(out, x)
	}
	if out == nil {
		out = []speed.Operator{{Part: o.part, Rest: true, Seconds: seconds}}
	}
	return out
}

func (w *pointwise) apart(told []operating, p *point, part string, seconds float64) (out []speed.Operator) {
	all := p.tokens*w.perToken + p.outputs*w.perOutput
	for i := range told {
		k := &told[i]
		if k.kernel != passing {
			continue
		}
		a := &k.Decode.Activations
		if bytes := float64(k.Count) * (p.tokens*a[model.Tokens] + p.outputs*a[model.Outputs]); bytes > 0 {
			x := speed.Operator{Part: part, Kind: k.Op.Kind, Batch: 1, Seconds: seconds * bytes / all}
			out = speed.PutOperator(out, x)
		}
	}
	return out
}
