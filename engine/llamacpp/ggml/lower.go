package ggml

import (
	"fmt"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// Shape is what changes the graph itself, and not only its sizes.
type Shape struct {
	Flash bool
	// RotateK and RotateV are the widths of the rotations that precede a quantised cache, 0 for none
	// (Hadamard matrices, so that outliers spread).
	RotateK, RotateV int64
	// Streams: more than one sequence has a stream of its own.
	Streams bool
}

// lowering walks the operators and keeps what is built once.
type lowering struct {
	*Graph
	m      *model.Model
	shape  Shape
	slides bool // the model has sliding layers, hence two caches

	val  []ID // values of the kind at hand
	last bool // the last layer: rows without logits are dropped
	// gathered: rows have been dropped.
	gathered bool

	pos, outIDs  ID
	keyIDs       [2]ID // by cache: full, sliding
	valueIDs     [2]ID
	mask         [2]ID
	rotK, rotV   [2]ID
	stateIDs     ID
	stateMain    ID
	stateExtra   ID
	seqOf, seqV  ID // the last value reshaped to sequences
	headOf, head ID // the last value reshaped to heads
}

// Lower builds the graph of a model's decoder for one micro-batch.
func Lower(m *model.Model, s Shape) (*Graph, error) {
	l := &lowering{Graph: &Graph{all: make([]node, 1, 256+160*len(m.Decoder().Layers))}, m: m, shape: s, slides: hasWindows(m)}
	p := m.Decoder()
	x := l.inputs()
	x, err := l.kind(&p.Pre, x)
	if err != nil {
		return nil, err
	}
	l.Expand(x)
	for i, k := range p.Layers {
		l.mark()
		l.last = i == len(p.Layers)-1
		if x, err = l.kind(&p.Kinds[k], x); err != nil {
			return nil, err
		}
	}
	l.mark()
	if x, err = l.kind(&p.Post, x); err != nil {
		return nil, err
	}
	l.Expand(x)
	return l.Graph, nil
}

func hasWindows(m *model.Model) bool { return len(m.Spans()) > 0 }

// inputs: the embedding table, the tokens, and the embeddings that could come instead of them.
func (l *lowering) inputs() ID {
	table := l.weight()
	l.Expand(table)
	ids := l.leaf(i32, of(tokens))
	l.Expand(ids)
	l.Expand(l.leaf(f32, n(l.m.Hidden), of(tokens)))
	return l.new(GetRows, f32, dims(n(l.m.Hidden), of(tokens)), table, ids)
}

func (l *lowering) kind(k *model.Kind, x ID) (ID, error) {
	l.val = append(l.val[:0], x)
	for i := range k.Ops {
		y, err := l.op(&k.Ops[i])
		if err != nil {
			return 0, err
		}
		l.val = append(l.val, y)
	}
	return l.val[k.Out], nil
}

// rows is how many rows the value at hand has.
func (l *lowering) rows() Dim {
	if l.gathered {
		return of(outputs)
	}
	return of(tokens)
}

func (l *lowering) in(o *model.Op, i int) ID {
	if o.In[i] < 0 {
		return 0
	}
	return l.val[o.In[i]]
}

// once makes a node on first use.
func (l *lowering) once(x *ID, make func() ID) ID {
	if *x == 0 {
		*x = make()
	}
	return *x
}

func (l *lowering) op(o *model.Op) (ID, error) {
	x := l.in(o, 0)
	switch o.Kind {
	case model.Embed:
		return l.val[0], nil
	case model.Linear, model.Head:
		return l.linear(o, x), nil
	case model.Norm:
		return l.norm(o, x), nil
	case model.Slice:
		return l.slice(o, x), nil
	case model.Rope:
		return l.rope(o, x), nil
	case model.Add:
		return l.sum(o, x), nil
	case model.Scale:
		return l.scale(o, x), nil
	case model.Glu:
		return l.glu(o, x), nil
	case model.Act:
		return l.like(Unary, x), nil
	case model.Gather:
		return l.gather(o, x), nil
	case model.Attention:
		return l.attention(o), nil
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
	return 0, &UnknownError{Op: o.Kind, Family: l.m.Family}
}

// UnknownError says that a model's graph is not known: its compute buffer can only be derived.
type UnknownError struct {
	Op     model.OpKind
	Family string
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("no graph is known for operator %d of %s", e.Op, e.Family)
}

func (l *lowering) linear(o *model.Op, x ID) ID {
	y := l.new(MulMat, f32, dims(n(o.Out), l.rows()), l.weight(), l.flat(x))
	for _, t := range o.W {
		if t.Bias {
			y = l.like(Add, y, l.weight())
		}
	}
	return y
}

// flat is a value with one row per token.
func (l *lowering) flat(x ID) ID {
	nd := l.at(x)
	r := l.rows()
	if nd.ne[2].isOne() && nd.ne[3].isOne() && nd.ne[1] == r {
		return x
	}
	if nd.ne[1].isOne() && nd.ne[2] == r && nd.view != 0 { // reshaped for experts: read the original
		return nd.src[0]
	}
	w := nd.ne[0].constant()
	if nd.ne[1].N == 0 {
		w *= nd.ne[1].constant()
	}
	return l.reshape(x, n(w), r)
}

// heads is a value with its rows parted into heads.
func (l *lowering) heads(x ID, unit, out int64) ID {
	r := l.rows()
	if nd := l.at(x); nd.ne[0] == n(unit) && nd.ne[2] == r {
		return x
	}
	if l.headOf != x {
		l.headOf, l.head = x, l.reshape(x, n(unit), n(out/unit), r)
	}
	return l.head
}

func (l *lowering) norm(o *model.Op, x ID) ID {
	r := l.rows()
	switch {
	case o.Unit > 0 && o.Unit < o.Out:
		x = l.heads(x, o.Unit, o.Out)
	case l.at(x).ne[1] != r || !l.at(x).ne[2].isOne():
		x = l.reshape(x, n(o.Out), n(1), of(perSeq), of(seqs))
	}
	op := RMSNorm
	if len(o.W) > 1 || l.layerNorm(o) {
		op = Norm
	}
	y := l.like(op, x)
	for i, t := range o.W {
		if i == 0 && !t.Bias {
			y = l.like(Mul, y, l.weight())
		} else {
			y = l.like(Add, y, l.weight())
		}
	}
	return y
}

// layerNorm: norms with a mean that have no bias.
func (l *lowering) layerNorm(o *model.Op) bool {
	return l.m.Family == "command-r" || l.m.Family == "cohere2"
}

func (l *lowering) slice(o *model.Op, x ID) ID {
	if o.BySeq {
		if o.Unit == 0 {
			return l.part(l.sequences(x), n(o.Out), of(perSeq), of(seqs))
		}
		return l.part(l.sequences(x), n(o.Unit), n(o.Out/o.Unit), of(perSeq), of(seqs))
	}
	r := l.rows()
	if o.Unit == o.Out { // one group: the rest of the row belongs to another value
		if o.Off == 0 {
			return l.part(x, n(o.Out), r)
		}
		return l.part(x, n(o.Out), n(1), r)
	}
	groups := o.Out / o.Unit
	x = l.heads(x, l.at(x).ne[0].constant()/groups, l.at(x).ne[0].constant())
	return l.part(x, n(o.Unit), n(groups), r)
}

// sequences is a value reshaped to sequences, made once.
func (l *lowering) sequences(x ID) ID {
	if l.seqOf != x {
		l.seqOf, l.seqV = x, l.reshape(x, l.at(x).ne[0], of(perSeq), of(seqs))
	}
	return l.seqV
}

func (l *lowering) positions() ID {
	return l.once(&l.pos, func() ID { return l.leaf(i32, of(tokens)) })
}

func (l *lowering) rope(o *model.Op, x ID) ID {
	if len(o.W) > 0 {
		return 0 // a table of factors, which the ropes read
	}
	if nd := l.at(x); nd.view == 0 || !nd.strided {
		x = l.heads(x, o.Unit, o.Out)
	}
	return l.like(Rope, x, l.positions())
}

// sum: in the last layer the other side of a residual loses its unused rows too.
func (l *lowering) sum(o *model.Op, a ID) ID {
	b := l.in(o, 1)
	if l.last && o.In[1] == 0 && l.gathered {
		b = l.new(GetRows, f32, dims(l.at(b).ne[0], of(outputs)), b, l.outIDs)
		l.val[0] = b
	}
	return l.like(Add, a, b)
}

func (l *lowering) scale(o *model.Op, x ID) ID {
	if len(o.W) > 0 {
		return l.like(Mul, x, l.weight())
	}
	return l.like(Scale, x)
}

func (l *lowering) glu(o *model.Op, x ID) ID {
	y := l.in(o, 1)
	if l.at(x).strided {
		x = l.new(Cont, f32, l.at(y).ne, x)
	}
	return l.like(Glu, x, y)
}

func (l *lowering) gather(o *model.Op, x ID) ID {
	if !l.last {
		return x
	}
	l.gathered = true
	l.once(&l.outIDs, func() ID { return l.leaf(i32, of(outputs)) })
	return l.new(GetRows, f32, dims(n(o.Out), of(outputs)), x, l.outIDs)
}

var _ = dtype.AttnQ
