package serve

import (
	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/sim"
)

// rates returns the requests and output tokens per second of a round, over all replicas, without the filling and draining of the
// fleet: by Little's law for closed loads, and by arrivals for open loads that hold. Otherwise it averages the whole run.
func (r *round) rates() (requests, tokens float64) {
	l := simulate.LoadOf(r.res)
	requests = l.Throughput.Requests
	w := &r.sim.Spec
	arrived := (r.res.Queue.LastArrival - r.res.Began).Seconds()
	switch life := r.res.Whole.Mean().Seconds(); {
	case w.Arrivals == "closed" && w.Sessions == nil && life > 0:
		requests = float64(w.Concurrency) / life
	case w.Arrivals != "closed" && w.Arrivals != "burst" && l.Holds && arrived > 0:
		requests = float64(r.res.Finished) / arrived
	}
	return requests, requests * perAnswer(r.res)
}

// perAnswer returns the mean tokens per answer.
func perAnswer(r *sim.Result) float64 {
	if r.Finished == 0 {
		return 0
	}
	return float64(r.Generated) / float64(r.Finished)
}

// busy returns the fraction of time during which the servers of a round compute.
func (r *round) busy() float64 {
	return min(1, r.res.Busy.Seconds()/simulate.SpanOf(r.res).Seconds()/float64(max(1, r.sim.Replicas())))
}

// scaleTo returns the ratio of a fleet's replicas to those simulated in the round.
func (r *round) scaleTo(replicas int64) float64 {
	return max(1, float64(replicas)/float64(max(1, int64(r.sim.Question.Original.Replicas))))
}
