package ggml

import "slices"

// The scheduler's part: which backend runs each node, and what is copied between them
// (ggml/src/ggml-backend.cpp, ggml_backend_sched_split_graph, v0.5.0).

// schedule is a graph on its way to several backends.
type schedule struct {
	*Graph
	site   *Site
	spot   []Spot // of every node; nowhere for undecided
	copied [][]ID // for each spot, the first copy of a node there
	splits []split
	inputs []ID // of the graph, in the order of their first use; with several copies only
	// With several copies, what is allocated before all else: the copies of inputs, and of what is brought.
	kept, brought []placed
}

const nowhere Spot = -1

type placed struct {
	id   ID
	spot Spot
}

// split is a run of nodes on one backend, with what must be copied there before.
type split struct {
	spot   Spot
	first  int // position in Graph.Nodes
	inputs []ID
}

// maxInputs is how many inputs a split of older builds has room for (GGML_SCHED_MAX_SPLIT_INPUTS).
const maxInputs = 30

// plan schedules a graph, in the memory of another schedule.
func (s *schedule) plan(g *Graph, site *Site) {
	*s = schedule{Graph: g, site: site, spot: zeroed(s.spot, len(g.all)), copied: s.copied}
	if site.spots() == 1 {
		s.splits = make([]split, 1)
		return
	}
	for i := range s.spot {
		s.spot[i] = nowhere
	}
	for len(s.copied) < site.spots() {
		s.copied = append(s.copied, nil)
	}
	s.copied = s.copied[:site.spots()]
	for i := range s.copied {
		s.copied[i] = zeroed(s.copied[i], len(g.all))
	}
	s.fromTensors()
	s.expand(true)
	s.expand(false)
	s.rest()
	s.views()
	s.cut()
}

// zeroed is a list of so many zeroes in the memory of another.
func zeroed[T any](list []T, n int) []T {
	list = slices.Grow(list[:0], n)[:n]
	clear(list)
	return list
}

// fromTensors: leafs lie where they lie; nodes run where they must (but in a dry run), where they write, or
// where their tensors are.
func (s *schedule) fromTensors() {
	for _, x := range s.Leafs {
		s.spot[x] = s.site.host()
		if nd := s.node(x); nd.external {
			s.spot[x] = nd.home
		}
	}
	for _, x := range s.Nodes {
		if nd := s.node(x); nd.pin > 0 && !s.site.DryRun {
			s.spot[x] = nd.pin - 1
		} else {
			s.spot[x] = s.fixedSpot(x, nd)
		}
	}
}

func (s *schedule) fixedSpot(x ID, nd *node) Spot {
	if nd.view != 0 && s.node(nd.view).external {
		return s.node(nd.view).home
	}
	if nd.op == Rope || nd.op == Flash {
		return nowhere // their tensors are too small to decide
	}
	for _, p := range s.sourcesOf(x) {
		if from := s.node(p); from.stored {
			if from.home == s.site.host() && s.offloads(nd) {
				return 0
			}
			return from.home
		}
	}
	return nowhere
}

// offloads reports whether the first device takes over an operation whose tensor lies on the host.
func (s *schedule) offloads(nd *node) bool {
	if s.site.Offload == 0 || len(s.site.Devices) == 0 || nd.op == GetRows {
		return false
	}
	v := s.site.Rows.values()
	rows := int64(1)
	switch nd.op {
	case MulMat:
		rows = nd.ne[1].elements(&v)
	case MulMatID, Rope:
		rows = nd.ne[2].elements(&v)
	default:
		for i := 1; i < len(nd.ne); i++ {
			rows *= nd.ne[i].elements(&v)
		}
	}
	return rows >= s.site.Offload
}

// supports reports whether a backend has the operation.
func (s *schedule) supports(at Spot, x ID) bool {
	nd := s.node(x)
	if at == s.site.host() || nd.op != Flash || s.site.Devices[at].Flash == nil {
		return true
	}
	h := s.heads[nd.aux]
	return s.site.Devices[at].Flash(h.dimK, h.dimV, h.group)
}

// expand gives undecided nodes the spot of those before and behind them: first only devices' spots.
func (s *schedule) expand(devices bool) {
	at := nowhere
	step := func(x ID) {
		switch {
		case s.node(x).op == View:
		case s.spot[x] == nowhere && at != nowhere && s.supports(at, x):
			s.spot[x] = at
		case s.spot[x] == nowhere:
		case devices && s.spot[x] == s.site.host():
			at = nowhere
		default:
			at = s.spot[x]
		}
	}
	for _, x := range s.Nodes {
		step(x)
	}
	at = nowhere
	for _, x := range slices.Backward(s.Nodes) {
		step(x)
	}
}

// rest: nodes that no neighbour's backend has run where most of their sources can be read.
func (s *schedule) rest() {
	for _, x := range s.Nodes {
		if s.node(x).op == View || s.spot[x] != nowhere {
			continue
		}
		best := -1
		for b := range Spot(s.site.spots()) {
			if !s.supports(b, x) {
				continue
			}
			n := 0
			for _, p := range s.sourcesOf(x) {
				if s.known(p) && s.reads(b, p) {
					n++
				}
			}
			if n > best {
				best, s.spot[x] = n, b
			}
		}
	}
}

func (s *schedule) known(x ID) bool {
	v := s.node(x).view
	return s.spot[x] != nowhere || v != 0 && s.spot[v] != nowhere
}

// reads reports whether a backend reads a value where it lies.
func (s *schedule) reads(at Spot, x ID) bool {
	lies := s.spot[x]
	if nd := s.node(s.root(x)); nd.external {
		lies = nd.home
	} else if v := s.node(x).view; lies == nowhere && v != 0 {
		lies = s.spot[v]
	}
	return lies == at || lies >= 0 && lies < s.site.host() && at == s.site.host() && s.site.Devices[lies].Shared
}

// views lie with what they are views of.
func (s *schedule) views() {
	for _, x := range s.Nodes {
		if v := s.node(x).view; v != 0 && s.spot[x] == nowhere {
			s.spot[x] = s.spot[v]
		}
		for _, p := range s.sourcesOf(x) {
			if s.spot[p] != nowhere {
				continue
			}
			if v := s.node(p).view; v != 0 {
				s.spot[p] = s.spot[v]
			} else {
				s.spot[p] = s.spot[x]
			}
		}
	}
}

// cut the graph where the backend changes, or where a tensor must be fetched, so that the one fetched before
// makes room.
func (s *schedule) cut() {
	s.splits = []split{{spot: nowhere}}
	for i, x := range s.Nodes {
		if s.node(x).op == View {
			continue
		}
		now := &s.splits[len(s.splits)-1]
		if now.spot == nowhere {
			now.spot = s.spot[x]
		}
		if s.spot[x] != now.spot || s.fetches(x, now) {
			s.splits = append(s.splits, split{spot: s.spot[x], first: i})
			now = &s.splits[len(s.splits)-1]
		}
		s.bring(x, now)
	}
}

// fetches reports whether a node must begin a split of its own.
func (s *schedule) fetches(x ID, now *split) bool {
	if len(now.inputs) == 0 {
		return false
	}
	for _, p := range s.sourcesOf(x) {
		away := s.spot[p] != now.spot && !s.reads(now.spot, p)
		if away && (s.node(p).stored || s.site.FewInputs && len(now.inputs) >= maxInputs && s.copied[now.spot][p] == 0) {
			return true
		}
	}
	return false
}

// bring copies the sources of a node that lie elsewhere.
func (s *schedule) bring(x ID, now *split) {
	src := s.sourcesOf(x)
	for j, p := range src {
		if s.site.copies() > 1 && s.input(p) {
			s.keepCopies(p)
		}
		if s.spot[p] == now.spot || s.reads(now.spot, p) {
			continue
		}
		if s.copied[now.spot][p] == 0 {
			s.copied[now.spot][p] = s.copyTo(now.spot, p)
			now.inputs = append(now.inputs, p)
			src = s.sourcesOf(x)
		}
		src[j] = s.copied[now.spot][p]
	}
}

// input reports whether the program writes the value before the graph runs.
func (s *schedule) input(x ID) bool { nd := s.node(x); return nd.op == Leaf && !nd.external }

// keepCopies of an input where it lies.
func (s *schedule) keepCopies(x ID) {
	if slices.Contains(s.inputs, x) {
		return
	}
	s.inputs = append(s.inputs, x)
	s.keep(x)
	s.kept = append(s.kept, placed{x, s.spot[x]})
	for range s.site.copies() - 1 {
		s.kept = append(s.kept, placed{s.duplicate(s.spot[x], x), s.spot[x]})
	}
}

// copyTo makes the copies of a value at a spot; the first of them is used.
func (s *schedule) copyTo(at Spot, x ID) ID {
	first := s.duplicate(at, x)
	if s.site.copies() == 1 {
		return first
	}
	s.brought = append(s.brought, placed{first, at})
	for range s.site.copies() - 1 {
		s.brought = append(s.brought, placed{s.duplicate(at, x), at})
	}
	return first
}

// duplicate is memory laid out like a value; copies for several batches are never taken over.
func (s *schedule) duplicate(at Spot, x ID) ID {
	c := s.sized(s.new(Leaf, s.node(x).typ, s.node(x).ne), s.span(at, x))
	s.node(c).output = s.site.copies() > 1
	s.node(c).strided = s.node(x).strided
	s.spot = append(s.spot, at)
	for i := range s.copied {
		s.copied[i] = append(s.copied[i], 0)
	}
	return c
}

// span is the bytes from a value's first element to its last.
func (s *schedule) span(at Spot, x ID) Form {
	if nd := s.node(x); nd.stored {
		t := s.tensors[nd.aux]
		return Form{formOne: s.site.Bytes(t.layer, t.t, at)}
	}
	return s.size(x)
}
