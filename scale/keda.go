package scale

// KEDA is a ScaledObject with one trigger: the HPA that KEDA creates for it from one replica on, and KEDA itself
// between zero and one (pkg/scaling/executor/scale_scaledobjects.go, 2.14 to 2.18).
type KEDA struct {
	HPA
	// Activation is what the metric must exceed for the first replica to start.
	Activation float64
	Polling    float64 // seconds between KEDA's own checks; 0 means 30
	Cooldown   float64 // seconds of inactivity before scaling to zero; 0 means 300
	ToZero     bool    // minReplicaCount is 0

	active, polled float64
}

// Decide acts as KEDA between zero and one replica, and as its HPA above.
func (k *KEDA) Decide(s *Sight) (int, error) {
	k.External = true
	sum := k.Metric.Sum(s)
	if sum > k.Activation {
		k.active = s.At
	}
	polling := k.Polling
	if polling == 0 {
		polling = 30
	}
	if s.At-k.polled >= polling {
		k.polled = s.At
		switch {
		case s.Replicas == 0 && sum > k.Activation:
			return 1, nil
		case k.ToZero && s.Replicas > 0 && sum <= k.Activation && s.At-k.active >= k.cooldown():
			return 0, nil
		}
	}
	if s.Replicas == 0 {
		return 0, nil
	}
	return k.HPA.Decide(s)
}

func (k *KEDA) cooldown() float64 {
	if k.Cooldown > 0 {
		return k.Cooldown
	}
	return 300
}
