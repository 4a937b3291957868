package family

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// branches gives every matrix of the layer its low-rank branches: their bytes are resident, and a step of text reads none.
func (b *layerBuilder) branches() {
	out, n := b.k.Out, len(b.k.Ops)
	for _, br := range b.l.Branches {
		if br.QKV == 0 && br.Rest == 0 {
			continue
		}
		for i := range n {
			if o := &b.k.Ops[i]; o.Kind == model.Linear && len(o.W) > 0 && o.W[0].Dims == 2 {
				b.branch(o.W[0], br.rank(o.W[0].Role), o.In[0])
			}
		}
	}
	b.k.Out = out
}

func (r Branch) rank(role dtype.Role) int64 {
	if role == dtype.AttnQKV {
		return r.QKV
	}
	return r.Rest
}

// branch of one matrix: down to the rank, and up to the matrix's rows, which are cut as its own are.
func (b *layerBuilder) branch(of *model.Tensor, rank int64, x model.Val) {
	down := matrix(dtype.BranchDown, unsplit(rank), model.Seg{Rows: of.Cols, By: of.ColsBy, Unit: of.ColUnit})
	up := matrix(dtype.BranchUp, unsplit(of.Rows()), unsplit(rank))
	up.Segs = of.Segs
	y := b.linear(x, down, false)
	z := b.linear(y, up, false)
	b.k.Ops[y-1].Rows, b.k.Ops[z-1].Rows = model.PerOther, model.PerOther
}
