package llamacpp

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// --mmproj: a vision tower and its projector in a file of their own, all of it on the first device
// unless --no-mmproj-offload keeps it on the host (tools/mtmd/clip.cpp).

// addProjector books the tower's tensors and its graph of one image.
func (s *sizer) addProjector(b *ledger.Book, out []ledger.Item, place ledger.Place) []ledger.Item {
	t := s.job.Vision
	if s.job.Plan.MMProj == "" || t == nil {
		return out
	}
	const source = "tools/mtmd/clip.cpp"
	matrices, vectors := towerElems(t)
	n := b.Add(b.Mul(b.Lit(2), b.Int("matrix_elements", matrices, "vision tower")), b.Mul(b.Lit(4), b.Int("vector_elements", vectors, "norms and biases")))
	w := ledger.Known("mmproj.weights", "vision projector", n, ledger.Derived, ledger.Persistent, place, source+": f16, vectors f32")
	out = append(out, w.Band(dtype.Q8_0.Row(matrices)+unit.Bytes(4*vectors), unit.Bytes(4*(matrices+vectors))))
	graph := s.imageGraph(b, t, source)
	graph.Place = place
	return append(out, graph)
}

func towerElems(p *model.Part) (matrices, vectors int64) {
	p.Tensors(func(_ int, t *model.Tensor) {
		if t.Dims > 1 {
			matrices += t.Elems()
		} else {
			vectors += t.Elems()
		}
	})
	return matrices, vectors
}

// imageGraph is the compute buffer for an image: scores of every patch with every other, and what a layer holds
// of each patch at its widest, in fp32. The low edge is flash attention's, which needs no scores.
func (s *sizer) imageGraph(b *ledger.Book, t *model.Part, source string) ledger.Item {
	patches, width, heads := towerDims(t)
	if patches == 0 || heads == 0 {
		return ledger.Item{ID: "mmproj.compute", Name: "graph of an image, whose size decides", Unknown: true, Basis: ledger.Assumed, Life: ledger.Ephemeral, Place: ledger.Device, Source: source}
	}
	p := b.Int("patches", patches, "learned positions")
	rows := b.Mul(b.Lit(4), p, b.In("widest", widest(t, width), "numbers of one patch alive at once"))
	n := b.Add(b.Mul(b.Lit(4), b.Int("heads", heads, "vision tower"), p, p), rows)
	it := ledger.Known("mmproj.compute", "graph of an image", n, ledger.Derived, ledger.Ephemeral, ledger.Device, source)
	return it.Band(rows.Bytes(), n.Bytes()+n.Bytes()/10) // a tenth more: assumed
}

// towerDims: patches are known where each has a learned position.
func towerDims(p *model.Part) (patches, width, heads int64) {
	p.Each(func(k *model.Kind, _ int64) {
		for i := range k.Ops {
			switch o := &k.Ops[i]; {
			case o.Role == dtype.VisionPosition:
				patches, width = o.W[0].Rows(), o.W[0].Cols
			case o.Attn != nil:
				heads = o.Attn.Heads
			}
		}
	})
	return patches, width, heads
}
