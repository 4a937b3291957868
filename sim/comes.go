package sim

import "time"

// Replicas that come and go: each is given requests in its own time, and finishes them after it.

// serving returns the servers that receive requests at a time.
func (x *fleet) serving(all []*server, at time.Duration) []*server {
	x.some = x.some[:0]
	for _, s := range all {
		if s.From <= at && (s.Until == 0 || at < s.Until) {
			x.some = append(x.some, s)
		}
	}
	return x.some
}

// later delays a request until the next replica starts; if none does, the request is refused.
func (x *fleet) later() error {
	a := x.due
	next := never
	for i := range x.Replicas {
		if from := x.Replicas[i].From; from > a.at {
			next = min(next, from)
		}
	}
	if next == never {
		x.over(Done{Request: &a.r, Ready: a.at, End: a.at, Outcome: Refused}, a.at)
		return x.pull()
	}
	a.at = next
	x.arrivals.push(a)
	return x.pull()
}
