package sim

// adapters are those of the sequences that run: a step has room for a few (max_loras). Who waits for one more is passed
// over (vllm/v1/core/sched/scheduler.py, skipped_waiting_requests).
type adapters map[uint32]int64

// loads reports whether a request's adapter is there, or has room.
func (s *server) loads(t *slot) bool {
	return t.Adapter == 0 || s.MaxAdapters == 0 || s.adapters[t.Adapter] > 0 || int64(len(s.adapters)) < s.MaxAdapters
}

// turn is the place in the queue of who is to be admitted next; -1 where all wait for room for their adapters.
func (s *server) turn() int {
	for i := range s.waiting.n {
		if s.loads(&s.slots.all[s.waiting.at(i)]) {
			return i
		}
	}
	s.why = Adapters
	return -1
}

// run counts a request among those that run.
func (s *server) run(at int32) {
	s.running.push(&s.slots, at)
	if a := s.slots.all[at].Adapter; a != 0 {
		if s.adapters == nil {
			s.adapters = adapters{}
		}
		s.adapters[a]++
	}
}

// quit takes it out.
func (s *server) quit(at int32) {
	s.running.remove(&s.slots, at)
	if a := s.slots.all[at].Adapter; a != 0 {
		if s.adapters[a]--; s.adapters[a] == 0 {
			delete(s.adapters, a)
		}
	}
}
