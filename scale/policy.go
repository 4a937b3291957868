package scale

// Seen is a replica as its metrics tell.
type Seen struct{ Running, Waiting, KV float64 }

// Sight is what a policy sees when it decides.
type Sight struct {
	At       float64 // seconds since the beginning
	Replicas int     // that there should be by now; those that start counted
	Ready    []Seen
	Starting int
	Held     float64 // requests that found no replica serving
	Rate     float64 // requests a second that arrived since the policy last decided
}

// In are the requests in all replicas and before them, and those of them that wait.
func (s *Sight) In() (in, waiting float64) {
	in, waiting = s.Held, s.Held
	for _, r := range s.Ready {
		in += r.Running + r.Waiting
		waiting += r.Waiting
	}
	return in, waiting
}

// Policy says how many replicas there should be. It may remember what it saw; one Policy plays one day.
type Policy interface {
	// Every is how many seconds pass between two decisions.
	Every() float64
	// Decide on a number of replicas. The loop keeps it between the least and the most that are allowed.
	Decide(s *Sight) (int, error)
}

// Fixed keeps a number of replicas.
type Fixed int

// Every day.
func (Fixed) Every() float64 { return day }

// Decide on as many as ever.
func (f Fixed) Decide(*Sight) (int, error) { return int(f), nil }

// Metric is a figure that autoscalers are given: summed over the replicas that tell it.
type Metric struct {
	Name string
	Sum  func(*Sight) float64
}

// Metrics that engines export and policies scale by.
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
