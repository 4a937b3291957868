package serving

import (
	"github.com/memwall/memwall/speed"
)

// label is one of the operators that a kernel of a stage is, in so many layers.
type label struct {
	speed.Operator
	layers float64
}

func labelled(k *speed.Kernel) label { return label{k.Of("", 0), float64(k.Count)} }

// Operators lists what a step without prompts consists of for each token that it yields, but for the host and for drafting.
// Those of a part add up to that of Closed.
func (m *Model) Operators(l Load) (out []speed.Operator) {
	p := m.loop(l)
	b, _ := m.batches(l, &p)
	for i := range m.stages {
		s := &m.stages[i]
		at := m.point(s, b, 1)
		for j := range s.ops {
			o := &s.ops[j]
			seconds := o.count * o.seconds(&at, &m.device, m.c) / p.expected
			for _, x := range m.apart(o, &at, seconds) {
				if x.Seconds > 0 {
					out = speed.PutOperator(out, x)
				}
			}
		}
	}
	return out
}

// apart divides the time of a kernel among the operators that it is: by layers where their matrices are alike, by bytes
// where they only pass through memory.
func (m *Model) apart(o *op, p *point, seconds float64) (out []speed.Operator) {
	if w, ok := o.law.(*pointwise); ok {
		return w.apart(p, o.part, seconds)
	}
	for i := range o.labels {
		x, layers := o.labels[i].Operator, o.labels[i].layers
		x.Part, x.Seconds = o.part, seconds*layers/o.count
		if g, ok := o.law.(*product); ok {
			x.FLOPs = 2 * g.tokens(p) * g.rows * g.cols * layers
		}
		out = append(out, x)
	}
	if len(o.labels) == 0 {
		out = append(out, speed.Operator{Part: o.part, Rest: true, Seconds: seconds})
	}
	return out
}
