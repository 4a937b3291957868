package engine

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/shard"
	"github.com/memwall/memwall/unit"
)

// KindCount is a kind of layer, as one rank holds it, and how many such layers the rank has.
type KindCount struct {
	Kind  *model.Kind
	Count int64
	// Variant is how the layers are stored: an index into the part's variants.
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

// Place gives each class of ranks its layers and its share of their kinds.
func Place(part *model.Part, w *model.PartWeights, p shard.Parallel) ([]Placed, error) {
	p = p.Normal()
	ranks, err := shard.Layout(part, p)
	if err != nil {
		return nil, err
	}
	out := make([]Placed, len(ranks))
	cut := map[shard.Coord][]*model.Kind{} // stages cut their layers alike
	for i, r := range ranks {
		out[i] = Placed{Rank: r, Parallel: p, Part: part, Weights: w}
		if cut[r.Coord] == nil {
			cut[r.Coord] = make([]*model.Kind, len(part.Kinds))
		}
		out[i].Kinds = out[i].localKinds(cut[r.Coord])
	}
	return out, nil
}

// LocalKinds are the layers First..Last by variant, as this rank holds them.
// Local is a kind as this rank holds it.
func (pl *Placed) LocalKinds() []KindCount {
	return pl.localKinds(make([]*model.Kind, len(pl.Part.Kinds)))
}

// localKinds fills in the kinds that were not cut before.
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

// Local is a kind as this rank holds it.
func (pl *Placed) Local(k *model.Kind) *model.Kind {
	if pl.Parallel.TP <= 1 && pl.Parallel.EP <= 1 {
		return k
	}
	l := pl.Parallel.Kind(k, pl.Coord)
	return &l
}

// WeightGroup is the stored bytes of all layers of one variant, or of an end of the part.
type WeightGroup struct {
	Name  string
	Count int64
	// Tensors of one layer: the whole tensor, and the bytes that the rank holds of it.
	Tensors []WeightTensor
}

// WeightTensor is a tensor and what the rank holds of it.
type WeightTensor struct {
	*model.Tensor
	Local  unit.Bytes
	Main   unit.Bytes // of Local, the elements without their companions
	Scheme *dtype.Scheme
}

// WeightGroups lists what the rank stores: embedding (on the first stage), layers, head (on the last; a
// tied head on another stage than the embedding is a second copy).
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

// tiedHead is the embedding table again, for a head that reads it from another stage.
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

// PreTensors lists the tensors before the layers, in the order of PartWeights.Pre.
func PreTensors(p *model.Part) (out []*model.Tensor) {
	for i := range p.Pre.Ops {
		if !p.Pre.Ops[i].Lent {
			out = append(out, p.Pre.Ops[i].W...)
		}
	}
	return out
}
