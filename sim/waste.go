package sim

// waste are blocks of a cache that hold no token.
type waste struct{ internal, reserved, external float64 }

// waste of a server now.
func (s *server) waste() (w waste) {
	if s.SlotTokens > 0 {
		w.reserved = float64(s.Full) / float64(s.BlockTokens) * float64(max(0, s.running.n*s.SlotTokens-s.dec.sum))
		return w
	}
	if s.Reserve == nil {
		w.internal = float64(s.Full) * float64(s.dec.unfilled) / float64(s.BlockTokens)
		return w
	}
	// What is reserved holds the tokens that are there, those that will come, and room for none.
	perToken := float64(s.Full) / float64(s.BlockTokens)
	there := s.dec.sum
	for _, at := range s.partial {
		there += s.slots.all[at].computed
	}
	w.reserved = perToken * float64(max(0, s.final-there))
	w.internal = perToken * float64(s.reserved*s.BlockTokens-s.final)
	if s.why == Room && s.waiting.n > 0 {
		w.external = float64(s.pool.free)
	}
	return w
}
