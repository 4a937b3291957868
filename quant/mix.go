package quant

import (
	"cmp"
	"math"
	"slices"

	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/unit"
)

// Group is a set of tensors that share a format, with the cost of each format.
type Group struct {
	Name    string
	Options []Option
}

// Option is one format of a group.
type Option struct {
	Format string // "" for as stored
	Bytes  unit.Bytes
	Noise  float64 // Σ w·(x−q)²; see Error
}

// Mixture is a choice of one option per group.
type Mixture struct {
	Pick  []int // index into each group's Options
	Bytes unit.Bytes
	Noise float64
	// Bound is a lower bound on the noise of any mixture of these options within the budget. Exact reports that this one
	// is optimal.
	Bound float64
	Exact bool
}

// step moves a group along the lower hull of its options: additional bytes for less noise.
type step struct {
	group, from, to int
	bytes           unit.Bytes
	gain            float64
}

func (s *step) rate() float64 { return s.gain / float64(s.bytes) }

// Mix returns the options with the least noise that fit the budget; false if not even the smallest ones do.
//
// It is the multiple-choice knapsack problem. Its relaxation, in which a group may lie between two options, is solved
// by a greedy walk along the hulls of the groups' options; the price of a byte at the end of that walk bounds what any
// choice can reach, which rules out most options (H. Kellerer, U. Pferschy, D. Pisinger, Knapsack Problems, 2004,
// chapter 11). The rest is searched exhaustively, unless more than maxStates partial mixtures remain: then the best of
// those kept is returned, and Bound says how far off it may be.
func Mix(groups []Group, budget unit.Bytes) (*Mixture, bool) {
	start, steps := hulls(groups)
	if start.Bytes > budget {
		return nil, false
	}
	price, best := walk(groups, start, steps, budget)
	s := &mixer{groups: groups, budget: budget, price: price, best: best}
	s.relax()
	s.search()
	best.Bound = min(best.Noise, s.bound)
	best.Exact = best.Noise <= best.Bound
	return best, true
}

// Curve returns the Pareto-optimal mixtures found by the walk along the hulls, smallest first. Each is optimal for its
// size; there may be others in between.
func Curve(groups []Group) []Mixture {
	at, steps := hulls(groups)
	curve := []Mixture{copied(at)}
	for i := range steps {
		take(at, &steps[i])
		curve = append(curve, copied(at))
	}
	return curve
}

func copied(m *Mixture) Mixture {
	c := *m
	c.Pick = slices.Clone(m.Pick)
	c.Bound, c.Exact = c.Noise, true
	return c
}

func take(m *Mixture, s *step) {
	m.Pick[s.group] = s.to
	m.Bytes += s.bytes
	m.Noise = max(0, m.Noise-s.gain)
}

// hulls gives the smallest mixture and all steps up from it, the most useful first.
func hulls(groups []Group) (*Mixture, []step) {
	m := &Mixture{Pick: make([]int, len(groups))}
	var steps []step
	for g := range groups {
		hull := lower(groups[g].Options)
		o := groups[g].Options
		m.Pick[g] = hull[0]
		m.Bytes += o[hull[0]].Bytes
		m.Noise += o[hull[0]].Noise
		for i := range hull[1:] {
			a, b := &o[hull[i]], &o[hull[i+1]]
			steps = append(steps, step{g, hull[i], hull[i+1], b.Bytes - a.Bytes, a.Noise - b.Noise})
		}
	}
	// stable: of a group's steps that are worth the same the smaller comes first
	stable.Sort(steps, func(a, b step) int { return cmp.Compare(b.rate(), a.rate()) })
	return m, steps
}

// lower is the lower left hull of options in the plane of bytes and noise, smallest first.
func lower(options []Option) []int {
	order := make([]int, len(options))
	for i := range order {
		order[i] = i
	}
	stable.Sort(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(options[a].Bytes, options[b].Bytes), cmp.Compare(options[a].Noise, options[b].Noise))
	})
	var hull []int
	for _, i := range order {
		o := &options[i]
		if n := len(hull); n > 0 && o.Noise >= options[hull[n-1]].Noise {
			continue
		}
		for n := len(hull); n > 1 && !convex(&options[hull[n-2]], &options[hull[n-1]], o); n = len(hull) {
			hull = hull[:n-1]
		}
		hull = append(hull, i)
	}
	return hull
}

// convex: b lies below the line from a to c.
func convex(a, b, c *Option) bool {
	return (a.Noise-b.Noise)*float64(c.Bytes-b.Bytes) > (b.Noise-c.Noise)*float64(b.Bytes-a.Bytes)
}

// walk takes the most useful steps while they fit, skipping those that do not, and gives the price of a byte: what the
// first step that does not fit is worth.
func walk(groups []Group, start *Mixture, steps []step, budget unit.Bytes) (price float64, best *Mixture) {
	best = &Mixture{Pick: slices.Clone(start.Pick), Bytes: start.Bytes, Noise: start.Noise}
	stuck := make([]bool, len(groups))
	for i := range steps {
		s := &steps[i]
		if stuck[s.group] || best.Bytes+s.bytes > budget {
			if price == 0 {
				price = s.rate()
			}
			stuck[s.group] = true
			continue
		}
		take(best, s)
	}
	total(groups, best)
	return price, best
}

// total sums what was picked, so that no rounding of steps stays in it.
func total(groups []Group, m *Mixture) {
	m.Bytes, m.Noise = 0, 0
	for g, i := range m.Pick {
		o := &groups[g].Options[i]
		m.Bytes += o.Bytes
		m.Noise += o.Noise
	}
}

// mixer searches what the price of a byte leaves open.
type mixer struct {
	groups []Group
	budget unit.Bytes
	price  float64
	best   *Mixture
	bound  float64   // of the relaxation, later of what the search left out
	least  []float64 // of each group: noise and priced bytes of its cheapest option
}

const maxStates = 1 << 13

func (s *mixer) cost(o *Option) float64 { return o.Noise + s.price*float64(o.Bytes) }

// relax bounds the noise from below by pricing bytes.
func (s *mixer) relax() {
	s.bound = -s.price * float64(s.budget)
	for g := range s.groups {
		least := math.Inf(1)
		for i := range s.groups[g].Options {
			least = min(least, s.cost(&s.groups[g].Options[i]))
		}
		s.least = append(s.least, least)
		s.bound += least
	}
	s.bound = max(0, s.bound)
}

// state is a choice for the groups so far.
type state struct {
	bytes unit.Bytes
	noise float64
	over  float64 // how much its priced cost exceeds the least of its groups
	from  int32
	pick  int32
}

// search goes through the groups and keeps the partial mixtures that may still lead to less noise than the best known.
func (s *mixer) search() {
	layers := [][]state{{{}}}
	dropped := math.Inf(1)
	for g := range s.groups {
		next, lost := s.kept(s.extended(layers[g], g))
		dropped = min(dropped, lost)
		if len(next) == 0 {
			layers = nil
			break
		}
		layers = append(layers, next)
	}
	if layers != nil {
		s.finish(layers)
	}
	s.bound = min(s.best.Noise, max(s.bound, dropped))
}

// extended gives every state each option of a group that can still be in a better mixture.
func (s *mixer) extended(from []state, g int) (next []state) {
	for o := range s.groups[g].Options {
		option := &s.groups[g].Options[o]
		more := s.cost(option) - s.least[g]
		for i := range from {
			f := &from[i]
			if f.bytes+option.Bytes > s.budget || s.bound+f.over+more >= s.best.Noise {
				continue
			}
			next = append(next, state{f.bytes + option.Bytes, f.noise + option.Noise, f.over + more, int32(i), int32(o)})
		}
	}
	return next
}

// kept drops states that others beat, and the least promising ones when there are too many; lost is the least noise
// that one of these might have led to.
func (s *mixer) kept(all []state) (kept []state, lost float64) {
	stable.Sort(all, func(a, b state) int {
		return cmp.Or(cmp.Compare(a.bytes, b.bytes), cmp.Compare(a.noise, b.noise), cmp.Compare(a.from, b.from),
			cmp.Compare(a.pick, b.pick))
	})
	for _, x := range all {
		if n := len(kept); n == 0 || x.noise < kept[n-1].noise {
			kept = append(kept, x)
		}
	}
	lost = math.Inf(1)
	if len(kept) > maxStates {
		stable.Sort(kept, func(a, b state) int { return cmp.Compare(a.over, b.over) })
		lost = s.bound + kept[maxStates].over
		kept = kept[:maxStates]
	}
	return kept, lost
}

// finish takes the best of the last states, if it beats the mixture that is known.
func (s *mixer) finish(layers [][]state) {
	at := 0
	last := layers[len(layers)-1]
	for i := range last {
		if last[i].noise < last[at].noise {
			at = i
		}
	}
	pick := make([]int, len(s.groups))
	for g := len(s.groups) - 1; g >= 0; g-- {
		x := &layers[g+1][at]
		pick[g], at = int(x.pick), int(x.from)
	}
	found := Mixture{Pick: pick}
	if total(s.groups, &found); found.Noise < s.best.Noise {
		s.best.Pick, s.best.Bytes, s.best.Noise = pick, found.Bytes, found.Noise
	}
}
