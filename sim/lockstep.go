package sim

import "time"

// Replicas that share experts step together: whoever has least to do waits for the one that has most, and none begins
// alone (data-parallel attention: vllm/v1/engine/core.py DPEngineCoreProc, dummy batches).

// together begins the next step of all replicas, when the last one is done.
func (x *fleet) together(now time.Duration) {
	longest := time.Duration(0)
	for _, s := range x.servers {
		s.until = now
		if s.cur != nil {
			s.complete(s.cur)
			s.cur = nil
		}
	}
	for _, s := range x.servers {
		if s.next = s.compose(now, now); s.next != nil {
			longest = max(longest, s.next.each)
		}
		s.stuck = s.next == nil && !s.again
	}
	for _, s := range x.servers {
		if s.next != nil {
			s.next.each = longest
			s.begin(s.next, now)
			s.next = nil
		}
	}
}
