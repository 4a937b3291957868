package sim

import "time"

// Tier keeps rows that were evicted from a pool in the host's memory or on disk, for Rows of them, and brings them back
// (vLLM's KV offloading, LMCache, SGLang's hierarchical cache, Dynamo's KV block manager). What it has no room for goes to the tier
// Below, or is lost. Writing is hidden behind computing; reading keeps a request waiting.
type Tier struct {
	Rows int64
	// Fetch is how many seconds so many rows take to the device.
	Fetch func(rows int64) float64
	Below *Tier
	// Hits is how many requests must have begun with a row before it is kept, which the tier then has while the device has it too
	// (SGLang, mem_cache/hiradix_cache.py: write_through_threshold); 0 keeps all that is evicted.
	Hits int32
}

// mostTiers below the device; InStore is where results count what came of the store that replicas share, beyond them.
const (
	mostTiers = 2
	InStore   = mostTiers
)

// perTier are rows of each tier, the nearest first, and of the store.
type perTier [mostTiers + 1]int64

func (n *perTier) sum() int64 { return n[0] + n[1] + n[InStore] }

// upTo are the first of so many rows.
func (n *perTier) upTo(rows int64) (out perTier) {
	for i := range n[:mostTiers] {
		out[i] = min(n[i], rows)
		rows -= out[i]
	}
	return out
}

func (n *perTier) add(more perTier) {
	for i := range n {
		n[i] += more[i]
	}
}

// tiers are the levels of a tier.
func (t *Tier) tiers() (out []*Tier) {
	for ; t != nil && len(out) <= mostTiers; t = t.Below {
		out = append(out, t)
	}
	return out
}

// fetched is how many seconds the rows of each tier take together: a link is shared, or the links follow each other.
func (t *Tier) fetched(rows perTier) (seconds float64) {
	for i := 0; t != nil; t, i = t.Below, i+1 {
		if rows[i] > 0 {
			seconds += t.Fetch(rows[i])
		}
	}
	return seconds
}

// shelf are the rows of a tier, and the order in which they came there.
type shelf struct {
	runs
	rows int64
}

// store the last rows of a span in a tier as they are evicted from above it.
func (p *pool) store(at int32, rows int64, level int) {
	if level >= len(p.tiers) || rows == 0 {
		return
	}
	node, s := &p.spans.nodes[at], &p.shelves[level]
	p.changed++
	if level == 0 && !p.keeps(node) {
		return
	}
	node.stored[level] += rows
	s.rows += rows
	node.shelved[level]++
	s.push(run{node: at, stamp: node.shelved[level]})
	for s.rows > p.room(level) {
		p.forget(level)
	}
	if s.long() {
		s.compact(func(r *run) bool { return p.moved(r, level) })
	}
}

// keeps reports whether rows of a span are asked for often enough to be kept below.
func (p *pool) keeps(node *span) bool { return node.hits >= p.tiers[0].Hits }

// room of a tier for rows that the device has not: one that is written by hits has copies of those that were asked for often
// enough on the device too.
func (p *pool) room(level int) int64 {
	if level > 0 || p.tiers[0].Hits == 0 {
		return p.tiers[level].Rows
	}
	return max(0, p.tiers[0].Rows-p.wanted)
}

// asked counts one more request that begins with a span.
func (p *pool) asked(node *span) {
	if len(p.tiers) == 0 || p.tiers[0].Hits == 0 {
		return
	}
	if node.hits++; node.hits == p.tiers[0].Hits {
		p.wanted += node.rows
	}
}

// grown counts rows of a span that came to the device, or left it.
func (p *pool) grown(node *span, rows int64) {
	if node.rows += rows; len(p.tiers) > 0 && p.tiers[0].Hits > 0 && p.keeps(node) {
		p.wanted += rows
	}
}

// forget the last rows of the span that was stored longest ago: they go one tier down.
func (p *pool) forget(level int) {
	s := &p.shelves[level]
	r := *s.front()
	if p.moved(&r, level) {
		s.pop()
		return
	}
	node := &p.spans.nodes[r.node]
	n := min(node.stored[level], s.rows-p.room(level))
	p.unstore(node, n, level)
	if node.stored[level] == 0 {
		s.pop()
	}
	p.store(r.node, n, level+1)
	p.spans.remove(r.node)
}

// moved reports whether rows of a span were stored or brought back after this.
func (p *pool) moved(r *run, level int) bool {
	n := &p.spans.nodes[r.node]
	return n.shelved[level] != r.stamp || n.stored[level] == 0
}

// unstore rows of a tier.
func (p *pool) unstore(node *span, n int64, level int) {
	p.changed++
	node.stored[level] -= n
	p.shelves[level].rows -= n
}

// unstoreFirst takes so many rows from the nearest tier on.
func (p *pool) unstoreFirst(node *span, rows int64) {
	if len(p.tiers) == 0 {
		return
	}
	for level, n := range node.stored.upTo(max(0, rows)) {
		if n > 0 {
			p.unstore(node, n, level)
		}
	}
}

// fetch admits a request of whose prompt rows are stored: it takes room for them, and waits until they have come.
func (s *server) fetch(at int32, e entry, now time.Duration) {
	t := &s.slots.all[at]
	s.begins(t, e, now)
	t.state = coming
	rows := e.hits + e.stored.sum()
	s.pool.take(s.blocksAt(t, rows*s.BlockTokens) - s.blocksAt(t, t.computed))
	t.computed = rows * s.BlockTokens
	s.share(t)
	s.coming.push(handed{now + s.m.span(s.Tier.fetched(e.stored)+s.store.fetched(t.Spans, e.stored[InStore]), 0, "a fetch"), at})
}
