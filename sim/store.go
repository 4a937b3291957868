package sim

import "github.com/memwall/memwall/workload"

// Store keeps rows computed by any replica for all of them (Mooncake's store, HF3FS, LMCache's server, file systems):
// each replica writes what it computes, and reads what a prompt finds neither on the device nor in its own tiers. The
// oldest are evicted beyond Rows; 0 keeps all.
type Store struct {
	Rows int64
	// Fetch returns the seconds to load the given rows to a device.
	Fetch func(rows int64) float64
	// Hits is the number of requests that must have begun with a row before it is stored; 0 stores all.
	Hits int32
}

// store is the state of a Store: a pool without device, whose only tier is its content.
type store struct {
	*Store
	pool pool
}

func newStore(s *Store, p *Paging) *store {
	if s == nil {
		return nil
	}
	rows := s.Rows
	if rows == 0 {
		rows = never64
	}
	return &store{s, newPool(Paging{BlockTokens: p.BlockTokens, Full: 1, PrefixCache: true, Tier: &Tier{Rows: rows}})}
}

const never64 = 1 << 62

// changed increases whenever the content changes.
func (s *store) changed() int64 {
	if s == nil {
		return 0
	}
	return s.pool.changed
}

// put stores the rows of a prompt's first tokens.
func (s *store) put(spans []workload.Span, tokens int64) {
	if s == nil {
		return
	}
	w := walk{pool: &s.pool}
	var path []int32
	for _, sp := range spans {
		before := w.tokens / s.pool.BlockTokens
		w.next(sp)
		rows := min(w.tokens, tokens)/s.pool.BlockTokens - before
		if rows <= 0 {
			break
		}
		if w.at == nobody {
			w.at = s.pool.spans.add(w.key)
		}
		node := &s.pool.spans.nodes[w.at]
		node.hits++
		if missing := rows - node.stored[0]; missing > 0 && node.hits >= s.Hits {
			path = append(path, w.at)
			s.pool.store(w.at, missing, 0)
		}
		if w.tokens > tokens {
			break
		}
	}
	s.touch(path)
}

// touch refreshes spans such that a span's predecessors are evicted after it.
func (s *store) touch(path []int32) {
	for i := len(path) - 1; i >= 0; i-- {
		if node := &s.pool.spans.nodes[path[i]]; node.stored[0] > 0 {
			node.shelved[0]++
			s.pool.shelves[0].push(run{node: path[i], stamp: node.shelved[0]})
		}
	}
}

// beyond returns the rows of a prompt that the store has beyond those found closer.
func (s *store) beyond(spans []workload.Span, tokens, found int64) int64 {
	if s == nil {
		return 0
	}
	_, stored, _ := s.pool.match(spans, tokens)
	return max(0, stored[0]-found)
}

// fetched returns the seconds to load rows of a prompt, which makes them recently used.
func (s *store) fetched(spans []workload.Span, rows int64) float64 {
	if s == nil || rows == 0 {
		return 0
	}
	w, path := walk{pool: &s.pool}, []int32(nil)
	for _, sp := range spans {
		if w.next(sp); w.at == nobody {
			break
		}
		path = append(path, w.at)
	}
	s.touch(path)
	return s.Fetch(rows)
}
