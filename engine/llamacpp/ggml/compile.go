package ggml

import (
	"github.com/memwall/memwall/lifetime"
	"github.com/memwall/memwall/unit"
)

// Compiled is the lifetimes of a graph and the forms of its table of sizes. Which parent's memory a node
// takes over never depends on sizes, so one compilation serves every context, batch and number of slots.
type Compiled struct {
	Program lifetime.Program
	Forms   []Form
}

// SizeTable fills out with every size, aligned.
func (c *Compiled) SizeTable(s Sizes, align int64, out []int64) []int64 {
	v := s.values()
	out = out[:0]
	for i := range c.Forms {
		out = append(out, unit.PadUp(c.Forms[i].at(&v), align))
	}
	return out
}

type compiler struct {
	g        *Graph
	out      Compiled
	events   []lifetime.Event
	forms    map[Form]int16
	segments map[string]int16
	vacant   []int16 // slots that were used and are free
	kids     []int32 // children still to run, by node
	views    []int32
	slot     []int16 // slot+1 that a node holds
}

// Compile decides who takes over whose memory and when each node is freed, and cuts the events at the
// beginnings of layers, so that equal layers become equal segments.
func (g *Graph) Compile() *Compiled {
	c := &compiler{g: g, forms: map[Form]int16{}, segments: map[string]int16{}, kids: make([]int32, len(g.all)), views: make([]int32, len(g.all)), slot: make([]int16, len(g.all))}
	for _, x := range g.Leafs {
		if !g.at(x).external {
			c.place(x)
		}
	}
	c.count()
	mark := 0
	for i, x := range g.Nodes {
		for mark < len(g.Marks) && g.Marks[mark] == i {
			c.cut()
			mark++
		}
		c.place(x)
		c.release(x)
	}
	c.cut()
	return &c.out
}

func (c *compiler) count() {
	for _, x := range c.g.Nodes {
		nd := c.g.at(x)
		if nd.view != 0 {
			c.views[nd.view]++
		}
		for _, s := range nd.src[:nd.sources] {
			c.kids[s]++
		}
	}
}

func (c *compiler) size(f Form) int16 {
	i, ok := c.forms[f]
	if !ok {
		i = int16(len(c.out.Forms))
		c.out.Forms = append(c.out.Forms, f)
		c.forms[f] = i
	}
	return i
}

// place gives a node memory: none of its own for views and weights, a parent's when it may be taken over.
func (c *compiler) place(x ID) {
	nd := c.g.at(x)
	if c.slot[x] != 0 || nd.external || nd.view != 0 {
		return
	}
	if nd.op > reusing && c.takeOver(x, nd) {
		return
	}
	s := c.lowestVacant()
	c.slot[x] = s + 1
	c.events = append(c.events, lifetime.Event{Verb: lifetime.Alloc, Slot: s, Size: c.size(nd.form)})
}

// takeOver: from a parent that is no view, has no other child and no views, and has the same layout. A
// smaller result gives the tail back.
func (c *compiler) takeOver(x ID, nd *node) bool {
	for _, p := range nd.src[:nd.sources] {
		from := c.g.at(p)
		if from.external || from.view != 0 || c.kids[p] != 1 || c.views[p] != 0 || c.slot[p] == 0 || !sameLayout(nd, from) {
			continue
		}
		c.slot[x], c.slot[p] = c.slot[p], 0
		if from.form != nd.form {
			c.events = append(c.events, lifetime.Event{Verb: lifetime.Trim, Slot: c.slot[x] - 1, Size: c.size(nd.form)})
		}
		return true
	}
	return false
}

func sameLayout(a, b *node) bool {
	return !a.strided && !b.strided && a.typ == b.typ && a.ne == b.ne
}

func (c *compiler) lowestVacant() int16 {
	if len(c.vacant) == 0 {
		c.out.Program.Slots++
		return int16(c.out.Program.Slots - 1)
	}
	least := 0
	for i, s := range c.vacant {
		if s < c.vacant[least] {
			least = i
		}
	}
	s := c.vacant[least]
	last := len(c.vacant) - 1
	c.vacant[least] = c.vacant[last]
	c.vacant = c.vacant[:last]
	return s
}

// release frees the sources that nobody needs any more.
func (c *compiler) release(x ID) {
	nd := c.g.at(x)
	for _, p := range nd.src[:nd.sources] {
		c.kids[p]--
		if c.kids[p] != 0 || c.views[p] != 0 {
			continue
		}
		root := c.g.at(p).view
		if root == 0 {
			c.free(p)
			continue
		}
		c.views[root]--
		if c.views[root] == 0 && c.kids[root] == 0 {
			c.free(root)
		}
	}
}

func (c *compiler) free(x ID) {
	if c.slot[x] == 0 {
		return
	}
	s := c.slot[x] - 1
	c.slot[x] = 0
	c.events = append(c.events, lifetime.Event{Verb: lifetime.Free, Slot: s})
	c.vacant = append(c.vacant, s)
}

// cut ends a segment; equal ones are kept once.
func (c *compiler) cut() {
	key := make([]byte, 0, 5*len(c.events))
	for _, e := range c.events {
		key = append(key, byte(e.Verb), byte(e.Slot), byte(e.Slot>>8), byte(e.Size), byte(e.Size>>8))
	}
	i, ok := c.segments[string(key)]
	if !ok {
		i = int16(len(c.out.Program.Segments))
		c.segments[string(key)] = i
		c.out.Program.Segments = append(c.out.Program.Segments, append([]lifetime.Event(nil), c.events...))
	}
	c.out.Program.Order = append(c.out.Program.Order, i)
	c.events = c.events[:0]
}
