package ggml

import "github.com/memwall/memwall/model"

// rotated multiplies a value by a Hadamard matrix before it is stored in a quantised cache; per > 0 gives
// it back in heads.
func (l *lowering) rotated(matrix *ID, w int64, x ID, per int64) ID {
	r := l.once(matrix, func() ID { return l.leaf(f32, n(w), n(w)) })
	nd := l.at(x)
	total := nd.ne[0].constant()
	if nd.ne[1].N == 0 {
		total *= nd.ne[1].constant()
	}
	y := l.new(MulMat, f32, dims(n(w), by(total/w, tokens)), r, l.reshape(x, n(w), by(total/w, tokens)))
	if per > 0 {
		return l.reshape(y, n(per), n(total/per), of(tokens))
	}
	return l.reshape(y, n(total), of(tokens))
}

// cache is which of the two a layer uses, and its cells.
func cacheOf(a *model.Attn) (i int, c Sym) {
	if a.Window > 0 || a.Chunk > 0 {
		return 1, windowCells
	}
	return 0, cells
}

// qkv are the values of one attention, ready for the cache.
type qkv struct {
	q, k, v    ID
	dimK, dimV int64
	kvHeads    int64
	cache      int
	cells      Sym
	latent     *model.Latent
	valueInKey bool // values are the first part of the keys
}

func (l *lowering) attention(o *model.Op) ID {
	s := l.project(o)
	l.Expand(s.q)
	if l.slides {
		l.Expand(s.k)
		l.Expand(s.v)
	} else {
		l.Expand(s.v)
		l.Expand(s.k)
	}
	keys := l.weight()
	l.storeKeys(s, keys)
	values := keys
	if !s.valueInKey {
		values = l.weight()
		l.storeValues(s, values)
	}
	y := l.attend(o, s, keys, values)
	l.Expand(y)
	if l.shape.RotateV > 0 && s.latent == nil {
		y = l.rotated(&l.rotV[s.cache], l.shape.RotateV, y, 0)
	}
	return y
}

func (l *lowering) project(o *model.Op) *qkv {
	a := o.Attn
	s := &qkv{dimK: a.DimK, dimV: a.DimV, kvHeads: a.KVHeads, latent: a.Latent}
	s.cache, s.cells = cacheOf(a)
	if a.Latent != nil {
		l.absorb(o, s)
		return s
	}
	s.q = l.heads(l.in(o, 0), a.DimK, a.Heads*a.DimK)
	s.k = l.heads(l.in(o, 1), a.DimK, a.KVHeads*a.DimK)
	s.v = l.heads(l.in(o, 2), a.DimV, a.KVHeads*a.DimV)
	if w := l.shape.RotateK; w > 0 {
		s.q = l.rotated(&l.rotK[s.cache], w, s.q, a.DimK)
		s.k = l.rotated(&l.rotK[s.cache], w, s.k, a.DimK)
	}
	if w := l.shape.RotateV; w > 0 {
		s.v = l.rotated(&l.rotV[s.cache], w, s.v, a.DimV)
	}
	return s
}

// absorb multiplies the queries through k_b, so that keys are latents (MLA).
func (l *lowering) absorb(o *model.Op, s *qkv) {
	a, la := o.Attn, o.Attn.Latent
	qn, qr, c, kr := l.in(o, 0), l.in(o, 1), l.in(o, 2), l.in(o, 3)
	wide := l.new(MulMat, f32, dims(n(la.Rank), of(tokens), n(a.Heads)), l.weight(), l.part(qn, n(la.Nope), of(tokens), n(a.Heads)))
	s.q = l.new(Concat, f32, dims(n(la.Width()), n(a.Heads), of(tokens)), l.part(wide, n(la.Rank), n(a.Heads), of(tokens)), qr)
	s.v = l.reshape(c, n(la.Rank), n(1), of(tokens))
	s.k = l.new(Concat, f32, dims(n(la.Width()), n(1), of(tokens)), s.v, kr)
	s.dimK, s.dimV, s.kvHeads, s.valueInKey = la.Width(), la.Rank, 1, true
}

// whole is a cache as one tensor, whatever its streams.
func (l *lowering) whole(cache ID) ID {
	if l.shape.Streams {
		return l.reshape(cache)
	}
	return cache
}

func (l *lowering) storeKeys(s *qkv, keys ID) {
	flat := l.reshape(s.k, n(s.dimK*s.kvHeads), of(tokens))
	ids := l.once(&l.keyIDs[s.cache], func() ID { return l.leaf(i64, of(tokens)) })
	l.Expand(l.into(SetRows, keys, flat, ids, l.whole(keys)))
}

// storeValues: without flash attention values are kept transposed, one index for each number.
func (l *lowering) storeValues(s *qkv, values ID) {
	width := s.dimV * s.kvHeads
	flat := l.reshape(s.v, n(width), of(tokens))
	if l.shape.Flash {
		ids := l.once(&l.valueIDs[s.cache], func() ID { return l.leaf(i64, of(tokens)) })
		l.Expand(l.into(SetRows, values, flat, ids, l.whole(values)))
		return
	}
	flat = l.reshape(flat, n(1), by(width, tokens))
	ids := l.once(&l.valueIDs[s.cache], func() ID { return l.leaf(i64, by(width, tokens)) })
	l.Expand(l.into(SetRows, values, flat, ids, l.reshape(values)))
}

func (l *lowering) maskFor(s *qkv) ID {
	return l.once(&l.mask[s.cache], func() ID {
		if l.shape.Flash {
			return l.leaf(f16, of(s.cells), of(tokens))
		}
		return l.leaf(f32, of(s.cells), of(tokens))
	})
}

func (l *lowering) attend(o *model.Op, s *qkv, keys, values ID) ID {
	a := o.Attn
	q := l.part(l.part(s.q, l.at(s.q).ne[:]...), n(s.dimK), of(tokens), n(a.Heads))
	kc := l.part(keys)
	k := l.part(kc)
	var v ID
	if s.valueInKey {
		v = l.part(l.part(kc))
	} else {
		v = l.part(l.part(values))
	}
	mask := l.maskFor(s)
	if l.shape.Flash {
		return l.flash(o, s, q, k, v, mask)
	}
	return l.plain(o, s, q, k, v, mask)
}

func (l *lowering) flash(o *model.Op, s *qkv, q, k, v, mask ID) ID {
	a := o.Attn
	y := l.new(Flash, f32, dims(n(s.dimV), n(a.Heads), of(tokens)), q, k, v, mask)
	if la := s.latent; la != nil {
		y = l.new(MulMat, f32, dims(n(la.V), of(tokens), n(a.Heads)), l.weight(), l.part(y, n(s.dimV), of(tokens), n(a.Heads)))
		y = l.new(Cont, f32, dims(n(la.V), n(a.Heads), of(tokens)), l.part(y, n(la.V), n(a.Heads), of(tokens)))
	}
	return l.reshape(y, n(o.Out), of(tokens))
}

func (l *lowering) plain(o *model.Op, s *qkv, q, k, v, mask ID) ID {
	a := o.Attn
	dimV := s.dimV
	if s.latent != nil {
		v = l.transposedLatent(s, v)
	}
	scores := l.new(MulMat, f32, dims(of(s.cells), of(tokens), n(a.Heads)), k, q)
	p := l.like(SoftMax, scores, mask)
	y := l.new(MulMat, f32, dims(n(dimV), of(tokens), n(a.Heads)), v, p)
	if la := s.latent; la != nil {
		y = l.new(MulMat, f32, dims(n(la.V), of(tokens), n(a.Heads)), l.weight(), y)
		dimV = la.V
	}
	return l.new(Cont, f32, dims(n(o.Out), of(tokens)), l.part(y, n(dimV), n(a.Heads), of(tokens)))
}

// transposedLatent: values inside the keys must be copied out transposed, one stream at a time.
func (l *lowering) transposedLatent(s *qkv, v ID) ID {
	t := l.part(v)
	l.at(t).typ = f16
	return l.new(Cont, f16, dims(of(cells), n(s.dimV)), t)
}
