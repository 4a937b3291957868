package ggml

import (
	"github.com/memwall/memwall/lifetime"
	"github.com/memwall/memwall/unit"
)

// Compiled is a graph's lifetimes at every spot. Which parent's memory a node takes over never depends on
// sizes, so one compilation serves every context, batch and number of slots that the site serves.
type Compiled struct {
	Spots  []Lifetimes
	Nodes  int // of the graph, before copies
	Splits int
	// early tells of each segment whether it needs memory that is allocated before all of them: what is brought
	// in several copies.
	early []bool
}

// Lifetimes are those of one spot, and the forms of its table of sizes.
type Lifetimes struct {
	Program lifetime.Program
	Forms   []Form
	Align   int64
}

// SizeTable fills out with every size, aligned.
func (l *Lifetimes) SizeTable(s Sizes, out []int64) []int64 {
	v := s.values()
	out = out[:0]
	for i := range l.Forms {
		out = append(out, unit.PadUp(l.Forms[i].value(&v), l.Align))
	}
	return out
}

// compiler decides who takes over whose memory and when each node is freed.
type compiler struct {
	*schedule
	lanes []lane
	nodes []live
	early []bool
}

// live is what the allocator keeps of a node.
type live struct {
	kids, views int32 // children and views still to run
	slot        int16 // 1 + slot that it holds, 0 for none
	spot        Spot  // of the slot
}

// Compile schedules the graph and compiles its lifetimes: events cut at the beginnings of layers, so that equal
// layers become equal segments. The graph is of no use afterwards.
func (g *Graph) Compile(site *Site) *Compiled { return g.compileIn(&Library{}, site) }

// compileIn the memory of a library.
func (g *Graph) compileIn(lib *Library, site *Site) *Compiled {
	s := &lib.schedule
	s.plan(g, site)
	lib.nodes = zeroed(lib.nodes, len(g.all))
	c := &compiler{schedule: s, lanes: make([]lane, site.spots()), nodes: lib.nodes, early: make([]bool, 1, len(g.Marks)+2)}
	for i := range c.lanes {
		c.lanes[i].begin()
	}
	c.leafs()
	c.count()
	mark := 0
	for i := range s.splits {
		sp := &s.splits[i]
		c.fetch(sp)
		for n := sp.first; n < s.end(i); n++ {
			for mark < len(g.Marks) && g.Marks[mark] == n {
				c.mark()
				mark++
			}
			x := g.Nodes[n]
			c.place(x, s.spot[x])
			c.release(x)
		}
	}
	c.mark()
	return c.compiled()
}

func (c *compiler) compiled() *Compiled {
	out := &Compiled{Nodes: len(c.Nodes), Splits: len(c.splits), early: c.early, Spots: make([]Lifetimes, len(c.lanes))}
	for i := range c.lanes {
		out.Spots[i] = Lifetimes{c.lanes[i].program, c.lanes[i].sizes, c.site.align(Spot(i))}
	}
	return out
}

// end of a split, as a position in Graph.Nodes.
func (s *schedule) end(i int) int {
	if i+1 < len(s.splits) {
		return s.splits[i+1].first
	}
	return len(s.Nodes)
}

func (c *compiler) leafs() {
	for _, list := range [][]placed{c.kept, c.brought} {
		for _, p := range list {
			c.place(p.id, p.spot)
		}
	}
	for _, x := range c.Leafs {
		if !c.node(x).external {
			c.place(x, c.spot[x])
		}
	}
}

// count children and views. What is brought is a child too, until it has been copied.
func (c *compiler) count() {
	for _, x := range c.Nodes {
		if v := c.node(x).view; v != 0 {
			c.nodes[v].views++
		}
		for _, p := range c.sourcesOf(x) {
			c.nodes[p].kids++
		}
	}
	for i := range c.splits {
		for _, p := range c.splits[i].inputs {
			c.nodes[p].kids++
		}
	}
}

// fetch places the copies that a split begins with.
func (c *compiler) fetch(s *split) {
	for _, p := range s.inputs {
		c.early[len(c.early)-1] = c.site.copies() > 1
		c.let(p)
		c.place(c.copied[s.spot][p], s.spot)
	}
}

// place gives a node memory: none of its own for views and weights, a parent's when it may be taken over.
func (c *compiler) place(x ID, at Spot) {
	nd := c.node(x)
	if c.nodes[x].slot != 0 || nd.external || nd.view != 0 {
		return
	}
	if nd.op > reusing && c.takeOver(x, nd) {
		return
	}
	l := &c.lanes[at]
	s := l.lowestVacant()
	c.nodes[x].slot, c.nodes[x].spot = s+1, at
	l.events = append(l.events, lifetime.Event{Verb: lifetime.Alloc, Slot: s, Size: l.size(c.allocated(x, at))})
}

// allocated is what a spot allocates for a node: flash attention over a cache in another format keeps a
// copy of keys and values behind its result.
func (c *compiler) allocated(x ID, at Spot) Form {
	f := c.size(x)
	if nd := c.node(x); nd.op == Flash && at != c.site.host() {
		d, h := &c.site.Devices[at], &c.heads[nd.aux]
		f[h.cells] += d.ScratchK*h.keys + d.ScratchV*h.values
	}
	return f
}

// takeOver: from a parent that is not a view, is not read later, has no other child and no views, and has the
// same layout. A smaller result gives the tail back.
func (c *compiler) takeOver(x ID, nd *node) bool {
	for _, p := range c.sourcesOf(x) {
		from, old := c.node(p), &c.nodes[p]
		if from.external || from.output || from.view != 0 || old.kids != 1 || old.views != 0 || old.slot == 0 || !sameLayout(nd, from) {
			continue
		}
		c.nodes[x].slot, c.nodes[x].spot, old.slot = old.slot, old.spot, 0
		if from.odd > 0 || from.op == Flash { // else the same layout is the same size
			c.trim(x, p, old.spot)
		}
		return true
	}
	return false
}

// trim gives back what a node's parent held more than it.
func (c *compiler) trim(x, p ID, at Spot) {
	form := c.allocated(x, at)
	if c.allocated(p, at) == form {
		return
	}
	l := &c.lanes[at]
	l.events = append(l.events, lifetime.Event{Verb: lifetime.Trim, Slot: c.nodes[x].slot - 1, Size: l.size(form)})
}

func sameLayout(a, b *node) bool {
	return !a.strided && !b.strided && a.typ == b.typ && a.ne == b.ne
}

// release frees the sources that nobody needs any more.
func (c *compiler) release(x ID) {
	for _, p := range c.sourcesOf(x) {
		c.let(p)
	}
}

// let one child of a node go.
func (c *compiler) let(p ID) {
	from := &c.nodes[p]
	from.kids--
	if from.kids != 0 || from.views != 0 {
		return
	}
	root := c.node(p).view
	if root == 0 {
		c.free(p)
		return
	}
	c.nodes[root].views--
	if c.nodes[root].views == 0 && c.nodes[root].kids == 0 {
		c.free(root)
	}
}

func (c *compiler) free(x ID) {
	if c.nodes[x].slot == 0 || c.node(x).output {
		return
	}
	c.lanes[c.nodes[x].spot].free(c.nodes[x].slot - 1)
	c.nodes[x].slot = 0
}

// mark the beginning of a layer.
func (c *compiler) mark() {
	for i := range c.lanes {
		c.lanes[i].cut()
	}
	c.early = append(c.early, false)
}
