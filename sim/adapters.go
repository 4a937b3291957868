package sim

// adapters counts the running sequences by adapter: a step has space for a limited number of adapters (max_loras). A
// waiting request that needs one more is skipped (vllm/v1/core/sched/scheduler.py, skipped_waiting_requests).
type adapters map[uint32]int64

// loads reports whether a request's adapter is loaded or there is space for it.
func (s *server) loads(t *slot) bool {
	return t.Adapter == 0 || s.MaxAdapters == 0 || s.adapters[t.Adapter] > 0 || int64(len(s.adapters)) < s.MaxAdapters
}

// turn returns the queue position of the next request to admit; -1 if all wait for space for their adapters.
func (s *server) turn() int {
	for i := range s.waiting.n {
		if s.loads(&s.slots.all[s.waiting.at(i)]) {
			return i
		}
	}
	s.why = Adapters
	return -1
}

// run counts a request as running.
func (s *server) run(at int32) {
	s.running.push(&s.slots, at)
	if a := s.slots.all[at].Adapter; a != 0 {
		if s.adapters == nil {
			s.adapters = adapters{}
		}
		s.adapters[a]++
	}
}

// quit removes a request from the count.
func (s *server) quit(at int32) {
	s.running.remove(&s.slots, at)
	if a := s.slots.all[at].Adapter; a != 0 {
		if s.adapters[a]--; s.adapters[a] == 0 {
			delete(s.adapters, a)
		}
	}
}
