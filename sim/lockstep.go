package sim

import "time"

// lockstep is a group of servers that share experts: every step exchanges tokens among all, so none starts alone and
// all take as long as the slowest (data-parallel attention: vllm/v1/engine/core.py DPEngineCoreProc, dummy batches).
type lockstep struct{ servers []*server }

// soonest returns the time of the next event of a server, or of its group.
func (s *server) soonest(now time.Duration) time.Duration {
	if s.together != nil {
		return s.together.at(now)
	}
	return s.at(now)
}

// at returns the time of the group's next event: the end of its step, else the first event of a member.
func (g *lockstep) at(now time.Duration) time.Duration {
	first := never
	for _, s := range g.servers {
		if s.cur != nil {
			return s.cur.end
		}
		first = min(first, s.at(now))
	}
	return first
}

// step ends the group's step and begins the next, and returns the amount of work.
func (g *lockstep) step(now time.Duration) (work int64) {
	longest := time.Duration(0)
	for _, s := range g.servers {
		s.until = now
		if s.cur != nil {
			s.complete(s.cur)
			s.cur = nil
		}
	}
	for _, s := range g.servers {
		if s.next = s.compose(now, now); s.next != nil {
			longest = max(longest, s.next.each)
		}
		s.stuck = s.next == nil && !s.again
		work += 1 + s.running.n
	}
	for _, s := range g.servers {
		if s.next != nil {
			s.next.each = longest
			s.begin(s.next, now)
			s.next = nil
		}
	}
	return work
}
