package sim

import "time"

// Disaggregated serving computes prompts on servers of their own and hands the caches over a link: the others take room
// for them when they come, and decode (vllm/v1/core/sched/scheduler.py, WAITING_FOR_REMOTE_KVS).

// handed is a slot whose cache is on the way.
type handed struct {
	at   time.Duration
	slot int32
}

func (h handed) before(o handed) bool { return h.at < o.at || h.at == o.at && h.slot < o.slot }

// underway are the caches that come.
type underway struct{ heap[handed] }

// drop one that is no longer wanted.
func (u *underway) drop(slot int32) {
	rest := u.heap[:0:0]
	for _, h := range u.heap {
		if h.slot != slot {
			rest.push(h)
		}
	}
	u.heap = rest
}

// takeOver gives a request whose prompt another server computed room for its cache, and has that come.
func (s *server) takeOver(at int32, now time.Duration) bool {
	t := &s.slots.all[at]
	need := s.blocksAt(t, t.Prompt)
	if s.seated() >= s.MaxSequences || need > s.pool.free {
		return false
	}
	s.pool.take(need)
	t.state, t.computed, t.made = coming, t.Prompt, 1
	s.coming.push(handed{now + s.handover(t.Prompt), at})
	return true
}

// handover of the cache of a prompt.
func (s *server) handover(prompt int64) time.Duration {
	if s.Handover == nil {
		return 0
	}
	return s.m.span(s.Handover(prompt), 0, "a handover")
}

// receive has caches come for those who wait first, and makes decoders of those whose have.
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
		s.join(at)
	}
}

// idle reports whether nothing runs nor comes, so that all the room is free.
func (s *server) idle() bool { return s.seated() == 0 }

// seated are those who run and those whose caches come.
func (s *server) seated() int64 { return s.running.n + int64(len(s.coming.heap)) }
