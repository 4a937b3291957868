package scale

// scraped holds the metrics as last read.
type scraped struct {
	at, next   float64
	ready      []Seen
	held, rate float64
	arrived    float64 // requests up to then
}

// scrape reads the replicas' metrics when due.
func (x *player) scrape() {
	s := &x.scraped
	if x.Scrape == 0 || x.now < s.next {
		return
	}
	if x.now > s.at {
		s.rate = (x.out.Arrived - s.arrived) / (x.now - s.at)
	} else {
		s.rate = x.load.at(x.now)
	}
	s.ready, s.held, s.arrived = x.seen(s.ready[:0]), x.queued(), x.out.Arrived
	s.at, s.next = x.now, x.now+x.Scrape
}

// remember puts the last reading into the policy's view: replicas that began to serve since report nothing, and removed
// ones are no longer read.
func (x *player) remember() {
	s, m := &x.sight, &x.scraped
	serving := x.serving()
	s.Ready = append(s.Ready, m.ready[:min(len(m.ready), serving)]...)
	s.Starting += serving - len(s.Ready)
	s.Held, s.Rate = m.held, m.rate
}
