package sim

import (
	"slices"

	"github.com/memwall/memwall/workload"
)

// Paging describes how a server's cache is divided: a pool of Blocks, each holding BlockTokens tokens of one group of
// layers (vllm/v1/core/kv_cache_utils.py). Full groups keep a block for every row of BlockTokens tokens, Window groups
// for the last Rows rows, and Fixed blocks hold a sequence's states.
//
// Simplifications: blocks of windows and states are never shared; a request with cached full rows has its own copies of
// those, without recomputing them. A moving window reuses the blocks it leaves rather than the least recently used, so
// that it evicts nothing. The blocks of a row are evicted together rather than group by group.
type Paging struct {
	Blocks, BlockTokens int64
	Full, Window, Rows  int64
	Fixed               int64
	// PrefixCache keeps the caches of finished requests for reuse until their space is needed.
	PrefixCache bool
	// Tier holds evicted rows; nil if they are lost.
	Tier *Tier
}

// rows returns the rows that hold the given tokens.
func (p *Paging) rows(tokens int64) int64 { return (tokens + p.BlockTokens - 1) / p.BlockTokens }

// blocks returns the blocks of a sequence of the given rows, the first of which it shares with others.
func (p *Paging) blocks(rows, shared int64) int64 {
	if rows == 0 {
		return 0
	}
	return p.Full*(rows-shared) + p.Window*min(rows, p.Rows) + p.Fixed
}

// pool counts the blocks of a server and tracks cached rows. Blocks without reusable content are only counted, in runs
// in the order of release; rows of a span released together are a run with its index.
type pool struct {
	Paging
	free    int64 // allocatable blocks, including cached ones
	spans   tree
	lru     runs
	loose   int64 // blocks of rows of which other blocks were evicted: used before the runs
	named   int64 // cached blocks in the runs
	tiers   []*Tier
	shelves [mostTiers]shelf
	wanted  int64 // rows on the device requested often enough to be in a lower tier too
	// changed increases whenever cached rows are added, removed or change owner.
	changed int64
}

func newPool(p Paging) pool {
	out := pool{Paging: p, free: p.Blocks, spans: newTree(), tiers: p.Tier.tiers()}
	out.lru.push(run{node: nobody, blocks: p.Blocks})
	return out
}

// take allocates the least recently released blocks. There must be enough free ones.
func (p *pool) take(n int64) {
	p.free -= n
	got := min(n, p.loose)
	p.loose -= got
	for n -= got; n > 0; {
		r := p.lru.front()
		if r.node == nobody {
			got := min(n, r.blocks)
			r.blocks -= got
			n -= got
		} else {
			n -= p.evict(r, n)
		}
		if r.blocks == 0 {
			p.lru.pop()
		}
	}
}

// plain returns the blocks that can be allocated without evicting a cached row.
func (p *pool) plain() int64 {
	if p.lru.head < len(p.lru.items) && p.lru.front().node == nobody {
		return p.loose + p.lru.front().blocks
	}
	return p.loose
}

// stale reports whether the rows of a run are in use again.
func (p *pool) stale(r *run) bool {
	if r.node == nobody {
		return false
	}
	left := p.spans.nodes[r.node].left
	return !slices.ContainsFunc(left, func(l part) bool { return l.stamp == r.stamp })
}

// evict evicts the last rows of a span to obtain blocks: whole rows, with the excess left for the next allocation. The
// deepest rows of a span are released first.
func (p *pool) evict(r *run, want int64) (got int64) {
	node := &p.spans.nodes[r.node]
	if len(node.left) == 0 || node.left[0].stamp != r.stamp {
		r.blocks = 0
		return 0
	}
	low := node.rowsHeld()
	if len(node.left) > 1 {
		low = node.left[1].end
	}
	rows := min((want+p.Full-1)/p.Full, node.rows-low)
	blocks := rows * p.Full
	p.changed++
	p.named -= blocks
	p.grown(node, -rows)
	if node.left[0].end = node.rows; node.rows == low {
		node.left = slices.Delete(node.left, 0, 1)
		r.blocks = 0
	}
	p.store(r.node, rows, 0)
	if node.rows == 0 {
		p.spans.remove(r.node)
	}
	got = min(blocks, want)
	p.loose += blocks - got
	return got
}

// untake undoes an allocation that caused no eviction.
func (p *pool) untake(n int64) {
	p.free += n
	p.loose += n
}

// give releases blocks without reusable content.
func (p *pool) give(n int64) {
	if n == 0 {
		return
	}
	p.free += n
	if last := p.lru.back(); last != nil && last.node == nobody {
		last.blocks += n
		return
	}
	p.lru.push(run{node: nobody, blocks: n})
}

// hold references the first rows of a span; those unreferenced before are no longer free.
func (p *pool) hold(at int32, rows int64) {
	node := &p.spans.nodes[at]
	before := node.rowsHeld()
	p.changed++
	node.users++
	p.asked(node)
	node.reach(rows, 1)
	if rows <= before {
		return
	}
	for n := len(node.left); n > 0 && node.left[n-1].end <= rows; n-- {
		node.left = node.left[:n-1]
	}
	p.free -= (rows - before) * p.Full
	p.named -= (rows - before) * p.Full
}

// drop removes a reference: rows that nobody else references stay cached until their space is needed.
func (p *pool) drop(at int32, rows int64) {
	node := &p.spans.nodes[at]
	before := node.rowsHeld()
	p.changed++
	node.users--
	node.reach(rows, -1)
	if left := before - node.rowsHeld(); left > 0 {
		p.leave(at, before, left)
	} else if node.rows == 0 {
		p.spans.remove(at)
	}
}

// leave releases the last rows of a span.
func (p *pool) leave(at int32, end, rows int64) {
	node := &p.spans.nodes[at]
	node.stamp++
	node.left = append(node.left, part{end: end, stamp: node.stamp})
	p.free += rows * p.Full
	p.named += rows * p.Full
	p.lru.push(run{node: at, stamp: node.stamp, blocks: rows * p.Full})
	if p.lru.long() {
		p.lru.compact(p.stale)
	}
}

// match returns the rows cached at the start of a sequence, the following rows that each tier holds, and how many
// blocks of the cached rows are free now and would be taken from the free ones. The last token is always computed.
func (p *pool) match(spans []workload.Span, tokens int64) (rows int64, stored perTier, free int64) {
	if !p.PrefixCache || len(spans) == 0 {
		return 0, perTier{}, 0
	}
	most := (tokens - 1) / p.BlockTokens
	w := walk{pool: p}
	for _, s := range spans {
		full := w.next(s)
		if w.at == nobody {
			break
		}
		node := &p.spans.nodes[w.at]
		got := min(node.rows, full, most-rows)
		if stored.sum() > 0 {
			got = 0
		}
		rows += got
		free += max(0, got-node.rowsHeld()) * p.Full
		below := perTier{}
		if got == node.rows {
			below = node.stored.upTo(min(full-got, most-rows-stored.sum()))
		}
		if stored.add(below); got+below.sum() < full {
			break
		}
	}
	return rows, stored, free
}

// walk iterates over the spans of a prompt.
type walk struct {
	pool   *pool
	key    spanKey
	at     int32 // nobody if not cached
	tokens int64 // before the end of the span
	begun  bool
}

// next advances to a span and returns how many rows end in it.
func (w *walk) next(s workload.Span) (rows int64) {
	parent := nobody
	if w.begun {
		parent = w.at
	}
	w.begun = true
	w.key = spanKey{parent: parent, after: w.tokens, id: s.ID}
	before := w.tokens / w.pool.BlockTokens
	w.tokens += s.Tokens
	w.at = w.pool.spans.find(w.key)
	return w.tokens/w.pool.BlockTokens - before
}

// pass advances past a span whose index is known.
func (w *walk) pass(s workload.Span, at int32) {
	w.begun, w.at = true, at
	w.tokens += s.Tokens
}
