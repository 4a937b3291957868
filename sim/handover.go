package sim

import "time"

// Disaggregated serving runs prefill on separate servers and transfers the caches: decoding servers allocate space when
// the transfer starts, and decode when it is complete (vllm/v1/core/sched/scheduler.py, WAITING_FOR_REMOTE_KVS).

// handed is a slot whose cache is in transit.
type handed struct {
	at   time.Duration
	turn int64 // ties go to the one that started first
	slot int32
}

func (h handed) before(o handed) bool { return h.at < o.at || h.at == o.at && h.turn < o.turn }

// underway holds the caches in transit.
type underway struct {
	heap[handed]
	turns int64
}

// start adds one that arrives at a time.
func (u *underway) start(at time.Duration, slot int32) {
	u.turns++
	u.push(handed{at, u.turns, slot})
}

// drop removes one that is no longer needed.
func (u *underway) drop(slot int32) {
	rest := u.heap[:0:0]
	for _, h := range u.heap {
		if h.slot != slot {
			rest.push(h)
		}
	}
	u.heap = rest
}

// takeOver allocates space for a prefilled request's cache and starts its transfer.
func (s *server) takeOver(at int32, now time.Duration) bool {
	t := &s.slots.all[at]
	need := s.blocksAt(t, t.Prompt)
	if s.seated() >= s.MaxSequences || need > s.pool.free {
		return false
	}
	s.pool.take(need)
	t.state, t.computed, t.made = coming, t.Prompt, 1
	s.coming.start(now+s.handover(t.Prompt), at)
	return true
}

// handover returns the transfer time of a prompt's cache.
func (s *server) handover(prompt int64) time.Duration {
	if s.Handover == nil {
		return 0
	}
	return s.m.span(s.Handover(prompt), 0, "a handover")
}

// receive starts transfers for waiting requests, and starts decoding those that have completed.
func (s *server) receive(now time.Duration) {
	for s.waiting.n > 0 && s.slots.all[s.waiting.first()].remote && s.takeOver(s.waiting.first(), now) {
		s.waiting.pop()
	}
	for len(s.coming.heap) > 0 && s.coming.heap[0].at <= now {
		at := s.coming.pop().slot
		t := &s.slots.all[at]
		s.run(at)
		if !t.remote {
			t.state = prefills
			s.partial = append(s.partial, at)
			continue
		}
		t.remote, t.first = false, now
		s.share(t) // what has arrived is cached like what was computed (scheduler.py, _update_waiting_for_remote_kv)
		s.join(at)
		s.joined[len(s.joined)-1].token = received
	}
}

// idle reports whether nothing runs or is in transit, so that all space is free.
func (s *server) idle() bool { return s.seated() == 0 }

// seated returns the number running or in transit.
func (s *server) seated() int64 { return s.running.n + int64(len(s.coming.heap)) }
