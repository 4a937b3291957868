package scale

import "math"

// HPA is Kubernetes' HorizontalPodAutoscaler on one metric, as pkg/controller/podautoscaler decides (1.27 to 1.34: replica_calculator.go
// for the ratio, horizontal.go for the behaviour).
type HPA struct {
	Metric Metric
	// Target is the metric's mean over replicas that is to be kept.
	Target float64
	// External metrics are divided by the target as they are (GetExternalPerPodMetricReplicas), which is what KEDA makes of its triggers;
	// those of pods are a mean over pods that tell it, and a ratio is applied to the number of them (calcPlainMetricReplicas).
	External  bool
	Tolerance float64 // 0: the controller's own, a tenth
	Sync      float64 // seconds between decisions; 0: 15, --horizontal-pod-autoscaler-sync-period
	Up, Down  Rules
	Most      int

	said         []said
	added, taken []change
}

// Rules bound how quickly one direction is followed.
type Rules struct {
	// Window is for how many seconds recommendations count: the least of them upwards, the most of them downwards.
	Window float64
	// Steps bound what a period changes; the largest change of them holds, or with Least the smallest. None: nothing changes.
	Steps []Step
	Least bool
}

// Step allows so many pods, or so many percent of those at the period's beginning, in a period of seconds.
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

// Usual are the rules of an HPA that says none (autoscaling/v2 defaults.go): up by four pods or by all, whichever is more, each 15 s, and
// down by all that the last five minutes allow.
func Usual() (up, down Rules) {
	all := Step{Percent: 100, Period: 15}
	return Rules{Steps: []Step{{Pods: 4, Period: 15}, all}}, Rules{Window: 300, Steps: []Step{all}}
}

// Every sync period.
func (h *HPA) Every() float64 {
	if h.Sync > 0 {
		return h.Sync
	}
	return 15
}

// Decide as the controller does.
func (h *HPA) Decide(s *Sight) (int, error) {
	if s.Replicas == 0 {
		return 0, nil // a deployment of none is left alone: who scales from zero is another
	}
	wanted := s.Replicas
	if n, ok := h.recommended(s); ok {
		wanted = n
	}
	wanted = h.stabilized(s, max(1, wanted))
	return h.limited(s, wanted), nil
}

// recommended is the number of replicas that the metric asks for; false where no pod tells it.
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
	// Pods that do not tell the metric yet count as idle where it asks for more, and as just right where it asks for less.
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

// ceil of a number of replicas, bounded so that a metric out of all measure is a number too.
func ceil(x float64) int {
	if !(x < mostWanted) {
		return mostWanted
	}
	return int(math.Ceil(x))
}

const mostWanted = 1 << 20

// stabilized is the recommendation that the window of its direction leaves (stabilizeRecommendationWithBehaviors).
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

// limited is what the steps of the direction allow (convertDesiredReplicasWithBehaviorRate).
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

// chosen of the steps: the one that changes most, or least.
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

// noted is a list of changes with one more, without those that no step looks back to.
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
