package sim

import "time"

// Tier keeps rows that were evicted from a pool in the host's memory or on disk, for Rows of them, and brings them back
// (vLLM's KV offloading, LMCache, SGLang's hierarchical cache). Writing is hidden behind computing; reading keeps a
// request waiting.
type Tier struct {
	Rows int64
	// Fetch is how many seconds so many rows take to the device.
	Fetch func(rows int64) float64
}

// store the last rows of a span as they are evicted.
func (p *pool) store(at int32, rows int64) {
	if p.Tier == nil || rows == 0 {
		return
	}
	node := &p.spans.nodes[at]
	p.changed++
	node.stored += rows
	p.stored += rows
	node.shelved++
	p.shelf.push(run{node: at, stamp: node.shelved})
	for p.stored > p.Tier.Rows {
		p.forget()
	}
	if p.shelf.long() {
		p.shelf.compact(p.moved)
	}
}

// forget the last rows of the span that was stored longest ago.
func (p *pool) forget() {
	r := p.shelf.front()
	if p.moved(r) {
		p.shelf.pop()
		return
	}
	node := &p.spans.nodes[r.node]
	n := min(node.stored, p.stored-p.Tier.Rows)
	p.unstore(node, n)
	if node.stored == 0 {
		at := r.node
		p.shelf.pop()
		p.spans.remove(at)
	}
}

// moved reports whether rows of a span were stored or brought back after this.
func (p *pool) moved(r *run) bool {
	n := &p.spans.nodes[r.node]
	return n.shelved != r.stamp || n.stored == 0
}

// unstore rows.
func (p *pool) unstore(node *span, n int64) {
	p.changed++
	node.stored -= n
	p.stored -= n
}

// fetch admits a request of whose prompt rows are stored: it takes room for them, and waits until they have come.
func (s *server) fetch(at int32, e entry, now time.Duration) {
	t := &s.slots.all[at]
	s.begins(t, e, now)
	t.state = coming
	s.pool.take(s.blocksAt(t, (e.hits+e.stored)*s.BlockTokens) - s.blocksAt(t, t.computed))
	t.computed = (e.hits + e.stored) * s.BlockTokens
	s.share(t)
	s.coming.push(handed{now + s.m.span(s.Tier.Fetch(e.stored), 0, "a fetch"), at})
}
