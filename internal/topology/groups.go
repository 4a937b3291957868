package topology

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
)

// searched is the most GPUs whose groups are all looked at: 12,870 groups of eight.
const searched = 16

// Group are GPUs that share layers, and what lies on the way around them.
type Group struct {
	GPUs []int  `json:"gpus"`
	Way  string `json:"way"` // the longest way of the ring
	// Links are the NVLinks that lead from the GPU with fewest of them to others of the group.
	Links int `json:"links,omitempty"`
}

// Groups are the best groups of a size that fit beside each other, the best first; the first GPUs where ways are equal.
func (m Matrix) Groups(size int) ([]Group, error) {
	if len(m) > searched {
		return nil, &api.Error{Code: api.Unsupported, Field: "topo", Value: fmt.Sprint(len(m)),
			Hint: "the rows and columns of the first ones", Message: fmt.Sprintf("groups are looked for among %d GPUs at most", searched)}
	}
	var out []Group
	left := m.all()
	for len(left) >= size {
		g := m.best(left, size)
		if len(out) > 0 && compare(&g, &out[0]) != 0 {
			break
		}
		out = append(out, g)
		left = slices.DeleteFunc(left, func(i int) bool { return slices.Contains(g.GPUs, i) })
	}
	return out, nil
}

func (m Matrix) all() (out []int) {
	for i := range m {
		out = append(out, i)
	}
	return out
}

// best group of a size among some GPUs.
func (m Matrix) best(among []int, size int) (best Group) {
	choose(among, size, nil, func(at []int) {
		if g := m.Group(at); best.GPUs == nil || compare(&g, &best) < 0 {
			best = g
			best.GPUs = slices.Clone(at)
		}
	})
	return best
}

// choose calls do with each choice of n of a list, in order.
func choose(from []int, n int, have []int, do func([]int)) {
	if n == 0 {
		do(have)
		return
	}
	for i := range len(from) - n + 1 {
		choose(from[i+1:], n-1, append(have, from[i]), do)
	}
}

// compare orders groups: the shorter way first, then more links.
func compare(a, b *Group) int {
	return cmp.Or(cmp.Compare(rank(a.Way), rank(b.Way)), cmp.Compare(b.Links, a.Links))
}

// Group says what lies between some GPUs: their own links where these close a ring, as libraries of collectives build
// theirs, else the longest way of all.
func (m Matrix) Group(at []int) Group {
	g := Group{GPUs: at, Links: m.fewest(at)}
	if m.ring(at) {
		g.Way = m.fewestOwnLinks(at)
		return g
	}
	g.Links = 0
	for i, a := range at {
		for _, b := range at[i+1:] {
			if g.Way == "" || rank(m[a][b]) > rank(g.Way) {
				g.Way = m[a][b]
			}
		}
	}
	return g
}

// ring reports whether own links lead around all of a group: for each set of GPUs with the first, at which of them a way
// through the set may end.
func (m Matrix) ring(at []int) bool {
	n := len(at)
	next := make([]uint32, n) // whom each reaches
	for i, a := range at {
		for j, b := range at {
			if i != j && rank(m[a][b]) == 0 {
				next[i] |= 1 << j
			}
		}
	}
	ends := make([]uint32, 1<<n)
	ends[1] = 1
	for seen := range ends {
		for last := range n {
			if ends[seen]>>last&1 == 0 {
				continue
			}
			for j := range n {
				if next[last]&^uint32(seen)>>j&1 == 1 {
					ends[seen|1<<j] |= 1 << j
				}
			}
		}
	}
	return ends[1<<n-1]&next[0] != 0
}

// fewest NVLinks that a GPU has to others of a group. Behind a switch each pair shows all of a GPU's, so that sums
// exceed what it has, and who knows the device bounds them.
func (m Matrix) fewest(at []int) (n int) {
	for k, i := range at {
		sum := 0
		for _, j := range at {
			sum += links(m[i][j])
		}
		if k == 0 || sum < n {
			n = sum
		}
	}
	return n
}

// fewestOwnLinks is the way with the fewest of a group's own links.
func (m Matrix) fewestOwnLinks(at []int) (way string) {
	for i, a := range at {
		for _, b := range at[i+1:] {
			if w := m[a][b]; rank(w) == 0 && (way == "" || links(w) < links(way)) {
				way = w
			}
		}
	}
	return way
}

// Names are a group's GPUs as a variable of the environment takes them.
func (g *Group) Names() string {
	return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(g.GPUs)), ","), "[]")
}
