package scale

import "testing"

// Cases are of pkg/controller/podautoscaler/replica_calculator_test.go and horizontal_test.go: metrics in units, where those have thousandths.
func TestHPARecommends(t *testing.T) {
	for _, c := range []struct {
		name     string
		running  []float64
		starting int
		target   float64
		external bool
		want     int
	}{
		{"scale up", []float64{20, 10, 30}, 0, 15, false, 4},
		{"scale down", []float64{12, 12, 12, 12, 12}, 0, 20, false, 3},
		{"tolerance", []float64{20, 21, 21}, 0, 20, false, 3},
		{"up with one that does not tell, which counts as idle", []float64{50, 10}, 1, 15, false, 4},
		{"up by those that tell, and not by all", []float64{20, 10}, 1, 12.5, false, 3},
		{"down with one that does not tell, which counts as just right", []float64{10, 10, 10, 10}, 1, 20, false, 3},
		{"external, scale up", []float64{8.6}, 2, 1.1, true, 8},
		{"external, down", []float64{8.6}, 4, 2.867, true, 3},
		{"external, tolerance", []float64{8.6}, 2, 2.867, true, 3},
	} {
		s := &Sight{Replicas: len(c.running) + c.starting, Starting: c.starting}
		for _, x := range c.running {
			s.Ready = append(s.Ready, Seen{Running: x})
		}
		h := &HPA{Metric: Metrics[0], Target: c.target, External: c.external}
		if got, ok := h.recommended(s); !ok || got != c.want {
			t.Errorf("%s: %d, not %d", c.name, got, c.want)
		}
	}
}

func TestHPAIsAsQuickAsItsRules(t *testing.T) {
	h := &HPA{Metric: Metrics[4], Target: 1, External: true, Most: 100}
	h.Up, h.Down = Usual()
	at, n := 0.0, 1
	decide := func(rate float64) int {
		s := &Sight{At: at, Replicas: n, Rate: rate}
		for range n {
			s.Ready = append(s.Ready, Seen{})
		}
		n, _ = h.Decide(s)
		at += 15
		return n
	}
	for _, want := range []int{5, 10, 20, 40, 80, 100} { // four pods or all, whichever is more
		if got := decide(1000); got != want {
			t.Fatalf("at %g s: %d replicas, not %d", at, got, want)
		}
	}
	began := at
	for decide(1) == 100 {
	}
	if waited := at - 15 - began; waited < 285 || waited > 315 { // the last five minutes asked for more
		t.Errorf("scaled down after %g s", waited)
	}
	if n != 1 {
		t.Errorf("then to %d", n)
	}
	h.Down.Steps = []Step{{Pods: 1, Period: 60}}
	h.Down.Window, n = 0, 10
	at += 1000
	for _, want := range []int{9, 9, 9, 9, 8} { // one pod a minute
		if got := decide(1); got != want {
			t.Errorf("at %g s: %d replicas, not %d", at, got, want)
		}
	}
	h.Down.Steps, n = nil, 10 // selectPolicy: Disabled
	if got := decide(1); got != 10 {
		t.Errorf("scaled to %d where nothing may go", got)
	}
}
