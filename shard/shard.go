// Package shard determines which rank holds what: no other package knows tensor, pipeline, expert, data and context
// parallelism. Piece returns a rank's part of one tensor, and Kind its part of a layer, which is again a Kind, so that
// every formula applies to it unchanged; Layout returns the ranks.
//
// Invariant: over the ranks of a group, the pieces minus the declared replicas add up to the whole.
package shard

import (
	"fmt"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// Parallel holds the sizes of the parallel groups. Zero means one.
type Parallel struct {
	TP, PP, EP, DP, CP int64
	// ETP is the number of ranks that one expert's matrices are sharded over; 0 for what tensor parallelism leaves.
	ETP int64
	// DenseTP and SharedTP are the number of ranks that the matrices of dense feed-forward layers and of shared experts
	// are sharded over, if different from attention; 0 for TP.
	DenseTP, SharedTP int64
	// Redundant is the number of replicated experts for load balancing, distributed over ranks like the others.
	Redundant int64
	// Stages is the number of layers of each pipeline stage; nil divides them evenly.
	Stages []int
}

// Normal returns p with zeros replaced by ones.
func (p Parallel) Normal() Parallel {
	for _, x := range []*int64{&p.TP, &p.PP, &p.EP, &p.DP, &p.CP} {
		*x = max(1, *x)
	}
	return p
}

// Ranks returns the number of devices used. Expert parallelism adds none.
func (p Parallel) Ranks() int64 {
	p = p.Normal()
	return p.TP * p.PP * p.DP * p.CP
}

// expertTP returns the number of ranks that one expert's matrices are sharded over: what remains of tensor parallelism
// when EP ranks hold different experts.
func (p *Parallel) expertTP() int64 {
	if p.ETP > 0 {
		return p.ETP
	}
	if p.EP <= 1 {
		return p.TP
	}
	return max(1, p.TP/p.EP)
}

// ffnTP returns the number of ranks that a matrix of a dense feed-forward layer or shared expert is sharded over; 0 for
// other matrices, or if it equals TP.
func (p *Parallel) ffnTP(r dtype.Role) int64 {
	switch r {
	case dtype.FFNGate, dtype.FFNUp, dtype.FFNDown:
		return p.DenseTP
	case dtype.FFNGateSh, dtype.FFNUpSh, dtype.FFNDownSh:
		return p.SharedTP
	}
	return 0
}

// Coord is a rank's position in the tensor and expert parallel groups.
type Coord struct{ TP, EP int64 }

// Coord returns the position of the r-th rank of a tensor parallel group.
func (p *Parallel) Coord(r int64) Coord {
	if p.EP <= 1 {
		return Coord{TP: r}
	}
	return Coord{TP: r, EP: r / p.expertTP() % p.EP}
}

// Piece is a rank's part of a tensor: Batch matrices of Rows × Cols. Replica reports that another rank holds the same
// piece and counts it.
type Piece struct {
	Batch, Rows, Cols int64
	Replica           bool
}

// Elems returns the number of elements.
func (p Piece) Elems() int64 { return p.Batch * p.Rows * p.Cols }

// Part returns rank r's share of n units divided among ranks, larger shares first.
func Part(n, ranks, r int64) int64 {
	q, rest := n/ranks, n%ranks
	if r < rest {
		return q + 1
	}
	return q
}

// cut returns rank r's part of a run of rows, and reports whether it is the first rank to hold it.
func cut(rows int64, by model.Split, width, ranks, r int64) (n int64, first bool) {
	width = max(1, width)
	units := rows / width
	if by == model.Whole || units == 0 {
		return rows, r == 0
	}
	if (by == model.ByKVHead || by == model.ByGroup) && units < ranks {
		// every unit is held by neighbouring ranks
		return width, r == 0 || units*r/ranks != units*(r-1)/ranks
	}
	n = Part(units, ranks, r) * width
	if r == 0 {
		n += rows - units*width
	}
	return n, true
}

// Piece returns the part of a tensor that a rank holds. Fused projections of [queries; keys; values] are sharded run by
// run.
func (p *Parallel) Piece(t *model.Tensor, c Coord) Piece {
	tp, r := p.TP, c.TP
	out := Piece{Batch: t.Batch, Cols: t.Cols}
	shared := true // no dimension is sharded: every rank but the group's first holds a replica
	if t.BatchBy == model.ByExpert {
		tp, r = p.expertTP(), c.TP%p.expertTP()
		out.Batch = Part(t.Batch+p.Redundant, max(1, p.EP), c.EP)
	} else if n := p.ffnTP(t.Role); n > 0 {
		tp, r = n, c.TP%n
	} else if t.BatchBy != model.Whole {
		out.Batch, _ = cut(t.Batch, t.BatchBy, 1, tp, r)
		shared = false
	}
	first := true
	if t.ColsBy != model.Whole {
		out.Cols, first = cut(t.Cols, t.ColsBy, t.ColUnit, tp, r)
		shared = false
	}
	for i := range t.Segs {
		s := &t.Segs[i]
		n, f := cut(s.Rows, s.By, s.Unit, tp, r)
		out.Rows += n
		if s.By != model.Whole {
			shared = false
			first = first && f
		}
	}
	if shared {
		first = r == 0
	}
	if tp < p.TP && t.BatchBy != model.ByExpert { // ranks beyond those that shard it hold replicas
		first = first && c.TP < tp
	}
	out.Replica = !first
	return out
}

// replicas returns the number of elements of a piece that other ranks count: a fused tensor may be partly replicated.
func (p *Parallel) replicas(t *model.Tensor, c Coord) (n int64) {
	whole := p.Piece(t, c)
	if t.BatchBy == model.ByExpert && p.Redundant > 0 {
		once := *p
		once.Redundant = 0
		return whole.Elems() - once.Piece(t, c).Elems() + once.replicas(t, c)
	}
	if len(t.Segs) == 1 {
		if whole.Replica {
			return whole.Elems()
		}
		return 0
	}
	for i := range t.Segs {
		one := *t
		one.Segs = t.Segs[i : i+1]
		if piece := p.Piece(&one, c); piece.Replica {
			n += piece.Elems()
		}
	}
	return n
}

// Share returns the number of elements of a tensor that a rank holds, and how many of them are replicas.
func (p *Parallel) Share(t *model.Tensor, c Coord) (own, replica int64) {
	return p.Piece(t, c).Elems(), p.replicas(t, c)
}

// Bytes returns the size of a rank's piece, stored like the whole.
func (p *Parallel) Bytes(t *model.Tensor, s model.Stored, c Coord) unit.Bytes {
	if p.TP <= 1 && p.EP <= 1 && p.ffnTP(t.Role) <= 1 {
		return s.Bytes
	}
	piece := p.Piece(t, c)
	if s.Scheme == nil {
		return unit.Bytes(float64(s.Bytes) * float64(piece.Elems()) / float64(t.Elems()))
	}
	return t.Stored(s.Scheme, piece.Batch, piece.Rows, piece.Cols)
}

// Rank is a class of identical ranks.
type Rank struct {
	Stage       int
	Coord       Coord
	First, Last int // layers of the stage: First <= layer < Last
	Pre, Post   bool
	Count       int64 // number of ranks like this one in the whole plan
	Index       int64 // index of the first of them
}

// Layout returns the classes of ranks of a part, in stage order.
func Layout(part *model.Part, p Parallel) ([]Rank, error) {
	p = p.Normal()
	stages, err := p.stages(len(part.Layers))
	if err != nil {
		return nil, err
	}
	classes := p.classes(part)
	var out []Rank
	first := 0
	for s, n := range stages {
		for _, c := range classes {
			out = append(out, Rank{Stage: s, Coord: p.Coord(c.first), First: first, Last: first + n, Pre: s == 0, Post: s == len(stages)-1,
				Count: c.count * p.DP * p.CP, Index: int64(s)*p.TP + c.first})
		}
		first += n
	}
	return out, nil
}

func (p *Parallel) stages(layers int) ([]int, error) {
	if p.Stages == nil {
		return Even(layers, int(p.PP)), nil
	}
	sum := 0
	for _, n := range p.Stages {
		sum += n
	}
	if int64(len(p.Stages)) != p.PP || sum != layers {
		return nil, fmt.Errorf("%d pipeline stages with %d layers in all do not make pp %d over %d layers", len(p.Stages), sum, p.PP,
			layers)
	}
	return p.Stages, nil
}

// Even divides layers into stages, larger ones first.
func Even(layers, stages int) []int {
	out := make([]int, stages)
	for i := range out {
		out[i] = int(Part(int64(layers), int64(stages), int64(i)))
	}
	return out
}

type class struct{ first, count int64 }

// classes groups tensor parallel ranks that hold equally large pieces of everything. Pieces never grow with the rank,
// so it suffices to compare the first and last rank.
func (p *Parallel) classes(part *model.Part) []class {
	if p.alike(part, p.Coord(0), p.Coord(p.TP-1)) {
		return []class{{0, p.TP}}
	}
	out := []class{{0, 1}}
	for r := int64(1); r < p.TP; r++ {
		last := &out[len(out)-1]
		if p.alike(part, p.Coord(last.first), p.Coord(r)) {
			last.count++
		} else {
			out = append(out, class{r, 1})
		}
	}
	return out
}

func (p *Parallel) alike(part *model.Part, a, b Coord) bool {
	if a == b {
		return true
	}
	same := true
	part.Each(func(k *model.Kind, _ int64) {
		for i := range k.Ops {
			for _, t := range k.Ops[i].W {
				same = same && p.Piece(t, a).Elems() == p.Piece(t, b).Elems()
			}
		}
	})
	return same
}
