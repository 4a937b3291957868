package ggml

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// route: scores, the choice, and the weights of the chosen. The result carries the choice in aux.
func (l *lowering) route(o *model.Op, x ID) ID {
	e, r := o.Moe, l.rows()
	scores := l.new(MulMat, f32, dims(n(e.N), r), l.weight(), l.flat(x, o.W[0].Cols))
	for _, t := range o.W {
		if t.Bias {
			scores = l.like(Add, scores, l.weight())
		}
	}
	plain := scores
	switch {
	case e.Sigmoid:
		scores = l.like(Unary, scores)
	case !e.SoftLate:
		scores = l.like(SoftMax, scores)
	}
	choice := scores
	if l.quirks.earlyWeights {
		choice = plain
	}
	if e.Bias {
		choice = l.like(Add, scores, l.weight())
	}
	if e.Groups > 1 {
		choice = l.bestGroups(e, choice)
	}
	top := l.topK(choice, n(e.Used), r)
	w := l.new(GetRows, f32, dims(n(1), n(e.Used), r), l.reshape(scores, n(1), n(e.N), r), top)
	w = l.chosenWeights(e, w)
	l.Expand(w)
	l.node(w).aux = top
	return w
}

// topK sorts rows and gives the indices of their largest elements: the first of each row, so that they span all rows
// but what follows them in the last.
func (l *lowering) topK(x ID, d ...Dim) ID {
	sorted := l.new(Argsort, i32, l.node(x).ne, x)
	f := l.size(sorted)
	f[formOne] -= width[i32] * (l.node(x).ne[0].N - d[0].N)
	return l.sized(l.part(sorted, d...), f)
}

// chosenWeights: normalised or by softmax among the chosen, then scaled.
func (l *lowering) chosenWeights(e *model.Experts, w ID) ID {
	ne := l.node(w).ne
	rows := ne[2]
	if e.SoftLate {
		w = l.reshape(l.like(SoftMax, l.reshape(w, n(e.Used), rows)), ne[:]...)
	}
	if e.Norm || l.quirks.normsChoice {
		row := l.reshape(w, n(e.Used), rows)
		sum := l.like(Clamp, l.new(SumRows, f32, dims(n(1), rows), row))
		w = l.reshape(l.like(Div, row, sum), ne[:]...)
	}
	if e.Scaled {
		w = l.like(Scale, w)
	}
	return w
}

// bestGroups lets only experts of the best groups be chosen. A group is as good as its two best experts
// (DeepSeek-V3, arXiv:2412.19437, section 2.1.2).
func (l *lowering) bestGroups(e *model.Experts, choice ID) ID {
	r, each := l.rows(), n(e.N/e.Groups)
	groups := n(e.Groups)
	parted := l.reshape(choice, each, groups, r)
	best := l.topK(parted, n(2), groups, r)
	two := l.new(GetRows, f32, dims(n(1), n(2), groups, r), l.reshape(parted, n(1), each, groups, r), best)
	sum := l.new(SumRows, f32, dims(n(1), groups, r), l.reshape(two, n(2), groups, r))
	used := l.topK(l.reshape(sum, groups, r), n(e.GroupsUsed), r)
	kept := l.new(GetRows, f32, dims(each, n(e.GroupsUsed), r), parted, used)
	all := l.like(Fill, parted)
	return l.reshape(l.into(SetRows, all, kept, used, all), n(e.N), r)
}

func (l *lowering) expertLinear(o *model.Op, x ID) ID {
	r := l.rows()
	if nd := l.node(x); nd.ne[1] == r { // gate and up share one view
		x = l.expertRows.reshape(l.Graph, x, dims(nd.ne[0], n(1), r))
	}
	weights := l.in(o, 1)
	if l.quirks.earlyWeights && o.Role != dtype.FFNDownExps {
		x = l.weighted(o, x, weights)
	}
	choice := l.node(weights).aux
	y := l.new(MulMatID, f32, dims(n(o.Out), n(o.Moe.Used), r), l.weight(), x, choice)
	for _, t := range o.W {
		if t.Bias {
			y = l.like(AddID, y, l.weight(), choice)
		}
	}
	return y
}

// weighted gives every chosen expert a row of its own, times its weight; gate and up share them.
func (l *lowering) weighted(o *model.Op, x, weights ID) ID {
	if l.expertWeighted.of != x {
		nd := l.node(x)
		each := l.new(Repeat, f32, dims(nd.ne[0], n(o.Moe.Used), l.rows()), x)
		l.expertWeighted = memo{of: x, view: l.like(Mul, each, weights)}
	}
	return l.expertWeighted.view
}

// combine: scaled by a number of each expert in some models, weighted, then the experts' rows are added
// one by one.
func (l *lowering) combine(o *model.Op, x ID) ID {
	e, r := o.Moe, l.rows()
	weights := l.in(o, 1)
	if len(o.W) > 0 {
		all := l.new(Repeat, f32, dims(n(1), n(e.N), r), l.reshape(l.weight(), n(1), n(e.N)))
		x = l.like(Mul, x, l.new(GetRows, f32, dims(n(1), n(e.Used), r), all, l.node(weights).aux))
	}
	weighted := x
	if !l.quirks.earlyWeights {
		weighted = l.like(Mul, x, weights)
	}
	l.Expand(weighted)
	parts := make([]ID, e.Used)
	for i := range parts {
		parts[i] = l.part(weighted, n(o.Out), r)
		l.Expand(parts[i])
	}
	if e.Used == 1 {
		return l.like(Cont, parts[0])
	}
	y := parts[0]
	for _, p := range parts[1:] {
		y = l.new(Add, f32, dims(n(o.Out), r), y, p)
		l.Expand(y)
	}
	return y
}
