package sim

import "time"

// deadline is when a client gives up.
type deadline struct {
	at   time.Duration
	slot int32
	id   int64
}

func (d deadline) before(o deadline) bool { return d.at < o.at || d.at == o.at && d.id < o.id }

// expect schedules a client's deadline, if its patience is finite.
func (s *server) expect(at int32) {
	if t := &s.slots.all[at]; t.Patience > 0 {
		s.deadlines.push(deadline{t.Arrival + t.Patience, at, t.ID})
	}
}

// hangUps removes requests whose clients have hung up, which engines notice between steps.
func (s *server) hangUps(now time.Duration) {
	for len(s.deadlines) > 0 && s.deadlines[0].at <= now {
		d := s.deadlines.pop()
		if t := &s.slots.all[d.slot]; t.ID == d.id && t.state != gone && t.state != ending && t.state != released {
			s.hangUp(d.slot, now)
		}
	}
}

func (s *server) hangUp(at int32, now time.Duration) {
	t := &s.slots.all[at]
	switch t.state {
	case waits:
		s.waiting.remove(s.waiting.find(at))
	case coming:
		s.coming.drop(at)
		s.release(t, t.computed)
	default:
		s.stop(at, t)
	}
	s.done(s, at, now, HungUp)
}

// stop ends the computation of a slot and releases what it holds.
func (s *server) stop(at int32, t *slot) {
	if t.state == decodes {
		s.leave(t)
		s.joined.drop(t.ID)
	} else {
		s.unlist(at)
	}
	known := s.known(t)
	t.state = ending
	s.release(t, known)
	s.quit(at)
}
