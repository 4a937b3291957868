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
	if s.job.Plan.MMProj == "" || s.job.Vision == nil && s.job.Projector == nil {
		return out
	}
	graph := s.imageGraph(b)
	graph.Place = place
	return append(out, s.towerWeights(b, place), graph)
}

const clipFile = "docs/formulas.md#llama-projector"

// towerWeights are as the file has them; without it, those of the published tower.
func (s *sizer) towerWeights(b *ledger.Book, place ledger.Place) ledger.Item {
	if p := s.job.Projector; p != nil {
		return ledger.Known("mmproj.weights", "vision projector", b.Size("tensors", p.Bytes, "its file"), ledger.Exact, ledger.Persistent, place, clipFile)
	}
	matrices, vectors := towerElems(s.job.Vision)
	n := b.Add(b.Mul(b.Lit(2), b.Int("matrix_elements", matrices, "vision tower")), b.Mul(b.Lit(4), b.Int("vector_elements", vectors, "norms and biases")))
	w := ledger.Known("mmproj.weights", "vision projector", n, ledger.Derived, ledger.Persistent, place, "tools/mtmd/clip.cpp: f16, vectors f32")
	return w.Band(dtype.Q8_0.Row(matrices)+unit.Bytes(4*vectors), unit.Bytes(4*(matrices+vectors)))
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
