package ggml

import "github.com/memwall/memwall/model"

// states gives the indices of the states that a batch continues, and of those that are only carried over.
func (l *lowering) states() (main, extra ID) {
	if l.stateIDs == 0 {
		l.stateIDs = l.leaf(i32, sym(seqs))
		l.stateMain = l.part(l.stateIDs, sym(seqs))
		l.stateExtra = l.part(l.stateIDs, n(0))
	}
	return l.stateMain, l.stateExtra
}

// loadState clears the row of a new sequence in a cache of states.
func (l *lowering) loadState(elems int64) (cache, state ID) {
	cache = l.cache()
	state = l.reshape(cache, n(elems), sym(seqs))
	l.Expand(l.into(Scale, cache, l.part(state, n(elems))))
	return cache, state
}

// carryOver copies the states of sequences that are not in the batch.
func (l *lowering) carryOver(cache, state ID, elems int64) {
	_, extra := l.states()
	g := l.new(GetRows, f32, dims(n(elems), n(0)), state, extra)
	l.Expand(l.into(Cpy, cache, g, l.part(cache, n(elems), n(0))))
}

// copyState gives the batch's rows of a cache of states.
func (l *lowering) copyState(elems int64) (cache, rows ID) {
	main, _ := l.states()
	cache, state := l.loadState(elems)
	rows = l.new(GetRows, f32, dims(n(elems), sym(seqs)), state, main)
	l.Expand(rows)
	l.carryOver(cache, state, elems)
	return cache, rows
}

// conv: old rows and new ones side by side; the last become the state.
func (l *lowering) conv(o *model.Op, x ID) ID {
	s := o.Scan
	channels := n(s.ConvDim())
	cache, rows := l.copyState(s.ConvElems())
	old := l.reshape(rows, n(s.Conv-1), channels, sym(seqs))
	if !l.node(x).bySeq() {
		x = l.parted(x, channels, sym(perSeq), sym(seqs))
	}
	window := Dim{N: 1, Sym: perSeq, Plus: int32(s.Conv - 1)}
	both := l.new(Concat, f32, dims(window, channels, sym(seqs)), old, l.part(x, sym(perSeq), channels, sym(seqs)))
	l.Expand(l.into(Cpy, cache, l.lastColumns(both, n(s.Conv-1), channels, sym(seqs)), l.part(cache)))
	y := l.new(SSMConv, f32, dims(channels, sym(perSeq), sym(seqs)), both, l.weight())
	for _, t := range o.W {
		if t.Bias {
			y = l.like(Add, y, l.weight())
		}
	}
	if o.Fn == model.Identity {
		return y
	}
	return l.like(Unary, y)
}

// lastColumns of the old rows and the new ones together; what they span begins behind a sequence's tokens.
func (l *lowering) lastColumns(both ID, d ...Dim) ID {
	f := l.size(both)
	f[formPerSeq] -= width[f32]
	return l.sized(l.part(both, d...), f)
}

func (l *lowering) scan(o *model.Op, u ID) ID {
	switch {
	case o.Scan.Delta:
		return l.deltaNet(o, u)
	case o.Scan.Groups == 0:
		return l.mamba1(o, u)
	}
	return l.mamba2(o, u)
}

// mamba1: dt, B and C come as values.
func (l *lowering) mamba1(o *model.Op, u ID) ID {
	s := o.Scan
	ne := dims(n(s.Inner), sym(perSeq), sym(seqs))
	y := l.selective(s, func(state ID) []ID {
		x := l.reshape(u, n(1), n(s.Inner), sym(perSeq), sym(seqs))
		return []ID{state, x, l.in(o, 1), l.weight(), l.in(o, 2), l.in(o, 3)}
	})
	return l.new(Add, f32, ne, l.reshape(y, ne[:]...), l.like(Mul, u, l.weight()))
}

// mamba2: B and C are parts of what was convolved; dt has a bias.
func (l *lowering) mamba2(o *model.Op, u ID) ID {
	s := o.Scan
	ne := dims(n(s.HeadDim), n(s.Heads), sym(perSeq), sym(seqs))
	x := l.reaching(l.part(u, ne[:]...), s.Inner)
	y := l.selective(s, func(state ID) []ID {
		dt := l.like(Cont, l.in(o, 1))
		dt = l.like(Add, dt, l.weight())
		b := l.reaching(l.part(u, n(s.State), n(s.Groups), sym(perSeq), sym(seqs)), s.State*s.Groups)
		c := l.reaching(l.part(u, n(s.State), n(s.Groups), sym(perSeq), sym(seqs)), s.State*s.Groups)
		return []ID{state, x, dt, l.weight(), b, c}
	})
	return l.new(Add, f32, ne, l.reshape(y, ne[:]...), l.like(Mul, x, l.weight()))
}

// selective is the scan between reading its states and writing them. One tensor holds outputs and new
// states.
func (l *lowering) selective(s *model.ScanDims, sources func(state ID) []ID) ID {
	cache, state := l.loadState(s.StateElems())
	src := sources(l.reshape(state, n(s.State), n(s.HeadDim), n(s.Heads), sym(seqs)))
	main, _ := l.states()
	y := l.withStates(l.new(SSMScan, f32, dims(), append(src, main)...), s)
	l.Expand(y)
	l.carryOver(cache, state, s.StateElems())
	l.Expand(l.into(Cpy, cache, l.part(y, n(s.StateElems()), sym(seqs)), l.part(cache)))
	return y
}

func (l *lowering) withStates(y ID, s *model.ScanDims) ID {
	return l.sized(y, Form{formTokens: 4 * s.Inner, formSeqs: 4 * s.StateElems()})
}
