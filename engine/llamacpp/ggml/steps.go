package ggml

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// linear is a product and its bias. Rows that are grouped by sequence stay so, but for what leaves a scan.
func (l *lowering) linear(o *model.Op, x ID) ID {
	in := o.W[0].Cols
	ne := dims(n(o.Out), l.rows())
	if o.BySeq {
		x, ne = l.grouped(x, in), dims(n(o.Out), sym(perSeq), sym(seqs))
	} else {
		x = l.flat(x, in)
	}
	y := l.new(MulMat, f32, ne, l.weight(), x)
	for _, t := range o.W {
		if t.Bias {
			y = l.like(Add, y, l.weight())
		}
	}
	switch {
	case l.quirks.clamps && o.Role == dtype.AttnQKV:
		y = l.like(Clamp, y)
	case l.quirks.lateScale && o.Kind == model.Head:
		y = l.like(Scale, y)
	}
	if o.BySeq && (o.Role == dtype.SSMOut || o.Role == dtype.ShortConvOut) {
		y = l.flat(y, o.Out)
	}
	return y
}

// norm and its weights. The final one is an output, and near it some families drop rows.
func (l *lowering) norm(o *model.Op, x ID) ID {
	final := o.Role == dtype.OutputNorm
	if final && l.quirks.gather == beforeNorm {
		x = l.withLogits(x)
	}
	if o.Unit > 0 {
		x = l.heads(x, o.Unit, o.Out)
	}
	op := RMSNorm
	if o.Mean && !l.quirks.rootNorms {
		op = Norm
	}
	y := l.like(op, x)
	if len(o.W) > 0 {
		l.node(y).pin = l.site.normPin(l.layer)
	}
	for _, t := range o.W {
		if t.Bias {
			y = l.like(Add, y, l.weight())
		} else {
			y = l.like(Mul, y, l.weight())
		}
	}
	if final {
		l.keep(y)
	}
	if final && l.quirks.gather == beforeHead {
		y = l.keep(l.withLogits(y))
	}
	return y
}

// rope; a table of factors is a further source.
func (l *lowering) rope(o *model.Op, x ID) ID {
	if o.In[0] == model.None {
		return 0 // the table itself
	}
	x = l.heads(x, o.Unit, o.Out)
	if len(o.W) > 0 {
		return l.like(Rope, x, l.positions(), l.table(o.W[0]))
	}
	return l.like(Rope, x, l.positions())
}

// table of all layers, or of each its own.
func (l *lowering) table(t *model.Tensor) ID {
	if l.shape.Older.OwnTables {
		return l.tensor(&l.own, t)
	}
	return l.tensor(&l.shared, t)
}

// sum: operands in the model's order, but for families that put the stream first.
func (l *lowering) sum(o *model.Op) ID {
	p := l.producer(o, 1)
	swap := l.quirks.positionsFirst && p != nil && p.Role == dtype.PositionEmbd || l.quirks.mixerSum && o.In[1] == 0 || l.quirks.ffnSum &&
		o.In[1] != 0 && model.Val(l.i+1) == l.k.Out
	if swap {
		b := l.in(o, 1)
		return l.like(Add, b, l.in(o, 0))
	}
	a := l.in(o, 0)
	return l.like(Add, a, l.in(o, 1))
}

func (l *lowering) scale(o *model.Op, x ID) ID {
	if len(o.W) > 0 {
		return l.like(Mul, x, l.weight())
	}
	if l.quirks.lateScale && l.layer == model.InPost {
		return x
	}
	y := l.like(Scale, x)
	if p := l.producer(o, 0); p != nil && p.Role == dtype.PerLayerEmbd {
		l.Expand(y) // the look-up runs before anything else
	}
	return y
}

func (l *lowering) act(o *model.Op, x ID) ID {
	switch o.Fn {
	case model.ReLU2:
		return l.like(Sqr, l.like(Unary, x))
	case model.Softcap:
		return l.softcap(x)
	case model.TopK:
		return l.quantile(x)
	}
	return l.like(Unary, x)
}

func (l *lowering) softcap(x ID) ID { return l.like(Scale, l.like(Unary, l.like(Scale, x))) }

// quantile: relu(x - (mean + factor × deviation)) of each row.
func (l *lowering) quantile(x ID) ID {
	one := dims(n(1), l.rows())
	mean := l.new(Mean, f32, one, x)
	squares := l.new(SumRows, f32, one, l.like(Sqr, l.like(Sub, x, mean)))
	deviation := l.like(Scale, l.like(Sqrt, l.like(Scale, squares)))
	return l.like(Unary, l.like(Sub, x, l.like(Add, mean, deviation)))
}

// glu is one node for gated units, of one source when gate and value are the halves of a row. Gates of
// other kinds are an activation and a product.
func (l *lowering) glu(o *model.Op) ID {
	if x := l.halves(o); x != 0 && !l.shape.Older.PlainGates {
		return l.new(Glu, f32, dims(n(o.Out), l.rows()), x)
	}
	gate, value := l.in(o, 0), l.in(o, 1)
	if l.quirks.shapedGate && o.Unit > 0 && l.node(gate).ne[0] == n(o.Out/o.Unit) {
		ofHeads := l.reshape(value, n(o.Unit), n(o.Out/o.Unit), l.rows())
		return l.like(Mul, ofHeads, l.reshape(l.like(Unary, gate), n(1), n(o.Out/o.Unit), l.rows()))
	}
	if o.Fn == model.Identity {
		return l.like(Mul, gate, value)
	}
	p := l.producer(o, 1)
	bySide := p != nil && p.In[0] == model.Side
	plain := o.Fn == model.Sigmoid || bySide || l.quirks.plainGates || l.shape.Older.PlainGates || l.delta && o.Unit > 0
	if !plain {
		if l.node(gate).strided && !l.node(value).strided {
			gate = l.new(Cont, f32, l.node(value).ne, gate)
		}
		return l.like(Glu, gate, value)
	}
	a := l.activated(gate, l.node(value).ne)
	if bySide || l.shape.Older.PlainGates && o.Rows != model.PerChoice {
		return l.like(Mul, a, value)
	}
	return l.like(Mul, value, a)
}

// activated is a gate laid out like what it gates, or one number for each row.
func (l *lowering) activated(gate ID, ne extent) ID {
	one := l.node(gate).ne[0].isOne()
	if !one && l.node(gate).ne != ne {
		gate = l.straight(gate, ne[:]...)
	}
	a := l.like(Unary, gate)
	if one && l.quirks.quotientGate {
		a = l.like(Div, a, gate)
	}
	return a
}

// halves is the value whose two halves are gate and value, 0 when they are no such halves.
func (l *lowering) halves(o *model.Op) ID {
	g, v := l.producer(o, 0), l.producer(o, 1)
	if g == nil || v == nil || g.Kind != model.Slice || v.Kind != model.Slice || g.In[0] != v.In[0] || o.Rows == model.PerChoice ||
		g.BySeq || g.Stride > 0 {
		return 0
	}
	return l.in(g, 0)
}
