package family

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// kindBuilder is a writing aid: each call appends one operator and gives its value.
type kindBuilder struct{ k model.Kind }

// op appends. It is not inlined, which would be 60 kB in the places that call it.
//
//go:noinline
func (b *kindBuilder) op(o model.Op, in ...model.Val) model.Val {
	o.In = [4]model.Val{model.None, model.None, model.None, model.None}
	copy(o.In[:], in)
	b.k.Ops = append(b.k.Ops, o)
	b.k.Out = model.Val(len(b.k.Ops))
	return b.k.Out
}

func (b *kindBuilder) width(v model.Val) int64 { return b.k.Ops[v-1].Out }

func vector(role dtype.Role, n int64, by model.Split, unit int64) *model.Tensor {
	return &model.Tensor{Role: role, Batch: 1, Segs: []model.Seg{{Rows: n, By: by, Unit: unit}}, Cols: 1, Dims: 1}
}

// matrix with rows cut one way and columns another; either may be Whole. It is not inlined either.
//
//go:noinline
func matrix(role dtype.Role, rows model.Seg, cols model.Seg) *model.Tensor {
	return &model.Tensor{Role: role, Batch: 1, Segs: []model.Seg{rows}, Cols: cols.Rows, ColsBy: cols.By, ColUnit: cols.Unit, Dims: 2, Adapt: true}
}

func unsplit(n int64) model.Seg       { return model.Seg{Rows: n} }
func heads(n, unit int64) model.Seg   { return model.Seg{Rows: n, By: model.ByHead, Unit: unit} }
func kvHeads(n, unit int64) model.Seg { return model.Seg{Rows: n, By: model.ByKVHead, Unit: unit} }
func inner(n int64) model.Seg         { return model.Seg{Rows: n, By: model.ByInner} }
func groups(n, unit int64) model.Seg  { return model.Seg{Rows: n, By: model.ByGroup, Unit: unit} }
func vocabulary(n int64) model.Seg    { return model.Seg{Rows: n, By: model.ByVocab} }
func bias(t *model.Tensor) *model.Tensor {
	v := &model.Tensor{Role: t.Role, Bias: true, Batch: t.Batch, BatchBy: t.BatchBy, Segs: t.Segs, Cols: 1, Dims: 1}
	if t.Batch > 1 {
		v.Dims = 2
	}
	return v
}

// norm over the whole row.
func (b *kindBuilder) norm(kind NormKind, role dtype.Role, x model.Val, n int64) model.Val {
	if kind == NoNorm {
		return x
	}
	return b.op(model.Op{Kind: model.Norm, Role: role, Out: n, Mean: kind.mean(), W: normWeights(kind, vector(role, n, model.Whole, 0))}, x)
}

func (k NormKind) mean() bool { return k == LayerNorm || k == LayerNormBias || k == PlainNorm }

func normWeights(kind NormKind, t *model.Tensor) []*model.Tensor {
	switch kind {
	case LayerNormBias:
		return []*model.Tensor{t, bias(t)}
	case PlainNorm:
		return nil
	}
	return []*model.Tensor{t}
}

// headNorm normalises every head of width unit by one weight of that width.
func (b *kindBuilder) headNorm(role dtype.Role, x model.Val, unit int64) model.Val {
	return b.op(model.Op{Kind: model.Norm, Role: role, Out: b.width(x), Unit: unit, W: []*model.Tensor{vector(role, unit, model.Whole, 0)}}, x)
}

func (b *kindBuilder) linear(x model.Val, t *model.Tensor, withBias bool) model.Val {
	w := []*model.Tensor{t}
	if withBias {
		w = append(w, bias(t))
	}
	return b.op(model.Op{Kind: model.Linear, Role: t.Role, Out: t.Rows(), W: w}, x)
}

// slice is a run of a row, in heads of unit elements, or in one piece when unit is 0.
func (b *kindBuilder) slice(x model.Val, out, off, unit int64) model.Val {
	return b.op(model.Op{Kind: model.Slice, Out: out, Off: off, Unit: unit}, x)
}

// ofEach is a part of each of n heads that are stride wide: unit elements from off.
func (b *kindBuilder) ofEach(x model.Val, n, stride, off, unit int64) model.Val {
	return b.op(model.Op{Kind: model.Slice, Out: n * unit, Off: off, Unit: unit, Stride: stride}, x)
}

// grouped marks the last operator's rows as grouped by sequence.
func (b *kindBuilder) grouped(x model.Val) model.Val {
	b.k.Ops[x-1].BySeq = true
	return x
}

// bySeq is a slice for a scan: rows grouped by sequence.
func (b *kindBuilder) bySeq(x model.Val, out, off, unit int64) model.Val {
	return b.op(model.Op{Kind: model.Slice, Out: out, Off: off, Unit: unit, BySeq: true}, x)
}

func (b *kindBuilder) add(x, y model.Val, n int64) model.Val {
	return b.op(model.Op{Kind: model.Add, Out: n}, x, y)
}

func (b *kindBuilder) scale(x model.Val, n int64, w ...*model.Tensor) model.Val {
	return b.op(model.Op{Kind: model.Scale, Out: n, W: w}, x)
}

func (b *kindBuilder) gather(x model.Val, n int64) model.Val {
	return b.op(model.Op{Kind: model.Gather, Out: n}, x)
}

// glu is act(gate) * value.
func (b *kindBuilder) glu(fn model.ActFn, gate, value model.Val, unit int64) model.Val {
	g, v := b.k.Ops[gate-1], b.k.Ops[value-1]
	return b.op(model.Op{Kind: model.Glu, Out: max(g.Out, v.Out), Unit: unit, Rows: v.Rows, Moe: v.Moe, Fn: fn}, gate, value)
}

func (b *kindBuilder) act(fn model.ActFn, x model.Val) model.Val {
	o := b.k.Ops[x-1]
	return b.op(model.Op{Kind: model.Act, Out: o.Out, Rows: o.Rows, Moe: o.Moe, Fn: fn}, x)
}
