package autoscale

import (
	"context"
	"math"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/scale"
	"github.com/memwall/memwall/workload"
)

// The fluid is held against the simulator: the same replicas, coming and going as the policy had them, play the same hours request by
// request.
func TestFluidIsAsTheSimulator(t *testing.T) {
	slow := &scale.Load{Rates: []float64{4, 6, 10, 16, 22, 26, 26, 20, 12, 8, 5, 4}, Part: 300}
	steep := &scale.Load{Rates: []float64{5, 5, 5, 30, 30, 30, 5, 5, 5, 5}, Part: 240}
	for name, c := range map[string]struct {
		load   *scale.Load
		prompt workload.Law
		output workload.Law
		policy string
	}{
		"slow, enough": {slow, workload.Law{Law: "lognormal", Mean: 1000, CV: 0.8, Min: 1, Max: 6000}, workload.Law{Law: "exponential", Mean: 250}, "ceil(rate / holds * 1.3)"},
		"slow, barely": {slow, workload.Law{Law: "fixed", Mean: 1500}, workload.Law{Law: "fixed", Mean: 300}, "dynamo"},
		"steep":        {steep, workload.Law{Law: "fixed", Mean: 1000}, workload.Law{Law: "exponential", Mean: 200}, "ceil(in_flight / 60)"},
		"too few":      {steep, workload.Law{Law: "fixed", Mean: 1000}, workload.Law{Law: "fixed", Mean: 200}, "fixed:1"},
	} {
		t.Run(name, func(t *testing.T) {
			asker := &memwall.Asker{}
			r := request()
			r.Workload.Prompt, r.Workload.Output, r.Workload.Rate, r.Workload.Arrivals = c.prompt, c.output, 1, "poisson"
			curve, _, err := asker.Curve(context.Background(), r)
			if err != nil {
				t.Fatal(err)
			}
			list, err := contenders([]string{c.policy})
			if err != nil {
				t.Fatal(err)
			}
			a := Usual()
			a.Most = 6
			f := &field{r: r, asked: a, load: c.load, curve: curve, contenders: list, start: 60}
			p, err := f.contend(&list[0], nil)
			if err != nil {
				t.Fatal(err)
			}
			played, err := asker.Day(context.Background(), r, c.load, p.replay.Lives)
			if err != nil {
				t.Fatal(err)
			}
			fluid, twin := p.replay.Kept(), float64(played.Good)/float64(played.Asked)
			p50, p99 := p.replay.First.Quantile(0.5), p.replay.First.Quantile(0.99)
			t.Logf("in time %.4f, played %.4f; TTFT p50 %.3f, %.3f; p99 %.3f, %.3f; %d lives, %d requests", fluid, twin, p50,
				played.First.Quantile(0.5).Seconds(), p99, played.First.Quantile(0.99).Seconds(), len(p.replay.Lives), played.Asked)
			if math.Abs(fluid-twin) > 0.03 {
				t.Errorf("%.4f of the requests in time, and %.4f as played", fluid, twin)
			}
		})
	}
}
