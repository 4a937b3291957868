package simulate

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/sim"
	"github.com/memwall/memwall/workload"
)

// A burst fills a server many times over, so that its start and end do not matter: with perSeat requests per seat of the fleet, at
// least leastRequests and at most mostRequests.
const leastRequests, perSeat, mostRequests = 6000, 6, 200_000

// capacity returns the requests per second of the same mix completed while the queue never empties: no queue stays short if more
// arrive. It is nil if too few fit to tell.
func (s *Simulation) capacity(v Variant) (*float64, error) {
	full := *s
	full.Spec = Burst(s.Spec)
	full.Spec.Requests = plan.Int(min(mostRequests, max(leastRequests, perSeat*s.rules.MaxSequences*s.Replicas())))
	full.Settling, full.Unwatched = 0, true
	if v == (Variant{}) { // baselines stay in the phase of comparison
		full.phase = phaseIn(s.phase, api.PhaseCapacity)
	}
	var ends []time.Duration
	full.EachRequest = func(d *sim.Done) {
		if d.Outcome == sim.Finished {
			ends = append(ends, d.End)
		}
	}
	res, err := full.Run(v)
	if err != nil || res.Stopped || len(ends) < 100 {
		return nil, err
	}
	slices.Sort(ends)
	first, last := len(ends)/10, len(ends)*9/10
	span := (ends[last] - ends[first]).Seconds()
	if span <= 0 {
		return nil, nil
	}
	return question.Rounded(float64(last-first) / span), nil
}

// noLess returns a capacity no less than what a run has served: if all sessions come at once, caches hold less of each than if they
// come one by one.
func noLess(capacity *float64, run *api.Load) *float64 {
	if served := run.Throughput.Requests; capacity != nil && *capacity < served {
		return &served
	}
	return capacity
}

// Burst returns a workload with all requests at once: without think times, and without users who give up.
func Burst(w workload.Spec) workload.Spec {
	w.Arrivals, w.Rate, w.CV, w.Concurrency, w.DurationS = "burst", 0, nil, 0, 0
	w.Patience = workload.Law{}
	if w.Sessions != nil {
		together := *w.Sessions
		together.ThinkS = workload.Law{}
		w.Sessions = &together
	}
	return w
}

// suggestReplicas suggests replicas for the arrival rate, with a twentieth to spare, if the queue grows. The plan with that many is
// simulated too, and only suggested if it holds.
func (s *Simulation) suggestReplicas(out *api.Simulated, r *sim.Result) (*api.Suggestion, error) {
	arrived := (r.Queue.LastArrival - r.Began).Seconds()
	if out.DivergesAt == nil || out.Capacity == nil || arrived <= 0 {
		return nil, nil
	}
	now := max(1, int64(s.Question.Original.Replicas))
	each := *out.Capacity / float64(now)
	n := int64(math.Ceil(1.05 * float64(r.Asked) / arrived / each))
	if n <= now || n > mostReplicas {
		return nil, nil
	}
	more := *s
	q := *s.Question
	q.Original.Replicas, more.Question, more.Unwatched, more.phase = plan.Int(n), &q, true, api.PhaseReplicas
	res, err := more.Run(Variant{})
	if err != nil || !LoadOf(res).Holds {
		return nil, err
	}
	return &api.Suggestion{Change: fmt.Sprintf("%d replicas", n), Patch: map[string]any{"replicas": n}, Verdict: api.Fits}, nil
}

// mostDoublings of the sequences that run at once are tried.
const mostDoublings = 4

// suggestSeats suggests more sequences at once, up to sixteen times as many, if the queue grows because no more may run: they cost
// nothing, where a replica costs a machine. The plan with that many is simulated too, and only suggested if it holds.
func (s *Simulation) suggestSeats(a *question.Env, asked *api.Request, run *api.Load, r *sim.Result) (*api.Suggestion, error) {
	now := int64(s.Question.Request.MaxSeqs)
	if run.DivergesAt == nil || now == 0 || runsOut(r) != "max_num_seqs" {
		return nil, nil
	}
	for n := range mostDoublings {
		seats := now << (n + 1)
		wider := *asked
		wider.MaxSeqs = plan.Int(seats)
		more, out, err := Simulated(a, &wider)
		if err != nil || out.Verdict == api.DoesNotFit || seats > plan.MaxSequences {
			return nil, nil //nolint:nilerr // a plan that cannot have so many is not suggested
		}
		more.Ctx, more.Unwatched, more.phase = s.Ctx, true, api.PhaseReplicas
		res, err := more.Run(Variant{})
		if err != nil {
			return nil, err
		}
		if LoadOf(res).Holds {
			return &api.Suggestion{Change: fmt.Sprintf("%d sequences at once", seats), Patch: map[string]any{"max_num_seqs": seats}}, nil
		}
		if runsOut(res) != "max_num_seqs" {
			return nil, nil
		}
	}
	return nil, nil
}

// mostReplicas is the most replicas suggested.
const mostReplicas = 64

// inPapers are throughput gains of techniques as published: iteration-level batching by Orca and its successors, and PagedAttention
// (SOSP '23) over contiguous caches.
var inPapers = map[string]string{"static": "2–5", "contiguous-kv": "2–4"}

// phaseIn returns the name of a phase of a run, for progress.
func phaseIn(of, phase string) string {
	if of == "" {
		return ""
	}
	return phase
}
