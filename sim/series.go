package sim

import "time"

// Series is what a fleet was like over time, in intervals of one width: wide enough that there are at most a few hundred.
type Series struct {
	Width  time.Duration
	Points []Point
}

// Point are means over an interval: of requests that waited and ran, of the share of the KV cache in use, and the tokens
// that were generated. Each is a sum over the fleet's servers, the share their mean.
type Point struct{ Waiting, Running, KV, Tokens float64 }

// most points of a series.
const mostPoints = 512

// firstWidth of an interval.
const firstWidth = 10 * time.Millisecond

// add what holds from one time to another: values for each second, and tokens.
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

// halve the number of points.
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

// grows reports whether more waited in the last quarter of a time than in the one before, by a tenth.
func (s *Series) grows(from, to time.Duration) bool {
	quarter := (to - from) / 4
	return s.waiting(to-quarter, to) > 1.1*s.waiting(to-2*quarter, to-quarter)
}

// waiting is how many waited, averaged over the intervals of a time.
func (s *Series) waiting(from, to time.Duration) (sum float64) {
	first, last := int(from/max(1, s.Width)), int(to/max(1, s.Width))
	for i := first; i <= min(last, len(s.Points)-1); i++ {
		sum += s.Points[i].Waiting
	}
	return sum / float64(last-first+1)
}

// Running is how many requests ran, averaged over the time in which any did.
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
