package scale

// KEDA is a ScaledObject with one trigger: the HPA that KEDA makes of it from one replica on, and KEDA itself between none and one
// (pkg/scaling/executor/scale_scaledobjects.go, 2.14 to 2.18).
type KEDA struct {
	HPA
	// Activation is what the metric must exceed so that a deployment of none gets its first replica.
	Activation float64
	Polling    float64 // seconds between two looks of KEDA itself; 0: 30
	Cooldown   float64 // seconds without activity until the last replica goes; 0: 300
	ToZero     bool    // minReplicaCount is 0

	active, polled float64
}

// Decide as KEDA where there is nothing or little to do, else as its HPA.
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
