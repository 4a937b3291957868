package sim

// grasp references the cached rows that a prompt begins with.
func (s *server) grasp(t *slot, rows int64) {
	t.rows = rows
	if rows == 0 {
		return
	}
	w := walk{pool: &s.pool}
	for _, sp := range t.Spans {
		n := w.next(sp)
		t.held = append(t.held, w.at)
		s.pool.hold(w.at, min(n, rows))
		if rows -= n; rows <= 0 {
			return
		}
	}
}

// share makes the full rows of spans that a slot has computed available to others (vllm/v1/core/kv_cache_manager.py,
// cache_blocks). Rows that another slot computed first are not shared again; from there on the slot's rows are private.
// An engine keeps both and finds the second when the first is gone, which requires two prompts chunked side by side, or
// one cached to its end.
func (s *server) share(t *slot) {
	if !s.PrefixCache || t.apart || len(t.Spans) == 0 {
		return
	}
	w := walk{pool: &s.pool}
	for i, sp := range t.Spans {
		before := w.tokens / s.BlockTokens
		if w.tokens >= t.computed {
			return
		}
		if i < len(t.held) {
			w.pass(sp, t.held[i])
		} else {
			w.next(sp)
			if w.at == nobody {
				w.at = s.pool.spans.add(w.key)
			}
			t.held = append(t.held, w.at)
			s.pool.hold(w.at, 0)
		}
		if !s.extend(t, w.at, before, min(w.tokens, t.computed)/s.BlockTokens) || w.tokens > t.computed {
			return
		}
	}
}

// extend extends the cached rows of a span, which begins at row from of the prompt, up to row to.
func (s *server) extend(t *slot, at int32, from, to int64) bool {
	node := &s.pool.spans.nodes[at]
	if to <= t.rows {
		return true
	}
	if node.rows > t.rows-from {
		t.apart = true
		return false
	}
	s.pool.changed++
	node.reach(t.rows-from, -1)
	node.reach(to-from, 1)
	s.pool.unstoreFirst(node, to-from-node.rows)
	s.pool.grown(node, to-from-node.rows)
	t.rows = to
	return true
}

// unhold drops all spans of a slot, last first.
func (s *server) unhold(t *slot) {
	n := len(t.held)
	before := int64(0) // tokens
	for _, sp := range t.Spans[:min(n, len(t.Spans))] {
		before += sp.Tokens
	}
	end := t.rows
	for i := n - 1; i >= 0; i-- {
		if i < len(t.Spans) {
			before -= t.Spans[i].Tokens
		}
		begin := min(end, before/s.BlockTokens)
		s.pool.drop(t.held[i], end-begin)
		end = begin
	}
	t.held = t.held[:0]
}

// keep caches the full rows that a slot computed beyond its spans under its own name, for the next turn of a session or
// for the slot itself if preempted.
func (s *server) keep(t *slot, total int64) {
	if !s.PrefixCache || t.own() == 0 {
		return
	}
	t.Spans = t.Spans[:t.spans] // without the name added by an earlier preemption
	if t.apart {
		return
	}
	shared := t.Shared()
	if total < shared || len(t.held) < len(t.Spans) {
		return
	}
	if len(t.held) == len(t.Spans) {
		t.held = append(t.held, s.pool.name(t, shared))
	}
	s.extend(t, t.held[len(t.Spans)], shared/s.BlockTokens, total/s.BlockTokens)
}

// name returns the index of a new span for what follows the spans of a slot, and references it.
func (p *pool) name(t *slot, after int64) int32 {
	parent := nobody
	if n := len(t.held); n > 0 {
		parent = t.held[n-1]
	}
	k := spanKey{parent: parent, after: after, id: t.own()}
	at := p.spans.find(k)
	if at == nobody {
		at = p.spans.add(k)
	}
	p.hold(at, 0)
	return at
}

// own returns the name of what a slot adds to its spans; a preempted slot whose client gave none gets a unique one.
func (t *slot) own() uint64 {
	if t.Own == 0 && t.state == preempted {
		return 1<<63 | uint64(t.ID)
	}
	return t.Own
}
