package sim

import (
	"cmp"
	"slices"
)

// nobody is no span.
const nobody int32 = -1

// spanKey is what comes before a span, and its name: together they say what its tokens are.
type spanKey struct {
	parent int32
	after  int64 // tokens before it
	id     uint64
}

// span are the cached rows of a span, from its first on. Rows that nobody holds are the last ones: who holds a row holds
// all before it.
type span struct {
	key   spanKey
	rows  int64
	users int32   // sequences that hold it, if only as what comes before
	hits  int32   // sequences that ever held it
	child int32   // spans that come after it
	deep  []depth // how many rows they hold, fewest first
	left  []part  // rows that nobody holds, by when they were left: deepest first
	stamp uint32
	// stored are the rows after those that each tier has, the nearest first; shelved how often rows were put there.
	stored  perTier
	shelved [mostTiers]uint32
}

// depth is how many sequences hold so many rows.
type depth struct {
	rows int64
	n    int32
}

// part of a span that was left at once: from the end of the next part, or where there is none from what is held.
type part struct {
	end   int64
	stamp uint32
}

// rowsHeld are the rows that somebody holds.
func (s *span) rowsHeld() int64 {
	if n := len(s.deep); n > 0 {
		return s.deep[n-1].rows
	}
	return 0
}

// reach notes that n more sequences hold so many rows.
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

// tree has the spans that are cached, each after the one before it.
type tree struct {
	nodes []span
	empty []int32
	byKey map[spanKey]int32
}

func newTree() tree { return tree{byKey: map[spanKey]int32{}} }

// find a span; nobody if it is not cached.
func (t *tree) find(k spanKey) int32 {
	if at, ok := t.byKey[k]; ok {
		return at
	}
	return nobody
}

// add a span without rows. The stamp of a place goes on, so that runs of the span that was there before stay stale.
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

// remove a span without rows that nobody holds, once no span comes after it, and those before it that are empty then.
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

// run is a number of blocks that were left together.
type run struct {
	node   int32
	stamp  uint32
	blocks int64
}

// runs is a queue of them.
type runs struct {
	items []run
	head  int
	kept  int // when it was compacted
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

// long reports whether the queue has grown so much since it was compacted that it is worth the while.
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
