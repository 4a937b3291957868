package serve

import (
	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/sim"
)

// rates of a round in requests and tokens of answers a second, all replicas together, without its beginning and its end, in
// which the fleet fills and empties: by Little's law of users who ask again at once, by the arrivals where requests come by
// themselves and are held. Else those of the whole run.
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

// perAnswer is the mean tokens of an answer.
func perAnswer(r *sim.Result) float64 {
	if r.Finished == 0 {
		return 0
	}
	return float64(r.Generated) / float64(r.Finished)
}

// busy is the share of the time that the servers of a round compute.
func (r *round) busy() float64 {
	return min(1, r.res.Busy.Seconds()/simulate.SpanOf(r.res).Seconds()/float64(max(1, r.sim.Replicas())))
}

// scaleTo a fleet of so many replicas the round played some: how many times as much the fleet does.
func (r *round) scaleTo(replicas int64) float64 {
	return max(1, float64(replicas)/float64(max(1, int64(r.sim.Question.Original.Replicas))))
}
