package memwall

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/sim"
	"github.com/memwall/memwall/workload"
)

// Requests of a burst fill a server so many times over that its beginning and its end do not count: leastRequests, more
// where perSeat for each seat of the fleet are, and mostRequests at the most.
const leastRequests, perSeat, mostRequests = 6000, 6, 200_000

// capacity is how many requests a second of the same mix end while the queue never empties: no queue stays short for long
// where more arrive. Nil where too few fit to tell.
func (s *simulation) capacity(v variant) (*float64, error) {
	full := *s
	full.spec = burst(s.spec)
	full.spec.Requests = plan.Int(min(mostRequests, max(leastRequests, perSeat*s.rules.MaxSequences*s.replicas())))
	full.settling, full.unwatched = 0, true
	if v == (variant{}) { // what the plan is compared with stays in the phase of comparing
		full.phase = phaseIn(s.phase, phaseCapacity)
	}
	var ends []time.Duration
	full.each = func(d *sim.Done) {
		if d.Outcome == sim.Finished {
			ends = append(ends, d.End)
		}
	}
	res, err := full.run(v)
	if err != nil || res.Stopped || len(ends) < 100 {
		return nil, err
	}
	slices.Sort(ends)
	first, last := len(ends)/10, len(ends)*9/10
	span := (ends[last] - ends[first]).Seconds()
	if span <= 0 {
		return nil, nil
	}
	return rounded(float64(last-first) / span), nil
}

// burst is a workload all at once: without the times between requests, and without users who give up.
func burst(w workload.Spec) workload.Spec {
	w.Arrivals, w.Rate, w.CV, w.Concurrency, w.DurationS = "burst", 0, nil, 0, 0
	w.Patience = workload.Law{}
	if w.Sessions != nil {
		together := *w.Sessions
		together.ThinkS = workload.Law{}
		w.Sessions = &together
	}
	return w
}

// enough replicas for what arrives, with a twentieth to spare, where the queue of those that are there grows. The plan
// with so many is played too: what does not hold then is not suggested.
func (s *simulation) enough(out *Simulated, r *sim.Result) (*Suggestion, error) {
	arrived := (r.Queue.LastArrival - r.Began).Seconds()
	if out.DivergesAt == nil || out.Capacity == nil || arrived <= 0 {
		return nil, nil
	}
	now := max(1, int64(s.q.original.Replicas))
	each := *out.Capacity / float64(now)
	n := int64(math.Ceil(1.05 * float64(r.Asked) / arrived / each))
	if n <= now || n > mostReplicas {
		return nil, nil
	}
	more := *s
	q := *s.q
	q.original.Replicas, more.q, more.unwatched, more.phase = plan.Int(n), &q, true, phaseReplicas
	res, err := more.run(variant{})
	if err != nil || !loadOf(res).Holds {
		return nil, err
	}
	return &Suggestion{Change: fmt.Sprintf("%d replicas", n), Patch: map[string]any{"replicas": n}, Verdict: Fits}, nil
}

// mostReplicas that are suggested.
const mostReplicas = 64

// inPapers are ranges of the throughput that a technique buys, as papers and vendors print them: Orca and its successors
// of batching by iteration, PagedAttention (SOSP '23) against caches in one piece.
var inPapers = map[string]string{"static": "2–5", "contiguous-kv": "2–4"}
