package simulate

import (
	"context"
	"fmt"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/scale"
	"github.com/memwall/memwall/sim"
	"github.com/memwall/memwall/workload"
)

// shares are the shares of a replica's capacity at which its steady states are simulated.
var shares = []float64{0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95}

// A steady state is simulated with perFull requests for each that a full replica holds, at least leastSteady and at most
// mostSteady.
const perFull, leastSteady, mostSteady = 8, 1500, 30_000

// Curve simulates one replica of a sim request at many loads, and returns its performance by concurrent requests, for the request's
// goal. It is nil, with an answer, if the plan does not fit.
func Curve(ctx context.Context, a *question.Env, r *api.Request) (*scale.Curve, *api.Answer, error) {
	one := *r
	one.Replicas, one.MaxQueued = 0, 0 // queues are bounded in the replay
	s, out, err := Simulated(a, &one)
	if err != nil {
		return nil, nil, err
	}
	if out.Verdict == api.DoesNotFit || out.Verdict == api.Unknown {
		out.Notes = append(out.Notes, s.Question.Notes()...)
		return nil, out, nil
	}
	s.Ctx, s.Unwatched = ctx, true
	x := &states{s}
	full, err := x.saturated()
	if err != nil {
		return nil, nil, err
	}
	points := []scale.Point{*full}
	for _, share := range shares {
		p, err := x.steady(share*full.Rate, full.In)
		if err != nil {
			return nil, nil, err
		}
		points = append(points, *p)
	}
	g := s.goal()
	c, err := scale.NewCurve(points, scale.Goal{First: g.First.Seconds(), PerToken: g.PerToken.Seconds()})
	if err != nil {
		err = &api.Error{Code: api.Unsupported, Field: "workload", Message: err.Error(),
			Hint: "shorter prompts and answers, or a larger plan"}
	}
	out.Notes = append(out.Notes, s.Question.Notes()...)
	return c, out, err
}

// states simulates the steady states of a replica.
type states struct{ *Simulation }

// life holds the times of a request, in seconds.
type life struct{ arrival, admitted, first, end, perToken float64 }

// lived is the counted requests of a run, in order of completion.
type lived struct {
	done []life
	kv   float64
}

// lives simulates a workload and returns its requests' times.
func (s *states) lives(spec workload.Spec, settling int64) (*lived, error) {
	run, out := *s.Simulation, &lived{}
	run.Spec, run.Settling = spec, settling
	run.EachRequest = func(d *sim.Done) {
		if d.Outcome == sim.Finished && d.ID >= settling {
			out.done = append(out.done, life{d.Arrival.Seconds(), d.Admitted.Seconds(), d.First.Seconds(), d.End.Seconds(),
				(d.End - d.First).Seconds() / float64(max(1, d.Generated-1))})
		}
	}
	res, err := run.Run(Variant{})
	switch {
	case err != nil:
		return nil, err
	case res.Stopped:
		return nil, &api.Error{Code: api.Limit, Field: "load", Message: "stopped before a replica was known", Hint: "more time"}
	case len(out.done) < leastLived:
		return nil, &api.Error{Code: api.BadField, Field: "workload", Value: fmt.Sprint(len(out.done)),
			Message: fmt.Sprintf("a replica answers %d of %d requests: too few to say what it holds", len(out.done), res.Asked),
			Hint:    "prompts that find room in the context and the cache"}
	}
	out.kv = res.KV.Mean * min(1, res.Busy.Seconds()/SpanOf(res).Seconds()/float64(max(1, s.Replicas())))
	return out, nil
}

const leastLived = 100

// saturated returns the replica's performance with a queue that never empties; requests count from admission.
func (s *states) saturated() (*scale.Point, error) {
	spec := Burst(s.Spec)
	spec.Requests = plan.Int(min(mostRequests, max(leastRequests, perSeat*s.rules.MaxSequences*s.Replicas())))
	l, err := s.lives(spec, 0)
	if err != nil {
		return nil, err
	}
	first, last := len(l.done)/10, len(l.done)*9/10
	span := l.done[last].end - l.done[first].end
	if span <= 0 {
		return nil, &api.Error{Code: api.BadField, Field: "workload", Message: "all requests end at once: nothing to say of a rate",
			Hint: "answers of more than a token"}
	}
	p := &scale.Point{Rate: float64(last-first) / span, KV: l.kv}
	for i := first; i < last; i++ {
		d := &l.done[i]
		p.Running += (d.end - d.admitted) / span
		p.Requests = append(p.Requests, scale.Request{First: d.first - d.admitted, PerToken: d.perToken})
	}
	p.In = p.Running
	return p, nil
}

// steady returns the steady state at a rate: concurrency follows from residence times (Little's law).
func (s *states) steady(rate, full float64) (*scale.Point, error) {
	spec := Burst(s.Spec)
	spec.Patience, spec.CV, spec.Rate, spec.Arrivals = s.Spec.Patience, s.Spec.CV, rate, "poisson"
	if spec.CV != nil {
		spec.Arrivals = "gamma"
	}
	n := int64(min(mostSteady, max(leastSteady, perFull*full)))
	spec.Requests = plan.Int(n)
	l, err := s.lives(spec, n/4)
	if err != nil {
		return nil, err
	}
	p := &scale.Point{Rate: rate, KV: l.kv}
	each := rate / float64(len(l.done))
	for i := range l.done {
		d := &l.done[i]
		p.In += (d.end - d.arrival) * each
		p.Running += (d.end - d.admitted) * each
		p.Requests = append(p.Requests, scale.Request{First: d.first - d.arrival, PerToken: d.perToken})
	}
	return p, nil
}
