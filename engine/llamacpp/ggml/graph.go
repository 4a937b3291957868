// Package ggml lowers a model's operators to the graph that llama.cpp builds for its worst case, node by
// node in its order, and compiles the graph to the lifetimes that its allocator replays.
//
// The order is written nowhere: it emerges from depth-first expansion at the points where llama.cpp
// expands. graph.go has nodes and shapes, lower.go the operators, attention.go, experts.go and scan.go the
// larger ones, compile.go the lifetimes. Rules: ggml/src/ggml.c, ggml/src/ggml-alloc.c and
// src/llama-graph.cpp of llama.cpp v0.5.0; tests hold the result against graphs that it printed.
package ggml

// Sym is a size that is only known when a plan is.
type Sym uint8

const (
	fixed       Sym = iota
	tokens          // of the micro-batch
	outputs         // rows with logits
	cells           // of one stream of the cache
	windowCells     // of one stream of the sliding layers' cache
	seqs            // sequences, for recurrent states
	perSeq          // tokens of one sequence: tokens / seqs
	symbols
)

// Dim is N × Sym + Add elements.
type Dim struct {
	N, Add int64
	Sym    Sym
}

func n(x int64) Dim           { return Dim{Add: x} }
func of(s Sym) Dim            { return Dim{N: 1, Sym: s} }
func by(x int64, s Sym) Dim   { return Dim{N: x, Sym: s} }
func (d Dim) isOne() bool     { return d.N == 0 && d.Add == 1 }
func (d Dim) constant() int64 { return d.Add }

// Type of a node's elements.
type Type uint8

const (
	f32 Type = iota
	f16
	i32
	i64
)

var width = [...]int64{f32: 4, f16: 2, i32: 4, i64: 8}

// OpCode is an operation of ggml, as far as the allocator tells them apart.
type OpCode uint8

const (
	Leaf OpCode = iota
	View        // RESHAPE, VIEW, PERMUTE, TRANSPOSE
	GetRows
	MulMat
	MulMatID
	Cont
	Flash
	Glu
	Concat
	Argsort
	SumRows
	SSMConv
	SSMScan
	Cpy
	SetRows
	Pad
	Repeat
	Norm
	L2Norm
	Cumsum
	Tri
	SolveTri
	GatedDelta
	RoPEBack
	Cast
	// From here on a node may take over the memory of a parent.
	reusing
	Add
	AddID
	Sub
	Mul
	Div
	Scale
	Clamp
	Unary
	Rope
	RMSNorm
	SoftMax
	Fill
	DiagMask
	Sqr
)

// ID is a node of a Graph; 0 is none.
type ID int32

const maxSources = 10

type node struct {
	op       OpCode
	typ      Type
	strided  bool // not laid out like a fresh tensor
	external bool // weight or cache: has memory of its own
	seen     bool
	sources  uint8
	src      [maxSources]ID
	view     ID // root of a view
	ne       [4]Dim
	form     Form
	aux      ID // handle for later operators, no source
}

// Graph is nodes in the order in which they run. Marks are where layers begin.
type Graph struct {
	all   []node
	Nodes []ID
	Leafs []ID
	Marks []int
}

func (g *Graph) at(x ID) *node { return &g.all[x] }

func (g *Graph) new(op OpCode, t Type, ne [4]Dim, src ...ID) ID {
	nd := node{op: op, typ: t, ne: ne, form: formOf(t, ne)}
	nd.sources = uint8(copy(nd.src[:], src))
	g.all = append(g.all, nd)
	return ID(len(g.all) - 1)
}

func dims(d ...Dim) (ne [4]Dim) {
	for i := range ne {
		ne[i] = n(1)
		if i < len(d) {
			ne[i] = d[i]
		}
	}
	return ne
}

// like is a new node with the dimensions of its first source.
func (g *Graph) like(op OpCode, src ...ID) ID { return g.new(op, f32, g.at(src[0]).ne, src...) }

func (g *Graph) leaf(t Type, d ...Dim) ID { return g.new(Leaf, t, dims(d...)) }

// weight is memory that the graph does not allocate.
func (g *Graph) weight() ID {
	x := g.new(Leaf, f32, dims())
	g.at(x).external = true
	return x
}

// reshape is a view with the layout of a fresh tensor.
func (g *Graph) reshape(x ID, d ...Dim) ID { return g.viewOf(x, false, d...) }

// part is a view of some rows, columns or a permutation.
func (g *Graph) part(x ID, d ...Dim) ID { return g.viewOf(x, true, d...) }

func (g *Graph) viewOf(x ID, strided bool, d ...Dim) ID {
	v := g.new(View, g.at(x).typ, dims(d...), x)
	nd := g.at(v)
	nd.strided = strided || g.at(x).strided
	nd.view = g.root(x)
	return v
}

func (g *Graph) root(x ID) ID {
	if v := g.at(x).view; v != 0 {
		return v
	}
	return x
}

// into is an operation whose result is a view of where it writes.
func (g *Graph) into(op OpCode, destination ID, src ...ID) ID {
	x := g.new(op, g.at(destination).typ, dims(), src...)
	g.at(x).view = g.root(destination)
	return x
}

// Expand appends a node and what it needs, depth first, sources left to right.
func (g *Graph) Expand(x ID) {
	nd := g.at(x)
	if x == 0 || nd.seen {
		return
	}
	nd.seen = true
	for i := range nd.sources {
		g.Expand(g.at(x).src[i])
	}
	if g.at(x).op == Leaf {
		g.Leafs = append(g.Leafs, x)
		return
	}
	g.Nodes = append(g.Nodes, x)
}

func (g *Graph) mark() { g.Marks = append(g.Marks, len(g.Nodes)) }
