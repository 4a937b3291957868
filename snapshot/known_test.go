package snapshot

import (
	"testing"

	"github.com/memwall/memwall/model"
)

// toy is the model of testdata/make.py: four layers of 8 and 16 MiB in 16 bits, and a head of 48.
func toy(head int64) *model.Model {
	matrix := func(mib int64) *model.Tensor {
		return &model.Tensor{Batch: 1, Segs: []model.Seg{{Rows: mib << 9}}, Cols: 1 << 10, Dims: 2}
	}
	layer := model.Kind{Ops: []model.Op{{Kind: model.Linear, W: []*model.Tensor{matrix(8)}}, {Kind: model.Linear, W: []*model.Tensor{matrix(16)}}}}
	p := model.Part{Kinds: []model.Kind{layer}, Layers: []uint8{0, 0, 0, 0}, Post: model.Kind{Ops: []model.Op{{Kind: model.Linear, W: []*model.Tensor{matrix(head)}}}}}
	p.Count()
	return &model.Model{Parts: []model.Part{p}}
}

// TestKnownModel: a record without stacks names parameters and states of its model by their sizes, and nothing by those of another.
func TestKnownModel(t *testing.T) {
	for _, c := range []struct {
		head, parameters, states int64
	}{{48, 144 << 20, 576 << 20}, {512, 0, 0}} {
		s := load(t, "bare")
		s.Know(toy(c.head))
		got := map[Category]int64{}
		for _, h := range s.Report().Devices[0].Held {
			got[h.Category] = h.Bytes
		}
		if got[Parameters] != c.parameters || got[Optimizer] != c.states {
			t.Errorf("with a head of %d MiB: %d bytes of parameters, %d of states", c.head, got[Parameters], got[Optimizer])
		}
	}
}
