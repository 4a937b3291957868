package scale

// Seen is a replica as its metrics report it.
type Seen struct{ Running, Waiting, KV float64 }

// Sight is what a policy sees when it decides.
type Sight struct {
	At       float64 // seconds since the start
	Replicas int     // current target, including those starting
	Ready    []Seen
	Starting int
	Held     float64 // requests waiting for any replica to serve
	Rate     float64 // arrivals per second since the last decision
}

// In returns the number of requests in or waiting for all replicas, and how many of them wait.
func (s *Sight) In() (in, waiting float64) {
	in, waiting = s.Held, s.Held
	for _, r := range s.Ready {
		in += r.Running + r.Waiting
		waiting += r.Waiting
	}
	return in, waiting
}

// Policy decides the number of replicas. It may keep state; use a new Policy for each replay.
type Policy interface {
	// Every returns the seconds between decisions.
	Every() float64
	// Decide returns the desired number of replicas, which the loop clamps to the allowed range.
	Decide(s *Sight) (int, error)
}

// Fixed keeps a constant number of replicas.
type Fixed int

// Every returns a day.
func (Fixed) Every() float64 { return day }

// Decide returns the constant.
func (f Fixed) Decide(*Sight) (int, error) { return int(f), nil }

// Metric is a figure that autoscalers scale by, summed over the replicas that report it.
type Metric struct {
	Name string
	Sum  func(*Sight) float64
}

// Metrics lists the metrics that engines export and policies can use.
var Metrics = []Metric{
	{"running", func(s *Sight) (x float64) {
		for _, r := range s.Ready {
			x += r.Running
		}
		return x
	}},
	{"waiting", func(s *Sight) float64 { _, w := s.In(); return w }},
	{"in_flight", func(s *Sight) float64 { in, _ := s.In(); return in }},
	{"kv", func(s *Sight) (x float64) {
		for _, r := range s.Ready {
			x += r.KV
		}
		return x
	}},
	{"rate", func(s *Sight) float64 { return s.Rate }},
}

const day = 86400.0
