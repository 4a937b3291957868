package engine

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/shard"
	"github.com/memwall/memwall/unit"
)

// KindCount is a kind of layer as sharded to one rank, and the rank's number of such layers.
type KindCount struct {
	Kind  *model.Kind
	Count int64
	// Variant is how the layers are stored, as an index into the part's variants.
	Variant int
}

// Placed is a class of ranks with its share of the decoder.
type Placed struct {
	shard.Rank
	Parallel shard.Parallel
	Part     *model.Part
	Weights  *model.PartWeights
	Kinds    []KindCount
}

// Place distributes layers over stages and shards their kinds, and returns the share of each class of ranks.
func Place(part *model.Part, w *model.PartWeights, p shard.Parallel) ([]Placed, error) {
	p = p.Normal()
	ranks, err := shard.Layout(part, p)
	if err != nil {
		return nil, err
	}
	out := make([]Placed, len(ranks))
	cut := map[shard.Coord][]*model.Kind{} // stages shard layers alike
	for i, r := range ranks {
		out[i] = Placed{Rank: r, Parallel: p, Part: part, Weights: w}
		if cut[r.Coord] == nil {
			cut[r.Coord] = make([]*model.Kind, len(part.Kinds))
		}
		out[i].Kinds = out[i].localKinds(cut[r.Coord])
	}
	return out, nil
}

// LocalKinds returns the rank's layers First..Last by variant, as sharded to it.
func (pl *Placed) LocalKinds() []KindCount {
	return pl.localKinds(make([]*model.Kind, len(pl.Part.Kinds)))
}

// localKinds shards the kinds not yet in local.
func (pl *Placed) localKinds(local []*model.Kind) []KindCount {
	counts := make([]int64, len(pl.Weights.Variants))
	for l := pl.First; l < pl.Last; l++ {
		counts[pl.Weights.Layers[l]]++
	}
	var out []KindCount
	for v, n := range counts {
		if n == 0 {
			continue
		}
		k := pl.Weights.Variants[v].Kind
		if local[k] == nil {
			local[k] = pl.Local(&pl.Part.Kinds[k])
		}
		out = append(out, KindCount{Kind: local[k], Count: n, Variant: v})
	}
	return out
}

// Local returns a kind as sharded to this rank.
func (pl *Placed) Local(k *model.Kind) *model.Kind {
	if pl.Parallel.TP <= 1 && pl.Parallel.EP <= 1 {
		return k
	}
	l := pl.Parallel.Kind(k, pl.Coord)
	return &l
}

// WeightGroup is the stored size of all layers of one variant, or of the tensors before or after the layers.
type WeightGroup struct {
	Name  string
	Count int64
	// Tensors of one layer: the whole tensor, and the rank's bytes of it.
	Tensors []WeightTensor
}

// WeightTensor is a tensor and the rank's share of it.
type WeightTensor struct {
	*model.Tensor
	Local  unit.Bytes
	Main   unit.Bytes // part of Local in elements, without companions
	Scheme *dtype.Scheme
}

// WeightGroups returns what the rank stores: embedding (on the first stage), layers, and head (on the last; a tied head
// on another stage than the embedding is a second copy).
func (pl *Placed) WeightGroups() []WeightGroup {
	var out []WeightGroup
	if pl.Pre {
		out = append(out, pl.group("before", &pl.Part.Pre, pl.Weights.Pre, 1))
	}
	for i := range pl.Kinds {
		k := &pl.Kinds[i]
		v := &pl.Weights.Variants[k.Variant]
		out = append(out, pl.group(k.Kind.Name, &pl.Part.Kinds[v.Kind], v.Tensors, k.Count))
	}
	if pl.Post {
		g := pl.group("after", &pl.Part.Post, pl.Weights.Post, 1)
		if !pl.Pre {
			g.Tensors = append(g.Tensors, pl.tiedHead()...)
		}
		out = append(out, g)
	}
	return out
}

func (pl *Placed) group(name string, k *model.Kind, stored []model.Stored, count int64) WeightGroup {
	g := WeightGroup{Name: name, Count: count, Tensors: make([]WeightTensor, 0, len(stored))}
	i := 0
	for o := range k.Ops {
		if k.Ops[o].Lent {
			continue
		}
		for _, t := range k.Ops[o].W {
			g.Tensors = append(g.Tensors, pl.tensor(t, stored[i]))
			i++
		}
	}
	return g
}

func (pl *Placed) tensor(t *model.Tensor, s model.Stored) WeightTensor {
	w := WeightTensor{Tensor: t, Local: pl.Parallel.Bytes(t, s, pl.Coord)}
	w.Main, w.Scheme = w.Local, s.Scheme
	if s.Scheme != nil && len(s.Scheme.With) > 0 {
		p := pl.Parallel.Piece(t, pl.Coord)
		w.Main = unit.Bytes(p.Batch*p.Rows) * s.Scheme.Elem.Row(p.Cols)
	}
	return w
}

// tiedHead returns the second copy of the embedding for a tied head on another stage.
func (pl *Placed) tiedHead() []WeightTensor {
	for i := range pl.Part.Post.Ops {
		o := &pl.Part.Post.Ops[i]
		if o.Kind != model.Head || !o.Lent {
			continue
		}
		for j, t := range PreTensors(pl.Part) {
			if t == o.W[0] {
				return []WeightTensor{pl.tensor(t, pl.Weights.Pre[j])}
			}
		}
	}
	return nil
}

// PreTensors returns the tensors before the layers, in the order of PartWeights.Pre.
func PreTensors(p *model.Part) (out []*model.Tensor) {
	for i := range p.Pre.Ops {
		if !p.Pre.Ops[i].Lent {
			out = append(out, p.Pre.Ops[i].W...)
		}
	}
	return out
}
