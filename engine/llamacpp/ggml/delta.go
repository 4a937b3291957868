package ggml

import "github.com/memwall/memwall/model"

// deltaNet is the gated delta rule: keys and queries of unit length, a decay and a step for each value head.
func (l *lowering) deltaNet(o *model.Op, u ID) ID {
	s := o.Scan
	l.delta = true
	cache, rows := l.copyState(s.StateElems())
	q := l.keyHeads(s, u)
	k := l.keyHeads(s, u)
	ne := dims(n(s.HeadDim), n(s.Heads), sym(perSeq), sym(seqs))
	v := l.reaching(l.part(u, ne[:]...), s.Inner)
	state := l.reshape(rows, n(s.State), n(s.HeadDim), n(s.Heads), sym(seqs))
	y := l.new(GatedDelta, f32, dims(), q, k, v, l.decay(s, l.in(o, 1)), l.step(s, l.in(o, 2)), state)
	l.withStates(y, s)
	l.Expand(l.into(Cpy, cache, l.part(y, n(s.StateElems()), sym(seqs)), l.part(cache)))
	return l.reshape(y, ne[:]...)
}

// keyHeads are queries or keys, normalised to length one.
func (l *lowering) keyHeads(s *model.ScanDims, u ID) ID {
	x := l.reaching(l.part(u, n(s.State), n(s.Groups), sym(perSeq), sym(seqs)), s.State*s.Groups)
	x = l.like(Scale, l.like(RMSNorm, x))
	if times := s.Heads / s.Groups; l.quirks.repeatsHeads && times > 1 {
		x = l.reshape(x, n(s.State), n(1), n(s.Groups), sym(tokens))
		x = l.new(Repeat, f32, dims(n(s.State), n(times), n(s.Groups), sym(tokens)), x)
		x = l.reshape(x, n(s.State), n(s.Heads), sym(perSeq), sym(seqs))
	}
	return x
}

// decay: a × softplus(alpha + bias).
func (l *lowering) decay(s *model.ScanDims, alpha ID) ID {
	x := l.straight(alpha, n(s.Heads), sym(perSeq), sym(seqs))
	x = l.like(Add, x, l.weight())
	x = l.like(Mul, l.like(Unary, x), l.weight())
	return l.reshape(x, n(1), n(s.Heads), sym(perSeq), sym(seqs))
}

// step: sigmoid(beta).
func (l *lowering) step(s *model.ScanDims, beta ID) ID {
	ne := []Dim{n(1), n(s.Heads), sym(perSeq), sym(seqs)}
	if l.node(beta).strided {
		return l.reshape(l.like(Unary, l.like(Cont, beta)), ne...)
	}
	return l.like(Unary, l.reshape(beta, ne...))
}
