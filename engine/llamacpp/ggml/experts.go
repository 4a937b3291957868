package ggml

import "github.com/memwall/memwall/model"

// route: scores, the choice, and the weights of the chosen. The result carries the choice in aux.
func (l *lowering) route(o *model.Op, x ID) ID {
	e, r := o.Moe, l.rows()
	logits := l.new(MulMat, f32, dims(n(e.N), r), l.weight(), x)
	for _, t := range o.W {
		if t.Bias {
			logits = l.like(Add, logits, l.weight())
		}
	}
	scores := l.like(SoftMax, logits)
	if e.Sigmoid {
		scores = l.like(Unary, logits)
	}
	choice := scores
	if e.Bias {
		choice = l.like(Add, scores, l.weight())
	}
	sorted := l.new(Argsort, i32, l.at(choice).ne, choice)
	top := l.part(sorted, n(e.Used), r)
	w := l.new(GetRows, f32, dims(n(1), n(e.Used), r), l.reshape(scores, n(1), n(e.N), r), top)
	if e.Norm {
		flat := l.reshape(w, n(e.Used), r)
		sum := l.like(Clamp, l.new(SumRows, f32, dims(n(1), r), flat))
		w = l.reshape(l.like(Div, flat, sum), n(1), n(e.Used), r)
	}
	if e.Scaled {
		w = l.like(Scale, w)
	}
	l.Expand(w)
	l.at(w).aux = top
	return w
}

func (l *lowering) expertLinear(o *model.Op, x ID) ID {
	r := l.rows()
	if nd := l.at(x); nd.ne[2].isOne() && nd.ne[1] == r {
		x = l.reshape(x, nd.ne[0], n(1), r)
		l.val[o.In[0]] = x // gate and up read the same view
	}
	choice := l.at(l.in(o, 1)).aux
	y := l.new(MulMatID, f32, dims(n(o.Out), n(o.Moe.Used), r), l.weight(), x, choice)
	for _, t := range o.W {
		if t.Bias {
			y = l.like(AddID, y, l.weight(), choice)
		}
	}
	return y
}

// combine: weighted, then the experts' rows are added one by one.
func (l *lowering) combine(o *model.Op, x ID) ID {
	r := l.rows()
	weighted := l.like(Mul, x, l.in(o, 1))
	parts := make([]ID, o.Moe.Used)
	for i := range parts {
		parts[i] = l.part(weighted, n(o.Out), r)
		l.Expand(parts[i])
	}
	y := parts[0]
	for _, p := range parts[1:] {
		y = l.new(Add, f32, dims(n(o.Out), r), y, p)
		l.Expand(y)
	}
	return y
}
