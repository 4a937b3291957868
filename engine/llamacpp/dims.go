package llamacpp

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// dims are the widths of one kind of layer, as the compute buffer's formulas ask for them.
type dims struct {
	attn     *model.Attn
	fusedQKV bool
	inner    int64 // of the dense MLP, 0 for none
	gated    bool
	side     bool  // attention and MLP side by side, behind one norm
	expert   int64 // width of one expert, 0 for none
	used     int64 // experts that a token goes to
	scan     *model.ScanDims
	scanIn   int64 // rows of the projection into a scan
	postNorm bool  // norms after the branches only: the branches read the stream itself
}

func dimsOf(k *model.Kind) (d dims) {
	ffnNorm, before := false, false
	for i := range k.Ops {
		o := &k.Ops[i]
		switch {
		case o.Attn != nil:
			d.attn = o.Attn
		case o.Kind == model.Scan:
			d.scan = o.Scan
		case o.Rows == model.PerChoice && (o.Kind == model.Glu || o.Kind == model.Act):
			d.expert, d.used = o.Out, o.Moe.Used
		case o.Kind == model.Norm:
			before = before || o.Role == dtype.AttnNorm
			ffnNorm = ffnNorm || o.Role == dtype.FFNNorm || o.Role == dtype.AttnPostNorm
		case o.Kind == model.Linear:
			d.linear(o)
		}
	}
	if d.scan != nil {
		d.fusedQKV = false
	}
	d.side = d.inner > 0 && d.attn != nil && !ffnNorm
	d.postNorm = d.attn != nil && !before
	return d
}

func (d *dims) linear(o *model.Op) {
	switch o.Role {
	case dtype.AttnQKV:
		d.fusedQKV = true
	case dtype.FFNGate:
		d.gated = true
	case dtype.FFNUp:
		d.inner = o.Out
		if len(o.W[0].Segs) == 2 { // gate and up in one matrix
			d.inner, d.gated = o.Out/2, true
		}
	case dtype.SSMIn:
		d.scanIn = o.Out
	}
}

// keys and values are the elements of one cached row.
func (d *dims) keys() int64   { return d.attn.KVHeads * d.attn.DimK }
func (d *dims) values() int64 { return d.attn.KVHeads * d.attn.DimV }

// queries are the elements of one token's queries.
func (d *dims) queries() int64 { return d.attn.Heads * d.attn.DimK }

// rotates reports whether any layer of a part rotates queries by position.
func rotates(p *model.Part) bool {
	for i := range p.Kinds {
		for j := range p.Kinds[i].Ops {
			if p.Kinds[i].Ops[j].Kind == model.Rope {
				return true
			}
		}
	}
	return false
}
