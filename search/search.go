// Package search finds the best points of a space of choices. A point has a setting on each axis; a problem says
// what a point costs at least and, when asked, whether it fits and what it costs in full. Most points are decided
// without asking: a box of points whose least needy one does not fit is decided by that one, and so is one that
// costs at least as much as enough points that fit. Open search.go for the search, front.go for Pareto fronts.
//
// The search is deterministic: of points that cost the same, the one that is found first is the better one.
package search

import (
	"cmp"
	"container/heap"
	"context"
	"slices"
)

// Point is a setting on each axis, counted from 0.
type Point []int

// Problem is a space and what is known of its points.
type Problem struct {
	// Settings is how many each axis has.
	Settings []int
	// Falls says of each axis whether needs do not grow along it: a point with a later setting there, and the same
	// elsewhere, fits wherever one with an earlier setting does. Least must not fall along such an axis.
	Falls []bool
	// Least is a bound of the price of a point from below, cheap to compute.
	Least func(Point) float64
	// Fits sizes a point, and Price says what one costs that fits.
	Fits  func(Point) bool
	Price func(Point) float64
	// Most is how many points to find; 0 is one.
	Most int
	// Step, where it is not nil, is told how many points are decided by now, and how many of them by sizing them.
	Step func(decided, full int)
	// Below is a price that points must stay below, because others are as good; 0 is no bound.
	Below float64
}

// Found is a point that fits.
type Found struct {
	Point Point
	Price float64
}

// Result of a search: the best points, cheapest first; how many points were decided, and how many of them by sizing
// them.
type Result struct {
	Best          []Found
	Decided, Full int
}

// tooMany bounds a space: no plan has more neighbours.
const tooMany = 1 << 30

// Points of the space; ok is false when there are too many to count.
func (p *Problem) Points() (n int, ok bool) {
	n = 1
	for _, s := range p.Settings {
		if s <= 0 || n > tooMany/s {
			return 0, s <= 0
		}
		n *= s
	}
	return n, true
}

// Run searches until it is done or the context is, whose error it gives beside what it knows by then. Points that
// only add to one that fits, and cannot be cheaper than it, are not found: what they change is superfluous.
func (p *Problem) Run(ctx context.Context) (Result, error) {
	r := run{Problem: p, fits: map[string]bool{}}
	r.start()
	for r.boxes.Len() > 0 {
		if err := ctx.Err(); err != nil {
			return r.result, err
		}
		r.step(heap.Pop(&r.boxes).(box))
		if r.Step != nil {
			r.Step(r.result.Decided, r.result.Full)
		}
	}
	return r.result, nil
}

// run is a search that goes on.
type run struct {
	*Problem
	result Result
	boxes  boxes
	made   int
	fits   map[string]bool // of points that were sized
}

// box is all points between two, both counted: from has the least price, to the least need.
type box struct {
	from, to Point
	least    float64
	number   int // in the order of making
}

// points of a box.
func (b *box) points() int {
	n := 1
	for i := range b.from {
		n *= b.to[i] - b.from[i] + 1
	}
	return n
}

// start has a box for each choice on the axes along which needs may grow.
func (r *run) start() {
	if n, ok := r.Points(); n == 0 || !ok {
		return
	}
	at := make(Point, len(r.Settings))
	for {
		to := slices.Clone(at)
		for i, falls := range r.Falls {
			if falls {
				to[i] = r.Settings[i] - 1
			}
		}
		r.push(slices.Clone(at), to)
		if !r.next(at) {
			return
		}
	}
}

// next choice on the axes along which needs may grow.
func (r *run) next(at Point) bool {
	for i := len(at) - 1; i >= 0; i-- {
		if r.Falls[i] {
			continue
		}
		if at[i]++; at[i] < r.Settings[i] {
			return true
		}
		at[i] = 0
	}
	return false
}

func (r *run) push(from, to Point) {
	heap.Push(&r.boxes, box{from, to, r.Least(from), r.made})
	r.made++
}

// step decides a box, or its cheapest point, and parts the rest.
func (r *run) step(b box) {
	if r.enough(b.least) || r.superfluous(&b) || !r.sized(b.to) {
		r.result.Decided += b.points()
		return
	}
	r.result.Decided++
	if r.sized(b.from) {
		r.keep(Found{b.from, r.Price(b.from)})
	}
	for i := range b.from {
		if b.from[i] == b.to[i] {
			continue
		}
		from, to := slices.Clone(b.from), slices.Clone(b.to)
		from[i]++
		copy(to[:i], b.from[:i])
		r.push(from, to)
	}
}

// sized reports whether a point fits.
func (r *run) sized(at Point) bool {
	key := at.Key()
	fits, ok := r.fits[key]
	if !ok {
		fits = r.Fits(at)
		r.fits[key] = fits
		r.result.Full++
	}
	return fits
}

// Key of a point in a map.
func (at Point) Key() string {
	b := make([]byte, 0, 2*len(at))
	for _, n := range at {
		b = append(b, byte(n), byte(n>>8))
	}
	return string(b)
}

func (r *run) most() int { return max(1, r.Most) }

// enough is found, and nothing that costs as much can be better.
func (r *run) enough(least float64) bool {
	if r.Below > 0 && least >= r.Below {
		return true
	}
	n := len(r.result.Best)
	return n >= r.most() && least >= r.result.Best[n-1].Price
}

// superfluous: all points of the box add to one that fits, and none is cheaper.
func (r *run) superfluous(b *box) bool {
	return slices.ContainsFunc(r.result.Best, func(f Found) bool { return b.least >= f.Price && r.beyond(b.from, f.Point) })
}

// beyond: a is as far as b or further on axes along which needs fall, and the same on others.
func (r *run) beyond(a, b Point) bool {
	for i := range a {
		if a[i] < b[i] || a[i] > b[i] && !r.Falls[i] {
			return false
		}
	}
	return true
}

// keep the best, as many as are asked for.
func (r *run) keep(f Found) {
	if r.Below > 0 && f.Price >= r.Below {
		return
	}
	best := r.result.Best
	i, _ := slices.BinarySearchFunc(best, f, func(a, b Found) int {
		if c := cmp.Compare(a.Price, b.Price); c != 0 {
			return c
		}
		return -1 // of equals the one found first stays first
	})
	best = slices.Insert(best, i, f)
	r.result.Best = best[:min(len(best), r.most())]
}

// boxes are a heap: the least price first, then the order of making.
type boxes []box

func (b boxes) Len() int { return len(b) }
func (b boxes) Less(i, j int) bool {
	if c := cmp.Compare(b[i].least, b[j].least); c != 0 {
		return c < 0
	}
	return b[i].number < b[j].number
}
func (b boxes) Swap(i, j int) { b[i], b[j] = b[j], b[i] }
func (b *boxes) Push(x any)   { *b = append(*b, x.(box)) }
func (b *boxes) Pop() any {
	last := len(*b) - 1
	x := (*b)[last]
	*b = (*b)[:last]
	return x
}
