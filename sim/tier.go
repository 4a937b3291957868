package sim

import "time"

// Tier keeps rows evicted from a pool in host memory or on disk, up to Rows of them, and loads them back (vLLM's KV
// offloading, LMCache, SGLang's hierarchical cache, Dynamo's KV block manager). What does not fit goes to the tier
// Below, or is lost. Writes overlap with compute; reads delay the request.
type Tier struct {
	Rows int64
	// Fetch returns the seconds to load the given rows to the device.
	Fetch func(rows int64) float64
	Below *Tier
	// Hits is the number of requests that must have begun with a row before it is copied here, while the device still
	// has it (SGLang, mem_cache/hiradix_cache.py: write_through_threshold); 0 keeps all evicted rows.
	Hits int32
}

// mostTiers is the maximum number of tiers below the device; InStore is the index of the shared store in results.
const (
	mostTiers = 2
	InStore   = mostTiers
)

// perTier counts rows by tier, nearest first, then the store.
type perTier [mostTiers + 1]int64

func (n *perTier) sum() int64 { return n[0] + n[1] + n[InStore] }

// upTo returns the first rows of n, up to the given number.
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

// tiers returns a tier and those below it.
func (t *Tier) tiers() (out []*Tier) {
	for ; t != nil && len(out) <= mostTiers; t = t.Below {
		out = append(out, t)
	}
	return out
}

// fetched returns the total seconds to load rows from all tiers, which share a link or use consecutive ones.
func (t *Tier) fetched(rows perTier) (seconds float64) {
	for i := 0; t != nil; t, i = t.Below, i+1 {
		if rows[i] > 0 {
			seconds += t.Fetch(rows[i])
		}
	}
	return seconds
}

// shelf holds the rows of a tier in the order of their arrival.
type shelf struct {
	runs
	rows int64
}

// store moves the last rows of a span to a tier on eviction from above.
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

// keeps reports whether a span is requested often enough to be kept below.
func (p *pool) keeps(node *span) bool { return node.hits >= p.tiers[0].Hits }

// room returns the space of a tier for rows not on the device; a write-through tier also holds copies of frequently
// requested rows on the device.
func (p *pool) room(level int) int64 {
	if level > 0 || p.tiers[0].Hits == 0 {
		return p.tiers[level].Rows
	}
	return max(0, p.tiers[0].Rows-p.wanted)
}

// asked counts another request that begins with a span.
func (p *pool) asked(node *span) {
	if len(p.tiers) == 0 || p.tiers[0].Hits == 0 {
		return
	}
	if node.hits++; node.hits == p.tiers[0].Hits {
		p.wanted += node.rows
	}
}

// grown counts rows of a span added to or removed from the device.
func (p *pool) grown(node *span, rows int64) {
	if node.rows += rows; len(p.tiers) > 0 && p.tiers[0].Hits > 0 && p.keeps(node) {
		p.wanted += rows
	}
}

// forget moves the last rows of the least recently stored span one tier down.
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

// moved reports whether rows of a span were stored or loaded since the run.
func (p *pool) moved(r *run, level int) bool {
	n := &p.spans.nodes[r.node]
	return n.shelved[level] != r.stamp || n.stored[level] == 0
}

// unstore removes rows from a tier.
func (p *pool) unstore(node *span, n int64, level int) {
	p.changed++
	node.stored[level] -= n
	p.shelves[level].rows -= n
}

// unstoreFirst removes rows, from the nearest tier on.
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

// fetch admits a request with stored rows: it allocates space for them and waits for the transfer.
func (s *server) fetch(at int32, e entry, now time.Duration) {
	t := &s.slots.all[at]
	s.begins(t, e, now)
	t.state = coming
	rows := e.hits + e.stored.sum()
	s.pool.take(s.blocksAt(t, rows*s.BlockTokens) - s.blocksAt(t, t.computed))
	t.computed = rows * s.BlockTokens
	s.share(t)
	s.coming.start(now+s.m.span(s.Tier.fetched(e.stored)+s.store.fetched(t.Spans, e.stored[InStore]), 0, "a fetch"), at)
}
