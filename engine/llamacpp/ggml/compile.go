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
	nodes    []live
	key      []byte
}

// live is what the allocator keeps of a node.
type live struct {
	kids, views int32 // children and views still to run
	slot        int16 // 1 + slot that it holds, 0 for none
}

// Compile decides who takes over whose memory and when each node is freed, and cuts the events at the
// beginnings of layers, so that equal layers become equal segments.
func (g *Graph) Compile() *Compiled {
	c := &compiler{g: g, forms: map[Form]int16{}, segments: map[string]int16{}, nodes: make([]live, len(g.all))}
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
		if v := c.g.at(x).view; v != 0 {
			c.nodes[v].views++
		}
		for _, s := range c.g.sourcesOf(x) {
			c.nodes[s].kids++
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
	if c.nodes[x].slot != 0 || nd.external || nd.view != 0 {
		return
	}
	form := c.g.size(x)
	if nd.op > reusing && c.takeOver(x, nd, form) {
		return
	}
	s := c.lowestVacant()
	c.nodes[x].slot = s + 1
	c.events = append(c.events, lifetime.Event{Verb: lifetime.Alloc, Slot: s, Size: c.size(form)})
}

// takeOver: from a parent that is no view, is not read later, has no other child and no views, and has the
// same layout. A smaller result gives the tail back.
func (c *compiler) takeOver(x ID, nd *node, form Form) bool {
	for _, p := range c.g.sourcesOf(x) {
		from, old := c.g.at(p), &c.nodes[p]
		if from.external || from.output || from.view != 0 || old.kids != 1 || old.views != 0 || old.slot == 0 || !sameLayout(nd, from) {
			continue
		}
		c.nodes[x].slot, old.slot = old.slot, 0
		if c.g.size(p) != form {
			c.events = append(c.events, lifetime.Event{Verb: lifetime.Trim, Slot: c.nodes[x].slot - 1, Size: c.size(form)})
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
	for _, p := range c.g.sourcesOf(x) {
		from := &c.nodes[p]
		from.kids--
		if from.kids != 0 || from.views != 0 {
			continue
		}
		root := c.g.at(p).view
		if root == 0 {
			c.free(p)
			continue
		}
		c.nodes[root].views--
		if c.nodes[root].views == 0 && c.nodes[root].kids == 0 {
			c.free(root)
		}
	}
}

func (c *compiler) free(x ID) {
	if c.nodes[x].slot == 0 || c.g.at(x).output {
		return
	}
	s := c.nodes[x].slot - 1
	c.nodes[x].slot = 0
	c.events = append(c.events, lifetime.Event{Verb: lifetime.Free, Slot: s})
	c.vacant = append(c.vacant, s)
}

// cut ends a segment; equal ones are kept once.
func (c *compiler) cut() {
	c.key = c.key[:0]
	for _, e := range c.events {
		c.key = append(c.key, byte(e.Verb), byte(e.Slot), byte(e.Slot>>8), byte(e.Size), byte(e.Size>>8))
	}
	i, ok := c.segments[string(c.key)]
	if !ok {
		i = int16(len(c.out.Program.Segments))
		c.segments[string(c.key)] = i
		c.out.Program.Segments = append(c.out.Program.Segments, append([]lifetime.Event(nil), c.events...))
	}
	c.out.Program.Order = append(c.out.Program.Order, i)
	c.events = c.events[:0]
}
