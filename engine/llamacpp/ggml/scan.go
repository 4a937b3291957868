package ggml

import "github.com/memwall/memwall/model"

// states gives the indices of the states that a batch continues, and of those that are only carried over.
func (l *lowering) states() (main, extra ID) {
	if l.stateIDs == 0 {
		l.stateIDs = l.leaf(i32, of(seqs))
		l.stateMain = l.part(l.stateIDs, of(seqs))
		l.stateExtra = l.part(l.stateIDs, n(0))
	}
	return l.stateMain, l.stateExtra
}

// loadState clears the row of a new sequence in a cache of states.
func (l *lowering) loadState(elems int64) (cache, state ID) {
	cache = l.weight()
	state = l.reshape(cache, n(elems), of(seqs))
	l.Expand(l.into(Scale, cache, l.part(state, n(elems))))
	return cache, state
}

// carryOver copies the states of sequences that are not in the batch.
func (l *lowering) carryOver(cache, state ID, elems int64) {
	_, extra := l.states()
	g := l.new(GetRows, f32, dims(n(elems), n(0)), state, extra)
	l.Expand(l.into(Cpy, cache, g, l.part(cache, n(elems), n(0))))
}

func (l *lowering) conv(o *model.Op, x ID) ID {
	s := o.Scan
	main, _ := l.states()
	cache, state := l.loadState(s.ConvElems())
	g := l.new(GetRows, f32, dims(n(s.ConvElems()), of(seqs)), state, main)
	l.Expand(g)
	l.carryOver(cache, state, s.ConvElems())
	old := l.reshape(g, n(s.Conv-1), n(s.ConvDim()), of(seqs))
	window := Dim{N: 1, Add: s.Conv - 1, Sym: perSeq}
	both := l.new(Concat, f32, dims(window, n(s.ConvDim()), of(seqs)), old, l.part(x, of(perSeq), n(s.ConvDim()), of(seqs)))
	l.Expand(l.into(Cpy, cache, l.part(both, n(s.Conv-1), n(s.ConvDim()), of(seqs)), l.part(cache)))
	y := l.new(SSMConv, f32, dims(n(s.ConvDim()), of(perSeq), of(seqs)), both, l.weight())
	for _, t := range o.W {
		if t.Bias {
			y = l.like(Add, y, l.weight())
		}
	}
	return l.like(Unary, y)
}

// scan is Mamba-2's; its result holds outputs and new states in one tensor.
func (l *lowering) scan(o *model.Op, u ID) ID {
	s := o.Scan
	cache, state := l.loadState(s.StateElems())
	state4 := l.reshape(state, n(s.State), n(s.HeadDim), n(s.Heads), of(seqs))
	x := l.part(u, n(s.HeadDim), n(s.Heads), of(perSeq), of(seqs))
	dt := l.in(o, 1)
	dt = l.new(Cont, f32, l.at(dt).ne, dt)
	dt = l.like(Add, dt, l.weight())
	b := l.part(u, n(s.State), n(s.Groups), of(perSeq), of(seqs))
	c := l.part(u, n(s.State), n(s.Groups), of(perSeq), of(seqs))
	main, _ := l.states()
	y := l.new(SSMScan, f32, dims(), state4, x, dt, l.weight(), b, c, main)
	l.at(y).form = Form{formTokens: 4 * s.Inner, formSeqs: 4 * s.StateElems()}
	l.Expand(y)
	l.carryOver(cache, state, s.StateElems())
	l.Expand(l.into(Cpy, cache, l.part(y), l.part(cache)))
	shape := dims(n(s.HeadDim), n(s.Heads), of(perSeq), of(seqs))
	out := l.reshape(y, shape[:]...)
	return l.new(Add, f32, shape, out, l.new(Mul, f32, shape, x, l.weight()))
}
