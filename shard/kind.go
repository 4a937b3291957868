package shard

import "github.com/memwall/memwall/model"

// Kind returns a rank's share of a kind: the same operators with smaller tensors, heads and widths. Latent caches,
// norms over the full width and routers are replicated.
func (p *Parallel) Kind(k *model.Kind, c Coord) model.Kind {
	out := model.Kind{Name: k.Name, Ops: append([]model.Op(nil), k.Ops...), Out: k.Out, Side: k.Side}
	for i := range out.Ops {
		o := &out.Ops[i]
		p.tensors(o, c)
		switch {
		case o.Attn != nil:
			p.attention(o, c)
		case o.Scan != nil:
			p.scan(o, c)
		}
		o.Out = p.width(k, &out, i)
	}
	return out
}

func (p *Parallel) tensors(o *model.Op, c Coord) {
	w := make([]*model.Tensor, len(o.W))
	for j, t := range o.W {
		w[j] = p.tensor(t, c)
	}
	o.W = w
}

func (p *Parallel) tensor(t *model.Tensor, c Coord) *model.Tensor {
	l := *t
	whole := p.Piece(t, c)
	l.Batch, l.Cols = whole.Batch, whole.Cols
	l.Segs = append([]model.Seg(nil), t.Segs...)
	for i := range l.Segs {
		one := *t
		one.Segs = t.Segs[i : i+1]
		l.Segs[i].Rows = p.Piece(&one, c).Rows
	}
	return &l
}

func (p *Parallel) attention(o *model.Op, c Coord) {
	a := *o.Attn
	a.Heads, _ = cut(a.Heads, model.ByHead, 1, p.TP, c.TP)
	if a.Latent == nil {
		a.KVHeads, _ = cut(a.KVHeads, model.ByKVHead, 1, p.TP, c.TP)
	}
	o.Attn = &a
}

func (p *Parallel) scan(o *model.Op, c Coord) {
	s := *o.Scan
	s.Heads, _ = cut(s.Heads, model.ByHead, 1, p.TP, c.TP)
	s.Inner = s.Heads * s.HeadDim
	if s.Groups > 0 {
		s.Groups, _ = cut(s.Groups, model.ByGroup, 1, p.TP, c.TP)
	}
	o.Scan = &s
}

// width returns the width of a local result, from its weights or heads, or from its input's.
func (p *Parallel) width(whole, local *model.Kind, i int) int64 {
	o := &local.Ops[i]
	switch o.Kind {
	case model.Linear, model.ExpertLinear, model.Head:
		return o.W[0].Rows()
	case model.Attention:
		return o.Attn.Heads * o.Attn.DimV
	case model.Conv:
		return o.Scan.ConvDim()
	case model.Scan:
		return o.Scan.Inner
	case model.Embed, model.Route, model.Combine, model.Add:
		return o.Out
	}
	if v := o.In[0]; v > 0 {
		return o.Out * local.Ops[v-1].Out / max(1, whole.Ops[v-1].Out)
	}
	return o.Out
}
