package sim

// grasp holds the cached rows that a prompt begins with.
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

// share lets others find what a slot has computed of its spans, whole rows of them (vllm/v1/core/kv_cache_manager.py,
// cache_blocks). Rows that another one computed first are not shared twice: from there on the slot's are its own. An engine
// keeps both, and finds the second when the first is gone; that takes two prompts that are computed in pieces side by side,
// or one that is cached to its end.
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

// extend the rows of a span, which begins at a row of the prompt, up to another.
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

// unhold drops all spans of a slot, the last first.
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

// keep what a slot computed beyond its spans, whole rows of it, under its own name: the next turn of a session makes use of
// it, or the slot itself when it was preempted.
func (s *server) keep(t *slot, total int64) {
	if !s.PrefixCache || t.own() == 0 {
		return
	}
	t.Spans = t.Spans[:t.spans] // without its own, that a preemption before added
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

// name gives what comes after the spans of a slot a place, and holds it.
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

// own is the name of what a slot adds to its spans: where its client gave none, and it was preempted, one that no other has.
func (t *slot) own() uint64 {
	if t.Own == 0 && t.state == preempted {
		return 1<<63 | uint64(t.ID)
	}
	return t.Own
}
