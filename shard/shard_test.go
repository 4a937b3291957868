package shard_test

import (
	"fmt"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/model/catalog/catalogtest"
	"github.com/memwall/memwall/shard"
)

func build(t testing.TB, id string) *model.Model {
	t.Helper()
	return catalogtest.Model(t, id)
}

// TestSharesSumToTheWhole: over the ranks of a group, elements less declared replicas are the model.
func TestSharesSumToTheWhole(t *testing.T) {
	for _, e := range catalog.All() {
		m := build(t, e.ID)
		for _, p := range []shard.Parallel{{TP: 2}, {TP: 4}, {TP: 8}, {TP: 16}, {TP: 3}, {TP: 8, EP: 8}, {TP: 8, EP: 4}, {TP: 4, EP: 2}} {
			if p.EP > 1 && (m.Traits.Experts == 0 || m.Traits.Experts%p.EP != 0) {
				continue
			}
			p = p.Normal()
			for i := range m.Parts {
				sums(t, m.ID, &m.Parts[i], p)
			}
		}
	}
}

// TestFeedForwardGroups: dense layers and shared experts that are cut over other ranks than attention is.
func TestFeedForwardGroups(t *testing.T) {
	m := build(t, "deepseek-v3")
	for _, p := range []shard.Parallel{{TP: 4, DenseTP: 1}, {TP: 4, DenseTP: 2, SharedTP: 2}, {TP: 8, EP: 8, SharedTP: 1}} {
		p = p.Normal()
		sums(t, m.ID, m.Decoder(), p)
	}
	held := func(p shard.Parallel) (dense, shared, rest int64) {
		p = p.Normal()
		m.Decoder().Each(func(k *model.Kind, _ int64) {
			for i := range k.Ops {
				for _, w := range k.Ops[i].W {
					switch n := p.Piece(w, p.Coord(0)).Elems(); w.Role {
					case dtype.FFNGate, dtype.FFNUp, dtype.FFNDown:
						dense += n
					case dtype.FFNGateSh, dtype.FFNUpSh, dtype.FFNDownSh:
						shared += n
					default:
						rest += n
					}
				}
			}
		})
		return dense, shared, rest
	}
	d, s, r := held(shard.Parallel{TP: 1, DP: 8, EP: 8})
	if d8, s8, r8 := held(shard.Parallel{TP: 1, DP: 8, EP: 8, DenseTP: 8, SharedTP: 8}); d8*8 != d || s8*8 != s || r8 != r ||
		d == 0 || s == 0 {
		t.Errorf("cut eight ways: %d of %d, %d of %d, the rest %d and %d", d8, d, s8, s, r8, r)
	}
}

func sums(t *testing.T, id string, part *model.Part, p shard.Parallel) {
	t.Helper()
	part.Each(func(k *model.Kind, _ int64) {
		for i := range k.Ops {
			for _, w := range k.Ops[i].W {
				var n int64
				for r := range p.TP {
					own, replica := p.Share(w, p.Coord(r))
					n += own - replica
				}
				if n != w.Elems() {
					t.Errorf("%s, tp %d ep %d, %s %s: ranks hold %d, the tensor %d", id, p.TP, p.EP, k.Name, w.GGUF(-1), n, w.Elems())
				}
			}
		}
	})
}

// TestLocalKindMatchesPieces: the local kind's tensors are the pieces.
func TestLocalKindMatchesPieces(t *testing.T) {
	for _, id := range []string{"llama-3.1-70b", "deepseek-v3", "granite-4.0-h-small", "qwen3-next-80b-a3b", "phi-4", "jamba-v0.1"} {
		m := build(t, id)
		for _, p := range []shard.Parallel{{TP: 2}, {TP: 4}, {TP: 8, EP: 8}} {
			p = p.Normal()
			if m.Traits.Experts == 0 {
				p.EP = 1
			}
			for r := range p.TP {
				for i := range m.Decoder().Kinds {
					k := &m.Decoder().Kinds[i]
					local := p.Kind(k, p.Coord(r))
					for o := range k.Ops {
						for j, w := range k.Ops[o].W {
							if got, want := local.Ops[o].W[j].Elems(), p.Piece(w, p.Coord(r)).Elems(); got != want {
								t.Errorf("%s %s rank %d %s: local %d, piece %d", id, k.Name, r, w.Role, got, want)
							}
						}
					}
				}
			}
		}
	}
}

// TestCaches: grouped heads are divided, then replicated; latents are whole on every rank.
func TestCaches(t *testing.T) {
	for _, c := range []struct {
		id   string
		tp   int64
		want int64 // elements per token and layer on a rank
	}{
		{"llama-3.1-70b", 1, 2 * 8 * 128}, {"llama-3.1-70b", 8, 2 * 128}, {"llama-3.1-70b", 16, 2 * 128},
		{"deepseek-v3", 8, 576}, {"qwen3-30b-a3b", 8, 2 * 128},
	} {
		k := &build(t, c.id).Decoder().Kinds[0]
		p := shard.Parallel{TP: c.tp}.Normal()
		local := p.Kind(k, p.Coord(0))
		local.Caches(func(got model.Cache) {
			if got.K+got.V != c.want {
				t.Errorf("%s tp %d: %d elements, want %d", c.id, c.tp, got.K+got.V, c.want)
			}
		})
	}
}

func TestLayout(t *testing.T) {
	part := build(t, "llama-3.1-70b").Decoder()
	ranks, err := shard.Layout(part, shard.Parallel{TP: 8, PP: 3, DP: 2})
	if err != nil {
		t.Fatal(err)
	}
	layers, count := 0, int64(0)
	for _, r := range ranks {
		layers += r.Last - r.First
		count += r.Count
	}
	if layers != 80 || count != 48 || !ranks[0].Pre || !ranks[len(ranks)-1].Post {
		t.Errorf("%d layers on %d ranks: %+v", layers, count, ranks)
	}
	if _, err := shard.Layout(part, shard.Parallel{PP: 2, Stages: []int{40, 39}}); err == nil {
		t.Error("79 layers in stages pass for 80")
	}
}

// TestUnevenVocabularyMakesClasses: ranks that hold different pieces are told apart.
func TestUnevenVocabularyMakesClasses(t *testing.T) {
	m := build(t, "llama-2-7b") // 32,000 rows
	ranks, err := shard.Layout(m.Decoder(), shard.Parallel{TP: 3})
	if err != nil {
		t.Fatal(err)
	}
	n := int64(0)
	for _, r := range ranks {
		n += r.Count
	}
	if len(ranks) < 2 || n != 3 {
		t.Errorf("%d classes of %d ranks: %s", len(ranks), n, fmt.Sprint(ranks))
	}
}

func BenchmarkLayout(b *testing.B) {
	part := build(b, "deepseek-v3").Decoder()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := shard.Layout(part, shard.Parallel{TP: 8}); err != nil {
			b.Fatal(err)
		}
	}
}
