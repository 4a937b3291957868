package ggml

import "github.com/memwall/memwall/model"

// Older is how graphs of builds before v0.5.0 differ. The zero value is v0.5.0.
type Older struct {
	// OneInput: embeddings that could come instead of tokens are not inputs of their own.
	OneInput bool
	// WideMask: with flash attention the mask comes in f32 and is copied to f16.
	WideMask bool
	// NoRows: a batch is copied behind what the cache holds, without the numbers of its rows.
	NoRows bool
	// PlainGates: gated units are an activation and a product.
	PlainGates bool
	// CopiedParts: queries, keys and values are copied out of one projection of all three.
	CopiedParts bool
	// OwnTables: each layer has a table of rotary factors of its own.
	OwnTables bool
	Latent    LatentCache
}

// LatentCache is what latent attention keeps.
type LatentCache uint8

const (
	LatentOnly     LatentCache = iota // one latent
	LatentAndValue                    // and its first part again as values
	LatentExpanded                    // keys and values of every head
)

// expandLatent computes keys and values of every head from the latent.
func (l *lowering) expandLatent(o *model.Op, s *qkv) {
	a, la := o.Attn, o.Attn.Latent
	qn, qr, c, kr := l.in(o, 0), l.in(o, 1), l.in(o, 2), l.in(o, 3)
	each := la.Nope + la.V
	wide := l.new(MulMat, f32, dims(n(each*a.Heads), sym(tokens)), l.weight(), c)
	kn := l.part(wide, n(la.Nope), n(a.Heads), sym(tokens))
	s.v = l.new(Cont, f32, dims(n(la.V), n(a.Heads), sym(tokens)), l.part(wide, n(la.V), n(a.Heads), sym(tokens)))
	s.q = l.new(Concat, f32, dims(n(la.Nope+la.Rope), n(a.Heads), sym(tokens)), qn, qr)
	every := l.new(Repeat, f32, dims(n(la.Rope), n(a.Heads), sym(tokens)), kr)
	s.k = l.new(Concat, f32, dims(n(la.Nope+la.Rope), n(a.Heads), sym(tokens)), kn, every)
	s.dimK, s.dimV, s.kvHeads, s.latent = la.Nope+la.Rope, la.V, a.Heads, nil
}

// append copies a batch's keys behind those of the cache.
func (l *lowering) appendKeys(s *qkv, keys ID) {
	l.Expand(l.into(Cpy, keys, s.k, l.part(keys)))
}

// appendValues does the same with values, which without flash attention are kept transposed.
func (l *lowering) appendValues(s *qkv, values ID) {
	row := l.straight(s.v, n(s.dimV*s.kvHeads), sym(tokens))
	if !l.shape.Flash {
		row = l.part(row, sym(tokens), n(s.dimV*s.kvHeads))
	}
	l.Expand(l.into(Cpy, values, row, l.part(values)))
}
