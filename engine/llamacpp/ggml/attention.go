package ggml

import "github.com/memwall/memwall/model"

// cacheOf is which of the two caches a layer uses, and its cells.
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
	rotateV    int64
	latent     *model.Latent
	valueInKey bool // values are the first part of the keys
}

func (l *lowering) attention(o *model.Op) ID {
	if o.Attn.Bidirectional {
		return l.encode(o)
	}
	s := l.project(o)
	l.Expand(s.q)
	if l.slides || l.shape.Older.OneInput {
		l.Expand(s.k)
		l.Expand(s.v)
	} else {
		l.Expand(s.v)
		l.Expand(s.k)
	}
	keys := l.keptOf(s.cache, o.Attn.SharesKV)
	values := keys
	if !s.valueInKey {
		values = l.external(l.node(keys).home)
	}
	if !o.Attn.SharesKV {
		l.storeKeys(s, keys)
		if !s.valueInKey {
			l.storeValues(s, values)
		}
	}
	y := l.attend(o, s, keys, values)
	l.Expand(y)
	if s.rotateV > 0 {
		y = l.rotated(&l.rotV[s.cache], s.rotateV, y, o.Out, 0)
	}
	return y
}

func (l *lowering) project(o *model.Op) *qkv {
	a := o.Attn
	s := &qkv{dimK: a.DimK, dimV: a.DimV, kvHeads: a.KVHeads, latent: a.Latent}
	s.cache, s.cells = cacheOf(a)
	switch {
	case a.Latent != nil && l.shape.Older.Latent == LatentExpanded:
		l.expandLatent(o, s)
		return s
	case a.Latent != nil:
		l.absorb(o, s)
		return s
	}
	s.q = l.heads(l.in(o, 0), a.DimK, a.Heads*a.DimK)
	if !a.SharesKV {
		s.k = l.heads(l.in(o, 1), a.DimK, a.KVHeads*a.DimK)
		s.v = l.heads(l.in(o, 2), a.DimV, a.KVHeads*a.DimV)
		if l.quirks.straightValues && l.node(s.v).strided {
			s.v = l.like(Cont, s.v)
		}
	}
	switch {
	case l.quirks.scaledQueries:
		s.q = l.like(Scale, s.q)
	case l.quirks.tempered && l.producer(o, 0).Kind == model.Linear:
		s.q = l.like(Mul, s.q, l.temperature())
	}
	l.rotate(a, s)
	return s
}

// temperature is a number for each position.
func (l *lowering) temperature() ID {
	if l.temper == 0 {
		l.temper = l.leaf(f32, n(1), n(1), sym(tokens))
	}
	return l.temper
}

// rotate turns queries, keys and values for a quantised cache.
func (l *lowering) rotate(a *model.Attn, s *qkv) {
	if w := keyRotation(a.DimK); w > 0 && l.shape.QuantisedK {
		s.q = l.rotated(&l.rotK[s.cache], w, s.q, a.Heads*a.DimK, a.DimK)
		if s.k != 0 {
			s.k = l.rotated(&l.rotK[s.cache], w, s.k, a.KVHeads*a.DimK, a.DimK)
		}
	}
	if w := valueRotation(a.DimV); w > 0 && l.shape.QuantisedV {
		s.rotateV = w
		if s.v != 0 {
			s.v = l.rotated(&l.rotV[s.cache], w, s.v, a.KVHeads*a.DimV, a.DimV)
		}
	}
}

// absorb multiplies the queries through k_b, so that keys are latents (MLA).
func (l *lowering) absorb(o *model.Op, s *qkv) {
	a, la := o.Attn, o.Attn.Latent
	qn, qr, c, kr := l.in(o, 0), l.in(o, 1), l.in(o, 2), l.in(o, 3)
	wide := l.new(MulMat, f32, dims(n(la.Rank), sym(tokens), n(a.Heads)), l.weight(), l.part(qn, n(la.Nope), sym(tokens), n(a.Heads)))
	s.q = l.new(Concat, f32, dims(n(la.Width()), n(a.Heads), sym(tokens)), l.part(wide, n(la.Rank), n(a.Heads), sym(tokens)), qr)
	s.v = l.reshape(c, n(la.Rank), n(1), sym(tokens))
	s.k = l.new(Concat, f32, dims(n(la.Width()), n(1), sym(tokens)), s.v, kr)
	s.dimK, s.dimV, s.kvHeads, s.valueInKey = la.Width(), la.Rank, 1, l.shape.Older.Latent == LatentOnly
}

// oneTensor is a cache as one tensor, whatever its streams.
func (l *lowering) oneTensor(cache ID) ID {
	if l.shape.Streams {
		return l.reshape(cache)
	}
	return cache
}

// indices say where a batch's keys or values go.
func (l *lowering) indices(ids *ID, count Dim) ID {
	if *ids == 0 {
		*ids = l.leaf(i64, count)
	}
	return *ids
}

func (l *lowering) storeKeys(s *qkv, keys ID) {
	if l.shape.Older.NoRows {
		l.appendKeys(s, keys)
		return
	}
	row := l.reshape(s.k, n(s.dimK*s.kvHeads), sym(tokens))
	l.Expand(l.into(SetRows, keys, row, l.indices(&l.keyIDs[s.cache], sym(tokens)), l.oneTensor(keys)))
}

// storeValues: without flash attention values are kept transposed, as wide as the widest layer's, with one
// index for each number.
func (l *lowering) storeValues(s *qkv, values ID) {
	width := s.dimV * s.kvHeads
	if l.shape.Older.NoRows {
		l.appendValues(s, values)
		return
	}
	if l.shape.Flash {
		row := l.reshape(s.v, n(width), sym(tokens))
		l.Expand(l.into(SetRows, values, row, l.indices(&l.valueIDs[s.cache], sym(tokens)), l.oneTensor(values)))
		return
	}
	row := l.straight(s.v, n(width), sym(tokens))
	if width < l.maxV {
		row = l.new(Pad, f32, dims(n(l.maxV), sym(tokens)), row)
	}
	each := by(l.maxV, tokens)
	row = l.reshape(row, n(1), each)
	l.Expand(l.into(SetRows, values, row, l.indices(&l.valueIDs[s.cache], each), l.reshape(values)))
}

func (l *lowering) maskFor(s *qkv) ID {
	m := &l.mask[s.cache]
	if *m == 0 {
		t := f32
		if l.shape.Flash && !l.shape.Older.WideMask {
			t = f16
		}
		*m = l.leaf(t, sym(s.cells), sym(tokens))
		if l.shape.Flash && l.shape.Older.WideMask {
			*m = l.new(Cpy, f16, dims(sym(s.cells), sym(tokens)), *m)
		}
	}
	return *m
}

func (l *lowering) attend(o *model.Op, s *qkv, keys, values ID) ID {
	a := o.Attn
	ne := l.node(s.q).ne
	q := l.part(l.part(s.q, ne[:]...), n(s.dimK), sym(tokens), n(a.Heads))
	kc := l.part(keys)
	k := l.cached(l.part(kc), s, l.site.keyRow(s.dimK*s.kvHeads))
	var v ID
	if s.valueInKey {
		v = l.cached(l.part(l.part(kc)), s, l.site.keyRow(s.dimK*s.kvHeads))
		whole := l.size(v)
		whole[formOne] -= l.site.keyRow(s.dimK) - l.site.keyRow(s.dimV) // what follows the values in the last row
		v = l.sized(v, whole)
	} else {
		v = l.cached(l.part(l.part(values)), s, l.site.valueRow(s.dimV*s.kvHeads))
	}
	mask := []ID{l.maskFor(s)}
	if a.Sinks {
		mask = append(mask, l.weight())
	}
	if l.shape.Flash {
		return l.flash(o, s, append([]ID{q, k, v}, mask...))
	}
	return l.plainAttention(o, s, q, k, v, mask)
}

func (l *lowering) flash(o *model.Op, s *qkv, src []ID) ID {
	a := o.Attn
	y := l.new(Flash, f32, dims(n(s.dimV), n(a.Heads), sym(tokens)), src...)
	l.node(y).aux = ID(len(l.Graph.heads))
	l.Graph.heads = append(l.Graph.heads, s.flashHeads(a.Heads))
	if la := s.latent; la != nil {
		y = l.new(MulMat, f32, dims(n(la.V), sym(tokens), n(a.Heads)), l.weight(), l.part(y, n(s.dimV), sym(tokens), n(a.Heads)))
		y = l.new(Cont, f32, dims(n(la.V), n(a.Heads), sym(tokens)), l.part(y, n(la.V), n(a.Heads), sym(tokens)))
	}
	return l.reshape(y, n(o.Out), sym(tokens))
}

// plainAttention: scores of every query with every cell, softmax, values.
func (l *lowering) plainAttention(o *model.Op, s *qkv, q, k, v ID, mask []ID) ID {
	a := o.Attn
	dimV := s.dimV
	if s.valueInKey {
		v = l.transposedLatent(s, v)
	}
	scores := l.new(MulMat, f32, dims(sym(s.cells), sym(tokens), n(a.Heads)), k, q)
	if a.Cap {
		scores = l.softcap(scores)
	}
	p := l.like(SoftMax, append([]ID{scores}, mask...)...)
	y := l.new(MulMat, f32, dims(n(dimV), sym(tokens), n(a.Heads)), v, p)
	if la := s.latent; la != nil {
		y = l.new(MulMat, f32, dims(n(la.V), sym(tokens), n(a.Heads)), l.weight(), y)
		dimV = la.V
	}
	y = l.new(Cont, f32, dims(n(o.Out), sym(tokens)), l.part(y, n(dimV), n(a.Heads), sym(tokens)))
	l.node(y).pin = l.site.scoresPin()
	return y
}

// transposedLatent: values inside the keys must be copied out transposed, those of all streams.
func (l *lowering) transposedLatent(s *qkv, v ID) ID {
	t := l.part(v)
	l.node(t).typ = f16
	var f Form
	f[s.allCells()] = width[f16] * s.dimV
	return l.sized(l.new(Cont, f16, dims(sym(s.cells), n(s.dimV)), t), f)
}

func (s *qkv) flashHeads(heads int64) flashHeads {
	h := flashHeads{dimK: s.dimK, dimV: s.dimV, group: heads / s.kvHeads, keys: s.dimK * s.kvHeads, values: s.dimV * s.kvHeads,
		cells: s.allCells()}
	if s.valueInKey {
		h.values = 0
	}
	return h
}

// allCells is the form of the cells of all streams.
func (s *qkv) allCells() int {
	if s.cells == windowCells {
		return formAllWindowCells
	}
	return formAllCells
}

// cached gives a view of a cache its bytes, for where it must be copied.
func (l *lowering) cached(x ID, s *qkv, row int64) ID {
	var f Form
	f[s.allCells()] = row
	return l.sized(x, f)
}
