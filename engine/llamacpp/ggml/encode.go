package ggml

import "github.com/memwall/memwall/model"

// encode is attention of a whole text at once: nothing is cached, and every token sees those of its batch, so
// that the cells are the batch's own (src/llama-graph.cpp, build_attn_inp_no_cache).
func (l *lowering) encode(o *model.Op) ID {
	s := l.project(o)
	l.Expand(s.q)
	l.Expand(s.k)
	l.Expand(s.v)
	q := l.part(l.part(s.q, l.node(s.q).ne[:]...), n(s.dimK), sym(tokens), n(o.Attn.Heads))
	k := l.part(s.k, n(s.dimK), sym(tokens), n(s.kvHeads))
	v := l.part(s.v, n(s.dimV), sym(tokens), n(s.kvHeads))
	var y ID
	if l.shape.Flash {
		y = l.flash(o, s, []ID{q, l.halved(k), l.halved(v), l.maskFor(s)})
	} else {
		v = l.new(Cont, f32, dims(sym(tokens), n(s.dimV), n(s.kvHeads)), l.part(v, sym(tokens), n(s.dimV), n(s.kvHeads)))
		y = l.plainAttention(o, s, q, k, v, []ID{l.maskFor(s)})
	}
	l.Expand(y)
	return y
}

// halved is a value in f16. Its node is its own second source, as casts are in ggml.
func (l *lowering) halved(x ID) ID {
	y := l.new(Cpy, f16, l.node(x).ne, x, 0)
	l.sourcesOf(y)[1] = y
	return y
}
