package shard_test

import (
	"testing"

	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/shard"
)

// TestClassesAreAlike: the ranks of a class hold equally large pieces of every tensor, and all ranks are in
// one class.
func TestClassesAreAlike(t *testing.T) {
	for _, id := range catalog.IDs() {
		m := build(t, id)
		for _, p := range []shard.Parallel{{TP: 2}, {TP: 3}, {TP: 7}, {TP: 8}, {TP: 16}, {TP: 8, EP: 8}, {TP: 8, EP: 2}, {TP: 6, EP: 3}} {
			if p.EP > 1 && (m.Traits.Experts == 0 || m.Traits.Experts%p.EP != 0) {
				continue
			}
			p = p.Normal()
			ranks, err := shard.Layout(m.Decoder(), p)
			if err != nil {
				t.Fatal(err)
			}
			next := int64(0)
			for _, c := range ranks {
				if c.Index != next || c.First != 0 || c.Last != len(m.Decoder().Layers) {
					t.Errorf("%s, %+v: a class at %d, %d come before", id, p, c.Index, next)
				}
				for r := c.Index; r < c.Index+c.Count; r++ {
					checkAlike(t, id, m.Decoder(), p, c.Coord, p.Coord(r))
				}
				next += c.Count
			}
			if next != p.TP {
				t.Errorf("%s, %+v: %d ranks in classes", id, p, next)
			}
		}
	}
}

func checkAlike(t *testing.T, id string, part *model.Part, p shard.Parallel, a, b shard.Coord) {
	t.Helper()
	part.Each(func(k *model.Kind, _ int64) {
		for i := range k.Ops {
			for _, w := range k.Ops[i].W {
				if x, y := p.Piece(w, a).Elems(), p.Piece(w, b).Elems(); x != y {
					t.Errorf("%s, %+v, %s %s: rank %d holds %d, the class %d", id, p, k.Name, w.Role, b.TP, y, x)
				}
			}
		}
	})
}

// TestCachesSumToTheWhole: heads that are divided are kept once, heads that are fewer than ranks are copied,
// and no rank keeps more than the whole.
func TestCachesSumToTheWhole(t *testing.T) {
	for _, id := range catalog.IDs() {
		m := build(t, id)
		for _, tp := range []int64{2, 4, 8, 16} {
			p := shard.Parallel{TP: tp}.Normal()
			m.Decoder().Each(func(k *model.Kind, _ int64) {
				whole, all, most := cacheElems(k), int64(0), int64(0)
				for r := range tp {
					local := p.Kind(k, p.Coord(r))
					n := cacheElems(&local)
					all += n
					most = max(most, n)
				}
				if all < whole || most > whole {
					t.Errorf("%s, tp %d, %s: ranks keep %d, the most of one %d, the whole is %d", id, tp, k.Name, all, most, whole)
				}
			})
		}
	}
}

func cacheElems(k *model.Kind) (n int64) {
	k.Caches(func(c model.Cache) { n += c.K + c.V + c.ConvElems + c.StateElems })
	return n
}

// TestStages: layers are divided over stages in order, the larger shares first, none lost.
func TestStages(t *testing.T) {
	for layers := 1; layers <= 130; layers += 3 {
		for stages := 1; stages <= layers; stages += 2 {
			even := shard.Even(layers, stages)
			sum := 0
			for i, n := range even {
				if sum += n; n < 1 || i > 0 && n > even[i-1] || even[0]-n > 1 {
					t.Errorf("%d layers in %d stages: %v", layers, stages, even)
				}
			}
			if sum != layers {
				t.Errorf("%d layers in %d stages: %d", layers, stages, sum)
			}
		}
	}
}
