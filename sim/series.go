package sim

import "time"

// Series is the state of a fleet over time, in equal intervals wide enough that there are at most a few hundred.
type Series struct {
	Width  time.Duration
	Points []Point
}

// Point holds the means over an interval of waiting and running requests and of the share of KV cache in use, and the
// tokens generated. All are summed over servers, except the share, which is averaged.
type Point struct{ Waiting, Running, KV, Tokens float64 }

// mostPoints is the maximum number of points.
const mostPoints = 512

// firstWidth is the initial interval.
const firstWidth = 10 * time.Millisecond

// add adds a state that holds from one time to another: rates per second, and tokens.
func (s *Series) add(from, to time.Duration, p Point) {
	if s.Width == 0 {
		s.Width = firstWidth
	}
	for to > mostPoints*s.Width {
		s.halve()
	}
	perSecond := p.Tokens / (to - from).Seconds()
	for from < to {
		i := int(from / s.Width)
		end := min(to, time.Duration(i+1)*s.Width)
		for len(s.Points) <= i {
			s.Points = append(s.Points, Point{})
		}
		share := float64(end-from) / float64(s.Width)
		q := &s.Points[i]
		q.Waiting += share * p.Waiting
		q.Running += share * p.Running
		q.KV += share * p.KV
		q.Tokens += perSecond * (end - from).Seconds()
		from = end
	}
}

// halve halves the number of points.
func (s *Series) halve() {
	s.Width *= 2
	half := (len(s.Points) + 1) / 2
	for i := range half {
		p := s.Points[2*i]
		if 2*i+1 < len(s.Points) {
			q := s.Points[2*i+1]
			p.Waiting, p.Running, p.KV, p.Tokens = p.Waiting+q.Waiting, p.Running+q.Running, p.KV+q.KV, p.Tokens+q.Tokens
		}
		s.Points[i] = Point{p.Waiting / 2, p.Running / 2, p.KV / 2, p.Tokens}
	}
	s.Points = s.Points[:half]
}

// grows reports whether over 10 % more requests waited in the last quarter of a time range than in the one before.
func (s *Series) grows(from, to time.Duration) bool {
	quarter := (to - from) / 4
	return s.waiting(to-quarter, to) > 1.1*s.waiting(to-2*quarter, to-quarter)
}

// waiting returns the mean number of waiting requests in a time range.
func (s *Series) waiting(from, to time.Duration) (sum float64) {
	first, last := int(from/max(1, s.Width)), int(to/max(1, s.Width))
	for i := first; i <= min(last, len(s.Points)-1); i++ {
		sum += s.Points[i].Waiting
	}
	return sum / float64(last-first+1)
}

// Running returns the mean number of running requests over the time in which any ran.
func (s *Series) Running() (mean float64) {
	n := 0
	for _, p := range s.Points {
		if p.Running > 0 {
			mean += p.Running
			n++
		}
	}
	return mean / float64(max(1, n))
}
