package workload

import "time"

// Lengths summarizes a workload in constant memory.
type Lengths struct {
	Requests int64
	Last     time.Duration // arrival of the last request
	Prompt   Spread        // tokens
	Output   Spread        // tokens
	Gap      Spread        // nanoseconds between arrivals
}

// Add adds a request.
func (l *Lengths) Add(r *Request) {
	if l.Requests > 0 {
		l.Gap.add(int64(r.Arrival - l.Last))
	}
	l.Requests++
	l.Last = r.Arrival
	l.Prompt.add(r.Prompt)
	l.Output.add(r.Output)
}

// Rate returns arrivals per second; 0 if all came at once.
func (l *Lengths) Rate() float64 {
	if l.Gap.Mean == 0 {
		return 0
	}
	return 1e9 / l.Gap.Mean
}

// Survey reads a source to its end and summarizes it.
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

// Spread is the mean and range of non-negative integers.
type Spread struct {
	Count int64
	Mean  float64
	Max   int64
}

// add adds a number, updating the mean as by Welford (Technometrics 4, 1962).
func (s *Spread) add(n int64) {
	n = max(n, 0)
	s.Count++
	s.Max = max(s.Max, n)
	s.Mean += (float64(n) - s.Mean) / float64(s.Count)
}
