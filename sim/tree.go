package sim

import (
	"cmp"
	"slices"
)

// nobody is the index of no span.
const nobody int32 = -1

// spanKey identifies a span by its predecessor and its name, which together determine its tokens.
type spanKey struct {
	parent int32
	after  int64 // tokens before it
	id     uint64
}

// span is the cached rows of a span, a prefix of it. Unreferenced rows come last: whoever references a row references
// all before it.
type span struct {
	key   spanKey
	rows  int64
	users int32   // sequences that reference it, if only as a predecessor
	hits  int32   // sequences that ever referenced it
	child int32   // number of successors
	deep  []depth // rows that they reference, fewest first
	left  []part  // unreferenced rows by time of release: deepest first
	stamp uint32
	// stored counts the following rows that each tier holds, nearest first; shelved counts how often rows were stored
	// there.
	stored  perTier
	shelved [mostTiers]uint32
}

// depth is the number of sequences that reference that many rows.
type depth struct {
	rows int64
	n    int32
}

// part is a part of a span released at once: from the end of the next part, or else of the referenced rows.
type part struct {
	end   int64
	stamp uint32
}

// rowsHeld returns the number of referenced rows.
func (s *span) rowsHeld() int64 {
	if n := len(s.deep); n > 0 {
		return s.deep[n-1].rows
	}
	return 0
}

// reach records that n more sequences reference the given rows.
func (s *span) reach(rows int64, n int32) {
	if rows == 0 {
		return
	}
	i, ok := slices.BinarySearchFunc(s.deep, rows, func(d depth, rows int64) int { return cmp.Compare(d.rows, rows) })
	if !ok {
		s.deep = slices.Insert(s.deep, i, depth{rows: rows})
	}
	if s.deep[i].n += n; s.deep[i].n == 0 {
		s.deep = slices.Delete(s.deep, i, i+1)
	}
}

// tree holds the cached spans, each linked to its predecessor.
type tree struct {
	nodes []span
	empty []int32
	byKey map[spanKey]int32
}

func newTree() tree { return tree{byKey: map[spanKey]int32{}} }

// find returns the index of a span, or nobody.
func (t *tree) find(k spanKey) int32 {
	if at, ok := t.byKey[k]; ok {
		return at
	}
	return nobody
}

// add adds a span without rows. The stamp of a reused index continues, so that runs of the previous span stay stale.
func (t *tree) add(k spanKey) int32 {
	at := int32(len(t.nodes))
	if n := len(t.empty); n > 0 {
		at, t.empty = t.empty[n-1], t.empty[:n-1]
		old := &t.nodes[at]
		shelved := old.shelved
		for i := range shelved {
			shelved[i]++
		}
		*old = span{key: k, stamp: old.stamp, shelved: shelved, deep: old.deep[:0], left: old.left[:0]}
	} else {
		t.nodes = append(t.nodes, span{key: k})
	}
	t.byKey[k] = at
	if k.parent != nobody {
		t.nodes[k.parent].child++
	}
	return at
}

// remove removes a span without rows, references and successors, and then its predecessors that are left empty.
func (t *tree) remove(at int32) {
	for at != nobody {
		n := &t.nodes[at]
		if n.rows > 0 || n.users > 0 || n.child > 0 || n.stored.sum() > 0 {
			return
		}
		parent := n.key.parent
		delete(t.byKey, n.key)
		t.empty = append(t.empty, at)
		if parent != nobody {
			t.nodes[parent].child--
		}
		at = parent
	}
}

// run is a number of blocks released together.
type run struct {
	node   int32
	stamp  uint32
	blocks int64
}

// runs is a queue of runs.
type runs struct {
	items []run
	head  int
	kept  int // length after compaction
}

func (q *runs) front() *run { return &q.items[q.head] }

func (q *runs) back() *run {
	if q.head == len(q.items) {
		return nil
	}
	return &q.items[len(q.items)-1]
}

func (q *runs) pop() {
	if q.head++; q.head*2 >= len(q.items) {
		q.items = q.items[:copy(q.items, q.items[q.head:])]
		q.head = 0
	}
}

func (q *runs) push(r run) { q.items = append(q.items, r) }

// long reports whether the queue has grown enough since its compaction to repeat it.
func (q *runs) long() bool { return len(q.items)-q.head > 2*q.kept+1024 }

// compact drops runs that are stale.
func (q *runs) compact(stale func(*run) bool) {
	out := q.items[:0]
	for i := q.head; i < len(q.items); i++ {
		if r := q.items[i]; !stale(&r) {
			out = append(out, r)
		}
	}
	q.items, q.head, q.kept = out, 0, len(out)
}
