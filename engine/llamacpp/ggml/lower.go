package ggml

import (
	"fmt"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// Shape is what changes the graph itself, and not only its sizes.
type Shape struct {
	Flash bool
	// QuantisedK, QuantisedV: the cache is quantised, so that keys and values are rotated first.
	QuantisedK, QuantisedV bool
	// Streams: more than one sequence has a stream of its own.
	Streams bool
	Older   Older
}

// lowering walks the operators and keeps what is built once.
type lowering struct {
	*Graph
	m      *model.Model
	shape  Shape
	site   *Site
	quirks quirks
	slides bool  // the model has sliding layers, hence two caches
	maxV   int64 // widest values of all layers

	k     *model.Kind // at hand
	val   []ID        // its values
	i     int         // operator at hand
	w     int         // its tensors that were read
	layer int         // at hand, or model.InPre, model.InPost
	last  bool        // the last layer
	// dropped is the value at which this layer's rows without logits are dropped; gathered, whether any
	// have been.
	dropped  model.Val
	gathered bool
	delta    bool // the layer's mixer is a delta net
	side     ID   // what layers read beside the stream
	deep     ID   // embeddings beside the first, which single layers read

	pos, outIDs    ID
	temper         ID
	keyIDs         [2]ID // by cache: full, sliding
	valueIDs       [2]ID
	mask           [2]ID
	lies           [2]Spot // the last cache
	own, shared    []ID    // tensors of what is at hand, and of all layers
	rotK, rotV     [2]ID
	stateIDs       ID
	stateMain      ID
	stateExtra     ID
	parting        memo // of the last value that slices parted
	expertRows     memo // of the last value that experts read
	expertWeighted memo // of the same, weighted before
}

// memo is a reshaped value that several operators share.
type memo struct {
	of, view ID
	ne       extent
}

func allOf[T any](layers []T) []int {
	all := make([]int, len(layers))
	for i := range all {
		all[i] = i
	}
	return all
}

// lower builds it with some of the layers, in this order, in the memory of another graph.
func lower(g *Graph, m *model.Model, layers []int, s Shape, site *Site) (*Graph, error) {
	if err := check(m); err != nil {
		return nil, err
	}
	p := m.Decoder()
	l := &lowering{Graph: g.roomFor(256 + 128*len(layers)), m: m, shape: s, site: site, layer: model.InPre, quirks: familyQuirks[m.Family],
		slides: len(m.Windows()) > 0, maxV: widestValues(p)}
	x := l.inputs()
	x, err := l.kind(&p.Pre, x)
	if err != nil {
		return nil, err
	}
	l.Expand(x)
	l.layOutSide(&p.Pre)
	for i, n := range layers {
		l.mark()
		l.last, l.layer = i == len(layers)-1, n
		if x, err = l.kind(&p.Kinds[p.Layers[n]], x); err != nil {
			return nil, err
		}
		if int64(n) < l.quirks.deepStack {
			x = l.like(Add, x, l.part(l.deep, Dim{N: m.Hidden}, sym(tokens)))
		}
	}
	l.mark()
	if l.quirks.keepsStream {
		l.keep(x)
	}
	l.last, l.layer = false, model.InPost
	if x, err = l.kind(&p.Post, x); err != nil {
		return nil, err
	}
	l.Expand(l.keep(x))
	return l.Graph, nil
}

func widestValues(p *model.Part) (width int64) {
	for i := range p.Kinds {
		p.Kinds[i].Caches(func(c model.Cache) { width = max(width, c.V) })
	}
	return width
}

// inputs: the embedding table, the tokens, and the embeddings that could come instead of them.
func (l *lowering) inputs() ID {
	l.k = &l.m.Decoder().Pre
	table := l.weight()
	l.Expand(table)
	ids := l.leaf(i32, sym(tokens))
	l.Expand(ids)
	if !l.shape.Older.OneInput {
		l.Expand(l.leaf(f32, n(l.embedded()), sym(tokens)))
	}
	x := l.new(GetRows, f32, dims(n(l.m.Hidden), sym(tokens)), table, ids)
	if l.quirks.deepStack > 0 {
		x = l.new(Pad, f32, dims(n(l.embedded()), sym(tokens)), x)
		x = l.part(x, n(l.m.Hidden), sym(tokens))
		l.deep = x
	}
	l.Expand(x)
	return x
}

// embedded is the width of embeddings that come instead of tokens.
func (l *lowering) embedded() int64 { return l.m.Hidden * (1 + l.quirks.deepStack) }

func (l *lowering) kind(k *model.Kind, x ID) (ID, error) {
	l.k, l.val, l.own, l.dropped, l.delta = k, append(l.val[:0], x), l.own[:0], 0, false
	for l.i = range k.Ops {
		l.w = 0
		y, err := l.op(&k.Ops[l.i])
		if err != nil {
			return 0, err
		}
		l.val = append(l.val, y)
		if l.i == 0 && l.quirks.normFirst {
			l.Expand(y)
		}
	}
	return l.val[k.Out], nil
}

// weight is the next tensor of the operator at hand.
func (l *lowering) weight() ID {
	w := l.k.Ops[l.i].W
	t := w[min(l.w, len(w)-1)]
	l.w++
	return l.tensor(&l.own, t)
}

// tensor is a tensor of the model where it lies: one node, however often it is read.
func (l *lowering) tensor(known *[]ID, t *model.Tensor) ID {
	home := l.site.home(l.layer, t)
	for _, x := range *known {
		if l.tensors[l.node(x).aux].t == t && l.node(x).home == home {
			return x
		}
	}
	x := l.stored(tensorOf{l.layer, t}, home)
	*known = append(*known, x)
	return x
}

// cache is memory that the layer keeps between batches.
func (l *lowering) cache() ID { return l.external(l.site.cache(l.layer)) }

// keptOf is an attention's cache; layers that share one read that of the last layer with its own of that kind.
func (l *lowering) keptOf(kind int, shared bool) ID {
	if !shared {
		l.lies[kind] = l.site.cache(l.layer)
	}
	return l.external(l.lies[kind])
}

// in is an operator's input. Once rows are dropped, what was computed before loses them on first use.
func (l *lowering) in(o *model.Op, i int) ID {
	v := o.In[i]
	switch {
	case v == model.Side:
		return l.side
	case v < 0:
		return 0
	case v < l.dropped && l.node(l.val[v]).ne[1].Sym != outputs:
		l.val[v] = l.withLogits(l.val[v])
	}
	return l.val[v]
}

// withLogits drops the rows without logits.
func (l *lowering) withLogits(x ID) ID {
	l.gathered = true
	if l.outIDs == 0 {
		l.outIDs = l.leaf(i32, sym(outputs))
	}
	return l.new(GetRows, f32, dims(l.node(x).ne[0], sym(outputs)), x, l.outIDs)
}

func (l *lowering) op(o *model.Op) (ID, error) {
	switch o.Kind {
	case model.Glu:
		return l.glu(o), nil
	case model.Attention:
		if a := o.Attn; a.Index != nil || a.OneKV || a.Compress > 0 {
			return 0, noRule(l.m.Family, "sparse attention")
		}
		return l.attention(o), nil
	case model.Add:
		return l.sum(o), nil
	case model.Mix:
		return l.mix(o)
	case model.Embed:
		return l.embed(o), nil
	}
	x := l.in(o, 0)
	switch o.Kind {
	case model.Linear, model.Head:
		return l.linear(o, x), nil
	case model.Norm:
		return l.norm(o, x), nil
	case model.Slice:
		return l.slice(o, x), nil
	case model.Concat:
		return l.concat(o, x), nil
	case model.Rope:
		return l.rope(o, x), nil
	case model.Scale:
		return l.scale(o, x), nil
	case model.Act:
		return l.act(o, x), nil
	case model.Gather:
		return l.gather(x), nil
	case model.Route:
		return l.route(o, x), nil
	case model.ExpertLinear:
		return l.expertLinear(o, x), nil
	case model.Combine:
		return l.combine(o, x), nil
	case model.Conv:
		return l.conv(o, x), nil
	case model.Scan:
		return l.scan(o, x), nil
	}
	return 0, noRule(l.m.Family, fmt.Sprintf("operator %d", o.Kind))
}

// producer is the operator that made an input, nil for the stream.
func (l *lowering) producer(o *model.Op, i int) *model.Op {
	if v := o.In[i]; v > 0 {
		return &l.k.Ops[v-1]
	}
	return nil
}

// embed: the first table has been read already. Others: positions, or what layers read beside the stream.
func (l *lowering) embed(o *model.Op) ID {
	switch o.Role {
	case dtype.PositionEmbd:
		return l.new(GetRows, f32, dims(n(o.Out), sym(tokens)), l.weight(), l.positions())
	case dtype.TokenTypes:
		return l.part(l.weight(), n(o.Out)) // the first row: all tokens are of one segment
	case dtype.PerLayerEmbd:
		x := l.new(GetRows, f32, dims(n(o.Out), sym(tokens)), l.weight(), l.leaf(i32, sym(tokens)))
		return l.reshape(x, n(o.Unit), n(o.Out/o.Unit), sym(tokens))
	}
	return l.val[0]
}

// layOutSide puts the layers' own parts behind each other.
func (l *lowering) layOutSide(pre *model.Kind) {
	if pre.Side == 0 {
		return
	}
	x := l.val[pre.Side]
	ne := dims(l.node(x).ne[0], sym(tokens), l.node(x).ne[1])
	l.side = l.new(Cont, f32, ne, l.viewOf(x, true, ne))
}

func (l *lowering) positions() ID {
	if l.pos == 0 {
		l.pos = l.leaf(i32, by(max(1, l.quirks.positions), tokens))
	}
	return l.pos
}
