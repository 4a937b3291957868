package ggml

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// How a value's rows are laid out: flat (one row per token), in heads, or grouped by sequence.

// rows is how many rows the value at hand has.
func (l *lowering) rows() Dim {
	if l.gathered {
		return sym(outputs)
	}
	return sym(tokens)
}

func (nd *node) bySeq() bool { return nd.ne[2] == sym(seqs) || nd.ne[3] == sym(seqs) }

// flat is a value with one row of w elements per token.
func (l *lowering) flat(x ID, w int64) ID {
	if nd := l.node(x); nd.ne[0] == n(w) && nd.ne[1] == l.rows() {
		return x
	}
	return l.reshape(x, n(w), l.rows())
}

// grouped is a value with its rows of w elements grouped by sequence, in one piece.
func (l *lowering) grouped(x ID, w int64) ID {
	nd := l.node(x)
	if nd.ne[0] == n(w) && nd.bySeq() && !nd.strided {
		return x
	}
	return l.straight(x, n(w), sym(perSeq), sym(seqs))
}

// heads is a value with its rows parted into heads.
func (l *lowering) heads(x ID, unit, out int64) ID {
	nd := l.node(x)
	if nd.ne[0] == n(unit) && nd.ne[1] == n(out/unit) {
		return x
	}
	if nd.bySeq() {
		return l.reshape(x, n(unit), n(out/unit), sym(perSeq), sym(seqs))
	}
	return l.reshape(x, n(unit), n(out/unit), l.rows())
}

// parted is a reshaped value that slices share.
func (l *lowering) parted(x ID, d ...Dim) ID { return l.parting.reshape(l.Graph, x, dims(d...)) }

func (m *memo) reshape(g *Graph, x ID, ne extent) ID {
	if m.of != x || m.ne != ne {
		*m = memo{x, g.viewOf(x, false, ne), ne}
	}
	return m.view
}

// slice is a view. Parts of heads are taken from a value parted into heads.
func (l *lowering) slice(o *model.Op, x ID) ID {
	r := []Dim{l.rows()}
	if o.BySeq {
		r = []Dim{sym(perSeq), sym(seqs)}
	}
	view := func(x ID, d ...Dim) ID { return l.spanned(l.part(x, append(d, r...)...), x, o) }
	switch {
	case o.In[0] == model.Side:
		return view(x, n(o.Out))
	case o.Rows == model.PerChoice:
		return view(x, n(o.Out), n(o.Moe.Used))
	case o.Stride > 0:
		heads := n(o.Out / o.Unit)
		if !l.quirks.unparted {
			x = l.parted(x, append([]Dim{n(o.Stride), heads}, r...)...)
		}
		return view(x, n(o.Unit), heads)
	case o.BySeq && !l.node(x).bySeq():
		x = l.parted(x, append([]Dim{l.node(x).ne[0]}, r...)...)
	}
	if p := l.producer(o, 0); l.shape.Older.CopiedParts && p != nil && p.Role == dtype.AttnQKV && !o.BySeq {
		return l.new(Cont, f32, dims(n(o.Out), l.rows()), view(x, n(o.Out)))
	}
	if o.Unit == 0 {
		return view(x, n(o.Out))
	}
	return view(x, n(o.Unit), n(o.Out/o.Unit))
}

// spanned gives a part of every row the bytes from its first element to its last, for where it must be
// copied: whole rows but for what follows the part in the last one.
func (l *lowering) spanned(v, x ID, o *model.Op) ID {
	if ne := l.node(l.root(x)).ne; o.In[0] == model.Side || o.Rows == model.PerChoice || ne[1].Sym == tokens && !ne[2].isOne() {
		return v // experts' rows, or one of several streams, which lie behind each other
	}
	reach := o.Out
	if o.Stride > 0 {
		reach = (o.Out/o.Unit-1)*o.Stride + o.Unit
	}
	return l.reaching(v, reach)
}

// reaching gives a part of every row, whose last element is so many behind its first, the bytes that it spans.
func (g *Graph) reaching(v ID, reach int64) ID {
	whole := g.size(g.root(v))
	whole[formOne] -= whole[formTokens] + whole[formOutputs] - width[f32]*reach
	return g.sized(v, whole)
}

// concat of a part of each head with a part that all heads share.
func (l *lowering) concat(o *model.Op, a ID) ID {
	b := l.in(o, 1)
	heads := n(o.Out / o.Unit)
	if nd := l.node(b); nd.ne[1] != heads {
		b = l.new(Repeat, f32, dims(nd.ne[0], heads, l.rows()), b)
	}
	return l.new(Concat, f32, dims(n(o.Unit), heads, l.rows()), a, b)
}

// gather marks the last mixer's end: rows that nobody needs logits for are dropped there, in most families.
func (l *lowering) gather(x ID) ID {
	if !l.last || l.quirks.gather != afterMixer {
		return x
	}
	l.dropped = model.Val(l.i + 1)
	return l.withLogits(x)
}
