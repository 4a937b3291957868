package workload

import "time"

// Lengths sum up what a workload is like, in the same memory however long it is.
type Lengths struct {
	Requests int64
	Last     time.Duration // arrival of the last request
	Prompt   Spread        // tokens
	Output   Spread        // tokens
	Gap      Spread        // nanoseconds between arrivals
}

// Add a request.
func (l *Lengths) Add(r *Request) {
	if l.Requests > 0 {
		l.Gap.add(int64(r.Arrival - l.Last))
	}
	l.Requests++
	l.Last = r.Arrival
	l.Prompt.add(r.Prompt)
	l.Output.add(r.Output)
}

// Rate of arrivals a second; 0 where all came at once.
func (l *Lengths) Rate() float64 {
	if l.Gap.Mean == 0 {
		return 0
	}
	return 1e9 / l.Gap.Mean
}

// Survey sums up a source to its end.
func Survey(from Source) (*Lengths, error) {
	l := &Lengths{}
	for {
		r, ok, err := from.Next()
		if err != nil || !ok {
			return l, err
		}
		l.Add(&r)
	}
}

// Spread of whole numbers that are not negative: their mean, and how far they go.
type Spread struct {
	Count int64
	Mean  float64
	Max   int64
}

// add a number; the mean as by Welford (Technometrics 4, 1962).
func (s *Spread) add(n int64) {
	n = max(n, 0)
	s.Count++
	s.Max = max(s.Max, n)
	s.Mean += (float64(n) - s.Mean) / float64(s.Count)
}
