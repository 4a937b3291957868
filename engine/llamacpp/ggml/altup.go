package ggml

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// mix is one of the steps between parallel residual streams, which lie behind each other: [hidden, tokens,
// streams].
func (l *lowering) mix(o *model.Op) (ID, error) {
	if o.Role == "" && o.Unit == 0 {
		return 0, noRule(l.m.Family, "mixing streams that lie otherwise")
	}
	x := l.in(o, 0)
	switch o.Role {
	case dtype.AltupProj:
		return l.widen(o, x), nil
	case dtype.AltupPredictCoef:
		return l.predict(o, x, l.in(o, 1)), nil
	case dtype.AltupCorrectCoef:
		return l.correct(o, x, l.in(o, 1), l.in(o, 2)), nil
	case dtype.AltupUnembdProj:
		return l.merge(o, x), nil
	case "":
		return l.toOthers(o, x, l.in(o, 1)), nil
	}
	return 0, noRule(l.m.Family, "mixing streams by "+string(o.Role))
}

// magnitude is the length of each row.
func (l *lowering) magnitude(x ID) ID {
	ne := l.node(x).ne
	ne[0] = n(1)
	return l.like(Sqrt, l.new(SumRows, f32, ne, l.like(Sqr, x)))
}

// asLong gives x's rows the lengths of another value's.
func (l *lowering) asLong(x, other ID) ID {
	old := l.magnitude(x)
	return l.like(Div, l.like(Mul, x, l.magnitude(other)), old)
}

func (l *lowering) widen(o *model.Op, x ID) ID {
	h, others := n(l.m.Hidden), n(o.W[0].Batch)
	copies := l.new(Repeat, f32, dims(h, sym(tokens), others), x)
	y := l.asLong(l.new(MulMat, f32, dims(h, sym(tokens), others), l.weight(), copies), x)
	return l.new(Concat, f32, dims(h, sym(tokens), n(o.Out/l.m.Hidden)), x, y)
}

// predict: every stream gains a mixture of all.
func (l *lowering) predict(o *model.Op, x, modalities ID) ID {
	streams := n(o.Out / o.Unit)
	h := n(o.Unit)
	apart := l.new(Cont, f32, dims(streams, h, sym(tokens)), l.part(x, streams, h, sym(tokens)))
	coefs := l.new(MulMat, f32, dims(n(o.W[0].Rows()), sym(tokens)), l.weight(), modalities)
	coefs = l.reshape(coefs, streams, streams, sym(tokens))
	mixed := l.new(MulMat, f32, dims(h, streams, sym(tokens)), apart, coefs)
	ne := dims(h, sym(tokens), streams)
	return l.new(Add, f32, ne, l.new(Cont, f32, ne, l.viewOf(mixed, true, ne)), x)
}

// correct: every stream gains its share of what the layer did to the first.
func (l *lowering) correct(o *model.Op, predicted, modalities, activated ID) ID {
	streams := n(o.Out / o.Unit)
	innovation := l.like(Sub, activated, l.reshape(predicted, n(o.Unit), sym(tokens)))
	all := l.new(Repeat, f32, dims(n(o.Unit), sym(tokens), streams), innovation)
	coefs := l.like(Scale, l.new(MulMat, f32, dims(streams, sym(tokens)), l.weight(), modalities))
	coefs = l.new(Cont, f32, dims(n(1), sym(tokens), streams), l.part(coefs, sym(tokens), streams))
	return l.like(Add, l.like(Mul, all, coefs), predicted)
}

// toOthers adds a value to every stream but the first.
func (l *lowering) toOthers(o *model.Op, x, y ID) ID {
	h, streams := n(o.Unit), o.Out/o.Unit
	first := l.reshape(x, h, sym(tokens))
	rest := l.new(Add, f32, dims(h, sym(tokens), n(streams-1)), l.reshape(x, h, sym(tokens), n(streams-1)), y)
	return l.new(Concat, f32, dims(h, sym(tokens), n(streams)), first, rest)
}

// merge is the mean of the first stream and the others brought back to it.
func (l *lowering) merge(o *model.Op, x ID) ID {
	h, others := n(o.Out), o.W[0].Batch
	y := l.reshape(x, h, sym(tokens))
	rest := l.new(MulMat, f32, dims(h, sym(tokens), n(others)), l.weight(), l.reshape(x, h, sym(tokens), n(others)))
	rest = l.asLong(rest, l.reshape(x, h, sym(tokens)))
	for range others {
		y = l.new(Add, f32, dims(h, sym(tokens)), y, l.reshape(rest, h, sym(tokens)))
	}
	return l.like(Scale, y)
}
