package sim

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// receive caches of prompts that were computed elsewhere, in order: each has its seat and its blocks while it is in transit.
func (s *twinServer) receive(now time.Duration) {
	for len(s.waiting) > 0 && s.waiting[0].remote {
		q := s.waiting[0]
		if s.seats() >= s.MaxSequences || s.total(q, q.r.Prompt) > int64(len(s.pool.queue)) {
			break
		}
		s.waiting = s.waiting[1:]
		q.computed, q.made, q.decoding = q.r.Prompt, 1, true
		s.grow(q)
		at := now
		if s.Handover != nil {
			at += time.Duration(math.Round(1e9 * s.Handover(q.r.Prompt)))
		}
		s.coming = append(s.coming, twinHanded{at, q})
		slices.SortStableFunc(s.coming, func(a, b twinHanded) int { return int(a.at - b.at) })
	}
	for len(s.coming) > 0 && s.coming[0].at <= now {
		q := s.coming[0].q
		s.coming = s.coming[1:]
		q.remote, q.first = false, now // its first gap is from the start of its first step
		s.cache(q, q.computed)
		s.running = append(s.running, q)
	}
}

// disaggregate has prompts computed by workers of their own, whose caches take a while.
func disaggregate(f *Fleet, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 11))
	worker := f.Replicas[0]
	worker.Blocks += r.Int64N(worker.Blocks)
	worker.Budget = worker.MaxSequences + r.Int64N(300)
	for range 1 + r.IntN(3) {
		f.Prefills = append(f.Prefills, worker)
	}
	for i, slow := 0, []float64{0, 1e-6, 1e-4}[r.IntN(3)]; slow > 0 && i < len(f.Replicas); i++ {
		f.Replicas[i].Handover = func(prompt int64) float64 { return slow * float64(prompt%40) }
	}
}
