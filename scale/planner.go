package scale

// Planner is Dynamo's throughput-based planner for workers that run both prefill and decode
// (components/src/dynamo/planner, 0.8 to 1.0): every interval it sets the number of workers that the last interval's
// load requires, at the maximum that one holds within the goal. Its predictor is the constant one; ARIMA, Kalman and
// Prophet need previous days to fit.
type Planner struct {
	Each     float64 // requests a second that a worker holds within the goal, from its profile
	Interval float64 // seconds; 0 means 180
}

// Every returns the adjustment interval.
func (p *Planner) Every() float64 {
	if p.Interval > 0 {
		return p.Interval
	}
	return 180
}

// Decide returns the workers that the last interval's load requires.
func (p *Planner) Decide(s *Sight) (int, error) { return max(1, ceil(s.Rate/p.Each)), nil }

// Saturation is the saturation analyzer of llm-d's Workload Variant Autoscaler (internal/saturation/analyzer.go, up to
// 0.8; thresholds of deploy/configmap-saturation-scaling.yaml): it adds a replica when the unsaturated ones have little
// spare capacity, removes one when the others would keep enough, and waits while one starts.
type Saturation struct {
	KV, Queue           float64 // saturation thresholds; 0 means 0.8 of the cache, 5 waiting
	KVSpare, QueueSpare float64 // required mean spare capacity; 0 means 0.1 and 3
	Interval            float64 // seconds; 0 means 60
}

// Every returns the reconciliation interval.
func (w *Saturation) Every() float64 { return or(w.Interval, 60) }

func or(x, usual float64) float64 {
	if x > 0 {
		return x
	}
	return usual
}

// Decide adds a replica, removes one, or keeps the number.
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
	// Removing one of n replicas raises the load of the others by n/(n−1).
	grows := n / (n - 1)
	if n >= 2 && kv-(kv-spareKV)*grows >= kvSpare && queue-(queue-spareQueue)*grows >= queueSpare {
		return s.Replicas - 1, nil
	}
	return s.Replicas, nil
}

// Schedule sets the number of replicas by time.
type Schedule struct {
	Grid     float64 // seconds
	Replicas []int   // number in each interval
}

// Every returns the grid interval.
func (x *Schedule) Every() float64 { return x.Grid }

// Decide returns the number scheduled for the time.
func (x *Schedule) Decide(s *Sight) (int, error) {
	return x.Replicas[min(len(x.Replicas)-1, int(s.At/x.Grid+0.5))], nil
}
