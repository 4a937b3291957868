// Package ggml lowers a model's operators to the graph that llama.cpp builds for its worst case, node by node in its
// order; schedules the graph on devices and host; compiles it to the lifetimes that each allocator sees; and replays
// them, yielding compute buffer sizes to the byte.
//
// The order is not specified anywhere: it emerges from depth-first expansion at the points where llama.cpp expands. See
// peak.go for the results; graph.go has nodes and shapes, lower.go the walk over the operators, steps.go, attention.go,
// experts.go, scan.go, delta.go and altup.go the lowering of each, quirks.go what is specific to single families,
// older.go how older builds differ, site.go and schedule.go which backend runs what and what is copied, compile.go the
// lifetimes, short.go the repetition of layers. Rules: ggml/src/ggml.c, ggml/src/ggml-alloc.c, src/llama-graph.cpp and
// src/models of llama.cpp v0.5.0; tests compare the result with graphs that it printed.
package ggml

import (
	"slices"

	"github.com/memwall/memwall/model"
)

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

// Dim is N × Sym + Plus elements; N elements when Sym is fixed.
type Dim struct {
	N    int64
	Plus int32
	Sym  Sym
}

func n(x int64) Dim         { return Dim{N: x} }
func sym(s Sym) Dim         { return Dim{N: 1, Sym: s} }
func by(x int64, s Sym) Dim { return Dim{N: x, Sym: s} } //nolint:unparam // one of the three ways to write a Dim
func (d Dim) isOne() bool   { return d == Dim{N: 1} }

// extent is up to four dimensions, innermost first; missing ones are 1.
type extent [4]Dim

func dims(d ...Dim) (ne extent) {
	for i := range ne {
		ne[i] = n(1)
		if i < len(d) {
			ne[i] = d[i]
		}
	}
	return ne
}

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
	Mean
	SSMConv
	SSMScan
	GatedDelta
	Cpy
	SetRows
	Pad
	Repeat
	Norm
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
	Sqr
	Sqrt
)

// ID is a node of a Graph; 0 is none.
type ID int32

type node struct {
	op       OpCode
	typ      Type
	strided  bool // not laid out like a fresh tensor
	external bool // weight or cache: has memory of its own
	stored   bool // a tensor of the model, and no cache
	home     Spot // of external memory
	pin      Spot // where llama.cpp wants it to run, less one; 0 for anywhere
	output   bool // read after the graph has run: never freed, never taken over
	seen     bool
	sources  uint8
	odd      int16 // 1 + index of a size that is not a product of the dimensions
	src      int32 // first source in Graph.src
	view     ID    // root of a view
	aux      ID    // handle for later operators, no source; of a stored tensor, its number in Graph.tensors
	ne       extent
}

// Graph is nodes in the order in which they run. Marks are where layers begin.
type Graph struct {
	all []node
	src []ID
	odd []Form
	// tensors of the model that nodes read.
	tensors []tensorOf
	// heads of flash attention, by the aux of its nodes.
	heads []flashHeads
	Nodes []ID
	Leafs []ID
	Marks []int
}

// roomFor makes room for so many nodes in what another graph left.
func (g *Graph) roomFor(nodes int) *Graph {
	*g = Graph{all: append(slices.Grow(g.all[:0], nodes), node{}), src: slices.Grow(g.src[:0], 2*nodes),
		Nodes: slices.Grow(g.Nodes[:0], nodes), Leafs: slices.Grow(g.Leafs[:0], nodes/4),
		odd: g.odd[:0], tensors: g.tensors[:0], heads: g.heads[:0], Marks: g.Marks[:0]}
	return g
}

func (g *Graph) node(x ID) *node { return &g.all[x] }

// sourcesOf a node, as ggml keeps them.
func (g *Graph) sourcesOf(x ID) []ID {
	nd := g.node(x)
	return g.src[nd.src : int(nd.src)+int(nd.sources)]
}

// new makes a node. It is not inlined, which would be 80 kB in the places that call it.
//
//go:noinline
func (g *Graph) new(op OpCode, t Type, ne extent, src ...ID) ID {
	g.all = append(g.all, node{op: op, typ: t, ne: ne, src: int32(len(g.src)), sources: uint8(len(src))})
	g.src = append(g.src, src...)
	return ID(len(g.all) - 1)
}

// like is a new node with the dimensions of its first source.
func (g *Graph) like(op OpCode, src ...ID) ID { return g.new(op, f32, g.node(src[0]).ne, src...) }

func (g *Graph) leaf(t Type, d ...Dim) ID { return g.new(Leaf, t, dims(d...)) }

// tensorOf is a tensor of a layer, or of model.InPre, model.InPost.
type tensorOf struct {
	layer int
	t     *model.Tensor
}

// flashHeads are the widths of flash attention, and how many query heads share keys.
type flashHeads struct {
	dimK, dimV, group int64
	keys, values      int64 // elements of a cell
	cells             int   // the form of all cells
}

// stored is a tensor of the model, which lies at home.
func (g *Graph) stored(t tensorOf, home Spot) ID {
	x := g.external(home)
	g.node(x).stored = true
	g.node(x).aux = ID(len(g.tensors))
	g.tensors = append(g.tensors, t)
	return x
}

// external is memory that the graph does not allocate.
func (g *Graph) external(home Spot) ID {
	x := g.new(Leaf, f32, dims())
	g.node(x).external, g.node(x).home = true, home
	return x
}

// sized gives a node a size that is not a product of its dimensions.
func (g *Graph) sized(x ID, f Form) ID {
	i := slices.Index(g.odd, f)
	if i < 0 {
		i = len(g.odd)
		g.odd = append(g.odd, f)
	}
	g.node(x).odd = int16(i + 1)
	return x
}

// keep marks a result that is read after the graph has run.
func (g *Graph) keep(x ID) ID {
	g.node(x).output = true
	return x
}

// reshape is a view with the layout of a fresh tensor.
func (g *Graph) reshape(x ID, d ...Dim) ID { return g.viewOf(x, false, dims(d...)) }

// part is a view of some rows, columns or a permutation.
func (g *Graph) part(x ID, d ...Dim) ID { return g.viewOf(x, true, dims(d...)) }

func (g *Graph) viewOf(x ID, strided bool, ne extent) ID {
	v := g.new(View, g.node(x).typ, ne, x)
	nd, from := g.node(v), g.node(x)
	nd.strided = strided || from.strided
	nd.view = g.root(x)
	if from.view != 0 && from.odd > 0 && !from.external && formOf(nd.typ, &nd.ne) == formOf(from.typ, &from.ne) {
		nd.odd = from.odd // the same elements, grouped in another way, span the same bytes
	}
	return v
}

// straight copies what is not laid out like a fresh tensor, and reshapes what is.
func (g *Graph) straight(x ID, d ...Dim) ID {
	if g.node(x).strided {
		return g.new(Cont, g.node(x).typ, dims(d...), x)
	}
	return g.reshape(x, d...)
}

func (g *Graph) root(x ID) ID {
	if v := g.node(x).view; v != 0 {
		return v
	}
	return x
}

// into is an operation whose result is a view of where it writes.
func (g *Graph) into(op OpCode, destination ID, src ...ID) ID {
	x := g.new(op, g.node(destination).typ, dims(), src...)
	g.node(x).view = g.root(destination)
	return x
}

// Expand appends a node and what it needs, depth first, sources left to right.
func (g *Graph) Expand(x ID) {
	nd := g.node(x)
	if x == 0 || nd.seen {
		return
	}
	nd.seen = true
	for _, s := range g.sourcesOf(x) {
		g.Expand(s)
	}
	if nd.op == Leaf {
		g.Leafs = append(g.Leafs, x)
		return
	}
	g.Nodes = append(g.Nodes, x)
}

func (g *Graph) mark() { g.Marks = append(g.Marks, len(g.Nodes)) }
