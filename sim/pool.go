package sim

import "github.com/memwall/memwall/workload"

// Paging says how a server's caches are divided: a pool of Blocks, each with room for BlockTokens of one group of layers
// (vllm/v1/core/kv_cache_utils.py). Full groups keep a block for every row of BlockTokens tokens, Window groups for the
// last Rows rows, and Fixed blocks of states are taken once for a sequence.
type Paging struct {
	Blocks, BlockTokens int64
	Full, Window, Rows  int64
	Fixed               int64
	// PrefixCache keeps what requests leave until its room is needed, for later ones that begin alike.
	PrefixCache bool
}

// rows of so many tokens.
func (p *Paging) rows(tokens int64) int64 { return (tokens + p.BlockTokens - 1) / p.BlockTokens }

// blocks of a sequence of so many rows, of which it shares the first with others.
func (p *Paging) blocks(rows, shared int64) int64 {
	if rows == 0 {
		return 0
	}
	return p.Full*(rows-shared) + p.Window*min(rows, p.Rows) + p.Fixed
}

// pool counts the blocks of a server and keeps what may be asked for again. Blocks that nobody will ask for again are
// only counted, in runs of the order in which they were left; blocks of a span are a run with its number.
type pool struct {
	Paging
	free  int64 // blocks that a sequence could take, cached ones among them
	freed int64 // how often blocks were given back: who waits for room need not look again before
	spans tree
	lru   runs
	named int64 // cached blocks in the runs
}

func newPool(p Paging) pool {
	out := pool{Paging: p, free: p.Blocks, spans: newTree()}
	out.lru.push(run{node: nobody, blocks: p.Blocks})
	return out
}

// take blocks that were left longest ago. There must be as many free ones.
func (p *pool) take(n int64) {
	p.free -= n
	for n > 0 {
		r := p.lru.front()
		switch {
		case r.node == nobody:
			got := min(n, r.blocks)
			r.blocks -= got
			n -= got
		case p.stale(r):
			r.blocks = 0
		default:
			n -= p.evict(r, n)
		}
		if r.blocks == 0 {
			p.lru.pop()
		}
	}
}

func (p *pool) stale(r *run) bool { return r.node != nobody && p.spans.nodes[r.node].stamp != r.stamp }

// evict the last rows of a span for some blocks: whole rows, of which what is not needed now is free for the next.
func (p *pool) evict(r *run, want int64) (got int64) {
	rows := min((want+p.Full-1)/p.Full, r.blocks/p.Full)
	blocks := rows * p.Full
	r.blocks -= blocks
	p.named -= blocks
	node := &p.spans.nodes[r.node]
	if node.rows -= rows; node.rows == 0 {
		p.spans.remove(r.node)
	}
	if blocks > want {
		p.lru.push(run{node: nobody, blocks: blocks - want})
	}
	return min(blocks, want)
}

// give back blocks that nobody will ask for again.
func (p *pool) give(n int64) {
	if n == 0 {
		return
	}
	p.free += n
	p.freed++
	if last := p.lru.back(); last != nil && last.node == nobody {
		last.blocks += n
		return
	}
	p.lru.push(run{node: nobody, blocks: n})
}

// leave a span that nobody holds any more: its rows stay until their room is needed.
func (p *pool) leave(at int32) {
	node := &p.spans.nodes[at]
	node.stamp++
	blocks := node.rows * p.Full
	p.free += blocks
	p.named += blocks
	p.freed++
	p.lru.push(run{node: at, stamp: node.stamp, blocks: blocks})
	if p.lru.long() {
		p.lru.compact(p.stale)
	}
}

// hold a span: rows of one that was left are no longer free. It says how many blocks that takes from the free ones.
func (p *pool) hold(at int32) (blocks int64) {
	node := &p.spans.nodes[at]
	if node.held++; node.held > 1 {
		return 0
	}
	blocks = node.rows * p.Full
	node.stamp++
	p.free -= blocks
	p.named -= blocks
	return blocks
}

// drop a hold.
func (p *pool) drop(at int32) {
	node := &p.spans.nodes[at]
	if node.held--; node.held > 0 {
		return
	}
	if node.rows == 0 {
		p.spans.remove(at)
		return
	}
	p.leave(at)
}

// match are the rows at the beginning of a sequence of some tokens that are cached, and how many blocks of them are free
// now: those would be taken from the free ones. The last token is always computed.
func (p *pool) match(spans []workload.Span, tokens int64) (rows, free int64) {
	if !p.PrefixCache || len(spans) == 0 {
		return 0, 0
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
		rows += got
		if node.held == 0 && got > 0 {
			free += node.rows * p.Full
		}
		if got < full {
			break
		}
	}
	return rows, free
}

// walk goes along the spans of a prompt.
type walk struct {
	pool   *pool
	key    spanKey
	at     int32 // nobody: not cached
	tokens int64 // before the end of the span
	begun  bool
}

// next span: how many rows end in it.
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
