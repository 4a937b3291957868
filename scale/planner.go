package scale

// Planner is Dynamo's, where it scales by throughput and each worker computes prompts and answers (components/src/dynamo/planner, 0.8 to
// 1.0): each interval as many workers as the load of the last one takes, at the most that one worker holds within the goal. Its predictor
// is the constant one; ARIMA, Kalman and Prophet are fitted to days before, which nobody has here.
type Planner struct {
	Each     float64 // requests a second that a worker holds within the goal, from its profile
	Interval float64 // seconds; 0: 180
}

// Every adjustment interval.
func (p *Planner) Every() float64 {
	if p.Interval > 0 {
		return p.Interval
	}
	return 180
}

// Decide on the workers that the last interval's load takes.
func (p *Planner) Decide(s *Sight) (int, error) { return max(1, ceil(s.Rate/p.Each)), nil }

// Saturation is the analyzer of llm-d's Workload Variant Autoscaler that looks at saturation (internal/saturation/analyzer.go, to 0.8;
// thresholds of deploy/configmap-saturation-scaling.yaml): one replica more where those that are not saturated have little to spare, one
// less where the others would keep enough, and nothing while one starts.
type Saturation struct {
	KV, Queue           float64 // from which on a replica is saturated; 0: 0.8 of the cache, 5 who wait
	KVSpare, QueueSpare float64 // what is to be spared on average; 0: 0.1 and 3
	Interval            float64 // seconds; 0: 60
}

// Every reconciliation.
func (w *Saturation) Every() float64 { return or(w.Interval, 60) }

func or(x, usual float64) float64 {
	if x > 0 {
		return x
	}
	return usual
}

// Decide on one more, one less or as many.
func (w *Saturation) Decide(s *Sight) (int, error) {
	kv, queue, kvSpare, queueSpare := or(w.KV, 0.8), or(w.Queue, 5), or(w.KVSpare, 0.1), or(w.QueueSpare, 3)
	if len(s.Ready) == 0 || s.Starting > 0 || len(s.Ready) != s.Replicas {
		return s.Replicas, nil
	}
	n, spareKV, spareQueue := 0.0, 0.0, 0.0
	for _, r := range s.Ready {
		if r.KV < kv && r.Waiting < queue {
			n++
			spareKV += kv - r.KV
			spareQueue += queue - r.Waiting
		}
	}
	if n > 0 {
		spareKV /= n
		spareQueue /= n
	}
	if spareKV < kvSpare || spareQueue < queueSpare {
		return s.Replicas + 1, nil
	}
	// The load of those that are left grows by n/(n−1) where one of n goes.
	grows := n / (n - 1)
	if n >= 2 && kv-(kv-spareKV)*grows >= kvSpare && queue-(queue-spareQueue)*grows >= queueSpare {
		return s.Replicas - 1, nil
	}
	return s.Replicas, nil
}

// Schedule wants replicas by the clock.
type Schedule struct {
	Grid     float64 // seconds
	Replicas []int   // wanted in each
}

// Every cell of the grid.
func (x *Schedule) Every() float64 { return x.Grid }

// Decide by the clock.
func (x *Schedule) Decide(s *Sight) (int, error) {
	return x.Replicas[min(len(x.Replicas)-1, int(s.At/x.Grid+0.5))], nil
}
