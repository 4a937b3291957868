package simulate

import (
	"context"
	"time"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/scale"
	"github.com/memwall/memwall/sim"
	"github.com/memwall/memwall/workload"
)

// mostLives and mostDay bound a day simulated request by request.
const (
	mostLives = 512
	mostDay   = 5_000_000
)

// Day simulates a load request by request on a changing number of replicas, which package scale approximates as a fluid.
func Day(ctx context.Context, a *question.Env, r *api.Request, l *scale.Load, lives []scale.Life) (*sim.Result, error) {
	one := *r
	one.Replicas = 0
	s, _, err := Simulated(a, &one)
	if err != nil {
		return nil, err
	}
	s.Ctx, s.Unwatched = ctx, true
	asked := 0.0
	for _, x := range l.Rates {
		asked += x * l.Part
	}
	if len(lives) == 0 || len(lives)*int(s.Replicas()) > mostLives || asked > mostDay {
		return nil, &api.Error{Code: api.Unsupported, Field: "load", Message: "too many requests or replicas to be played one by one",
			Hint: "without --play"}
	}
	src, err := changing(s.Spec, l, int64(asked))
	if err != nil {
		return nil, err
	}
	f := sim.Fleet{Router: s.router(), Store: s.store()}
	for _, life := range lives {
		alike := s.replica(Variant{})
		alike.From, alike.Until = inTime(life.From), inTime(life.Until)
		if alike.Until > 0 && alike.Until <= alike.From {
			continue
		}
		for range s.Replicas() {
			f.Replicas = append(f.Replicas, alike)
		}
	}
	stop := func(int64, time.Duration) bool { return ctx.Err() != nil }
	res, err := sim.Run(&f, src, sim.Options{Goal: s.goal(), NoGaps: true, Stop: stop})
	switch {
	case err != nil:
		return nil, api.AsError(err)
	case res.Stopped:
		return nil, &api.Error{Code: api.Limit, Field: "load", Message: "stopped before the day was played",
			Hint: "more time, or without --play"}
	}
	return res, nil
}

func inTime(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

// changed is a source with a varying arrival rate: requests of a source of one per second, moved to when as many are due.
type changed struct {
	workload.Source
	load   *scale.Load
	part   int
	before float64 // requests due before the part
}

func changing(spec workload.Spec, l *scale.Load, asked int64) (workload.Source, error) {
	spec = Burst(spec)
	spec.Arrivals, spec.Rate, spec.Requests = "poisson", 1, plan.Int(max(1, asked))
	src, err := spec.Source()
	return &changed{Source: src, load: l}, err
}

// Next returns the next request with its changed arrival time.
func (c *changed) Next() (workload.Request, bool, error) {
	r, ok, err := c.Source.Next()
	if !ok || err != nil {
		return r, ok, err
	}
	due := r.Arrival.Seconds()
	for c.part < len(c.load.Rates) && c.before+c.load.Rates[c.part]*c.load.Part <= due {
		c.before += c.load.Rates[c.part] * c.load.Part
		c.part++
	}
	if c.part == len(c.load.Rates) {
		return r, false, nil
	}
	at := float64(c.part)*c.load.Part + (due-c.before)/c.load.Rates[c.part]
	r.Arrival = inTime(at)
	return r, true, nil
}
