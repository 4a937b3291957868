package step

import (
	"slices"

	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/speed"
)

// Operators returns the operators of a step. Parts without operators are represented by one Rest each.
func (p *Predictor) Operators() ([]speed.Operator, error) {
	o := &operators{p: p}
	if err := o.walk(); err != nil {
		return nil, err
	}
	seconds, t := p.alone(p.values[:])
	o.scale = seconds / t.sum()
	for _, w := range o.list {
		o.add(w)
	}
	o.add(&operatorWork{work: work{accumulate: p.step.accumulate}, rest: true, turns: 1})
	for _, part := range t.list() {
		if part.Seconds > 0 && !slices.ContainsFunc(o.out, func(x speed.Operator) bool { return x.Part == part.Name }) {
			o.put(speed.Operator{Part: part.Name, Rest: true, Seconds: part.Seconds * o.scale})
		}
	}
	return o.out, nil
}

type operators struct {
	p     *Predictor
	list  []*operatorWork
	scale float64
	out   []speed.Operator
}

// operatorWork is the work of a kernel in one pass, and its count per step.
type operatorWork struct {
	work
	kernel speed.Kernel
	rest   bool
	turns  float64
}

// walk lists the work of all kernels of the decoder, and of the multi-token prediction layers, each of which ends in the head
// again.
func (o *operators) walk() error {
	m := *o.p.Model // its weights are counted again
	heads := 1.0
	part := m.prediction()
	if part > 0 {
		heads += float64(len(m.in.Model.Parts[part].Layers))
	}
	err := m.walk(0, func(k *speed.Kernel) *work {
		if k.Layer == model.InPost {
			return o.next(k, m.turns.head*heads)
		}
		return o.next(k, m.turns.layers)
	})
	if err != nil || part == 0 {
		return err
	}
	return m.walk(part, func(k *speed.Kernel) *work {
		if k.Layer == model.InPost {
			return &work{} // counted with the decoder's
		}
		return o.next(k, m.turns.layers)
	})
}

func (o *operators) next(k *speed.Kernel, turns float64) *work {
	w := &operatorWork{kernel: *k, turns: turns}
	o.list = append(o.list, w)
	return &w.work
}

// add adds a kernel's contribution to each part.
func (o *operators) add(w *operatorWork) {
	t := o.p.computing(&w.work, o.p.values[:])
	for _, part := range t.list() {
		if part.Seconds == 0 {
			continue
		}
		seconds := part.Seconds * o.scale * w.turns
		if w.rest {
			o.put(speed.Operator{Part: part.Name, Rest: true, Seconds: seconds})
			continue
		}
		x := w.kernel.Of(part.Name, seconds)
		if part.Bound == speed.Compute && (t.products == 0 || t.attention == 0) && (t.products == 0 || t.experts == 0) {
			x.FLOPs = w.done * w.turns
		}
		o.put(x)
	}
}

func (o *operators) put(x speed.Operator) { o.out = speed.PutOperator(o.out, x) }
