package scale

import "math"

// HPA is Kubernetes' HorizontalPodAutoscaler on one metric, as implemented in pkg/controller/podautoscaler (1.27 to
// 1.34: replica_calculator.go for the ratio, horizontal.go for the behavior).
type HPA struct {
	Metric Metric
	// Target is the desired mean of the metric over replicas.
	Target float64
	// External metrics are divided directly by the target (GetExternalPerPodMetricReplicas), which is what KEDA turns
	// its triggers into; pod metrics are averaged over the pods that report them and scale the number of these by a
	// ratio (calcPlainMetricReplicas).
	External  bool
	Tolerance float64 // 0 means the controller's default, a tenth
	Sync      float64 // seconds between decisions; 0 means 15, --horizontal-pod-autoscaler-sync-period
	Up, Down  Rules
	Most      int

	said         []said
	added, taken []change
}

// Rules limit how fast the number of replicas changes in one direction.
type Rules struct {
	// Window is how many seconds recommendations remain in effect: the smallest limits scaling up, the largest scaling
	// down.
	Window float64
	// Steps limit the change per period; the largest allowed change applies, or with Least the smallest. Without steps
	// nothing changes.
	Steps []Step
	Least bool
}

// Step allows a number of pods, or a percentage of those at the period's start, per period in seconds.
type Step struct {
	Pods, Percent int
	Period        float64
}

type said struct {
	at       float64
	replicas int
}

type change struct {
	at float64
	by int
}

// Usual returns the default rules of an HPA (autoscaling/v2 defaults.go): up by four pods or 100 %, whichever is more,
// every 15 s; down without limit, after a window of five minutes.
func Usual() (up, down Rules) {
	all := Step{Percent: 100, Period: 15}
	return Rules{Steps: []Step{{Pods: 4, Period: 15}, all}}, Rules{Window: 300, Steps: []Step{all}}
}

// Every returns the sync period.
func (h *HPA) Every() float64 {
	if h.Sync > 0 {
		return h.Sync
	}
	return 15
}

// Decide implements the controller's algorithm.
func (h *HPA) Decide(s *Sight) (int, error) {
	if s.Replicas == 0 {
		return 0, nil // the HPA ignores a deployment of zero; scaling from zero is done elsewhere
	}
	wanted := s.Replicas
	if n, ok := h.recommended(s); ok {
		wanted = n
	}
	wanted = h.stabilized(s, max(1, wanted))
	return h.limited(s, wanted), nil
}

// recommended returns the number of replicas that the metric calls for; false if no pod reports it.
func (h *HPA) recommended(s *Sight) (int, bool) {
	sum := h.Metric.Sum(s)
	if h.External {
		if h.tolerated(sum / (h.Target * float64(s.Replicas))) {
			return s.Replicas, true
		}
		return ceil(sum / h.Target), true
	}
	ready, all := float64(len(s.Ready)), float64(len(s.Ready)+s.Starting)
	if ready == 0 {
		return 0, false
	}
	ratio := sum / (h.Target * ready)
	if s.Starting == 0 {
		if h.tolerated(ratio) {
			return s.Replicas, true
		}
		return ceil(ratio * ready), true
	}
	// Pods without metrics count as idle when scaling up, and as exactly on target when scaling down.
	if missing := sum / h.Target; ratio < 1 {
		ratio = (missing + float64(s.Starting)) / all
	} else {
		ratio = missing / all
	}
	if h.tolerated(ratio) || (sum/(h.Target*ready) < 1) != (ratio < 1) {
		return s.Replicas, true
	}
	return ceil(ratio * all), true
}

func (h *HPA) tolerated(ratio float64) bool {
	t := h.Tolerance
	if t == 0 {
		t = 0.1
	}
	return math.Abs(1-ratio) <= t
}

// ceil rounds up a number of replicas, clamped so that an extreme metric does not overflow.
func ceil(x float64) int {
	if !(x < mostWanted) {
		return mostWanted
	}
	return int(math.Ceil(x))
}

const mostWanted = 1 << 20

// stabilized applies the stabilization window of the direction (stabilizeRecommendationWithBehaviors).
func (h *HPA) stabilized(s *Sight, wanted int) int {
	rules, better := h.Down, func(a, b int) int { return max(a, b) }
	if wanted >= s.Replicas {
		rules, better = h.Up, func(a, b int) int { return min(a, b) }
	}
	out, longest := wanted, max(h.Up.Window, h.Down.Window)
	kept := h.said[:0]
	for _, r := range h.said {
		if r.at > s.At-rules.Window {
			out = better(out, r.replicas)
		}
		if r.at > s.At-longest {
			kept = append(kept, r)
		}
	}
	h.said = append(kept, said{s.At, wanted})
	return out
}

// limited applies the steps of the direction (convertDesiredReplicasWithBehaviorRate).
func (h *HPA) limited(s *Sight, wanted int) int {
	switch {
	case wanted > s.Replicas:
		wanted = min(wanted, max(s.Replicas, h.Up.highest(s, h.added)))
		if h.Most > 0 {
			wanted = min(wanted, max(h.Most, s.Replicas))
		}
		h.added = noted(h.added, change{s.At, wanted - s.Replicas}, h.Up)
	case wanted < s.Replicas:
		wanted = max(wanted, min(s.Replicas, h.Down.lowest(s, h.taken)))
		h.taken = noted(h.taken, change{s.At, s.Replicas - wanted}, h.Down)
	}
	return wanted
}

func (r *Rules) highest(s *Sight, added []change) int {
	return r.chosen(s.Replicas, false, func(p Step) int {
		begin := s.Replicas - within(added, s.At-p.Period)
		if p.Percent > 0 {
			return ceil(float64(begin) * (1 + float64(p.Percent)/100))
		}
		return begin + p.Pods
	})
}

func (r *Rules) lowest(s *Sight, taken []change) int {
	return r.chosen(s.Replicas, true, func(p Step) int {
		begin := s.Replicas + within(taken, s.At-p.Period)
		if p.Percent > 0 {
			return int(float64(begin) * (1 - float64(p.Percent)/100))
		}
		return begin - p.Pods
	})
}

// chosen returns the result of the step that allows most change, or least.
func (r *Rules) chosen(now int, down bool, of func(Step) int) int {
	out := now
	for i, p := range r.Steps {
		x := of(p)
		if i == 0 || (x > out) != (down != r.Least) {
			out = x
		}
	}
	return out
}

func within(all []change, since float64) (n int) {
	for _, c := range all {
		if c.at > since {
			n += c.by
		}
	}
	return n
}

// noted returns the changes with c appended, dropping those that no step looks back to.
func noted(all []change, c change, r Rules) []change {
	longest := 0.0
	for _, p := range r.Steps {
		longest = max(longest, p.Period)
	}
	kept := all[:0]
	for _, old := range all {
		if old.at > c.at-longest {
			kept = append(kept, old)
		}
	}
	if c.by == 0 {
		return kept
	}
	return append(kept, c)
}
