// Package search finds the best points of a space of choices. A point has a setting on each axis; a problem gives a
// lower bound of a point's price and, on request, whether it fits and its full price. Most points are decided without
// evaluation: a box of points whose least demanding one does not fit is rejected as a whole, as is one whose lower
// bound is no better than enough points already found. See search.go for the search, front.go for Pareto fronts.
//
// The search is deterministic: of points with equal price, the first found is preferred.
package search

import (
	"cmp"
	"container/heap"
	"context"
	"slices"
)

// Point is a setting on each axis, from 0.
type Point []int

// Problem is a space and what is known about its points.
type Problem struct {
	// Settings is the number of settings of each axis.
	Settings []int
	// Falls says, for each axis, that needs do not grow along it: a point with a later setting there, otherwise equal,
	// fits if one with an earlier setting does. Least must not decrease along such an axis.
	Falls []bool
	// Least returns a cheaply computed lower bound of a point's price.
	Least func(Point) float64
	// Fits sizes a point; Price returns the price of one that fits.
	Fits  func(Point) bool
	Price func(Point) float64
	// Most is the number of points to find; 0 means one.
	Most int
	// Step, if not nil, receives the number of points decided so far, and of those evaluated.
	Step func(decided, full int)
	// Below is an exclusive upper bound of the price; 0 for none.
	Below float64
}

// Found is a point that fits.
type Found struct {
	Point Point
	Price float64
}

// Result holds the best points, cheapest first, the number of points decided, and the number evaluated.
type Result struct {
	Best          []Found
	Decided, Full int
}

// tooMany limits the size of a space.
const tooMany = 1 << 30

// Points returns the size of the space; ok is false if it is too large to count.
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

// Run searches until done or until the context ends, and then returns the context's error with the results so far. It
// skips points that only add changes to one that fits without being cheaper, as those changes are superfluous.
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

// run is a search in progress.
type run struct {
	*Problem
	result Result
	boxes  boxes
	made   int
	fits   map[string]bool // of evaluated points
}

// box is all points between two, inclusive: from has the lowest price, to the smallest need.
type box struct {
	from, to Point
	least    float64
	number   int // order of creation
}

// points returns the number of points in a box.
func (b *box) points() int {
	n := 1
	for i := range b.from {
		n *= b.to[i] - b.from[i] + 1
	}
	return n
}

// start creates a box for each combination of settings on the axes along which needs may grow.
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

// next advances to the next combination on those axes.
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

// step decides a box, or its cheapest point, and splits the rest.
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

// Key returns a map key for the point.
func (at Point) Key() string {
	b := make([]byte, 0, 2*len(at))
	for _, n := range at {
		b = append(b, byte(n), byte(n>>8))
	}
	return string(b)
}

func (r *run) most() int { return max(1, r.Most) }

// enough reports whether enough points are found, and none with that lower bound can be better.
func (r *run) enough(least float64) bool {
	if r.Below > 0 && least >= r.Below {
		return true
	}
	n := len(r.result.Best)
	return n >= r.most() && least >= r.result.Best[n-1].Price
}

// superfluous reports whether all points of the box add to one that fits, and none is cheaper.
func (r *run) superfluous(b *box) bool {
	return slices.ContainsFunc(r.result.Best, func(f Found) bool { return b.least >= f.Price && r.beyond(b.from, f.Point) })
}

// beyond reports whether a is at least as far as b along falling axes, and equal on the others.
func (r *run) beyond(a, b Point) bool {
	for i := range a {
		if a[i] < b[i] || a[i] > b[i] && !r.Falls[i] {
			return false
		}
	}
	return true
}

// keep records a point if it is among the best.
func (r *run) keep(f Found) {
	if r.Below > 0 && f.Price >= r.Below {
		return
	}
	best := r.result.Best
	i, _ := slices.BinarySearchFunc(best, f, func(a, b Found) int {
		if c := cmp.Compare(a.Price, b.Price); c != 0 {
			return c
		}
		return -1 // of equals the first found stays first
	})
	best = slices.Insert(best, i, f)
	r.result.Best = best[:min(len(best), r.most())]
}

// boxes is a heap ordered by lowest price, then by creation.
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
