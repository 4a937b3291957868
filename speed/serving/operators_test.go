package serving_test

import (
	"math"
	"testing"

	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/serving"
)

// TestOperatorsAddUp: the operators of a decoding step add up to its parts, and only what ranks send belongs to none.
func TestOperatorsAddUp(t *testing.T) {
	for _, c := range grid {
		m := compile(t, plan(t, c.id, c.recipe, c.device, c.p))
		load := serving.Load{Users: 32, Prompt: 1000, Output: 500}
		sum := map[string]float64{}
		for _, o := range m.Operators(load) {
			sum[o.Part] += o.Seconds
			if !(o.Seconds > 0) || o.FLOPs < 0 || o.Rest && o.Part != "all-reduce" && o.Part != "hand-over" && o.Part != "all-to-all" {
				t.Errorf("%s: %+v", c.id, o)
			}
		}
		parts := map[string]float64{}
		for _, p := range m.Closed(load).Parts {
			if p.Bound != speed.Host || p.Name != "host" {
				parts[p.Name] += p.Seconds
			}
		}
		for name, want := range parts {
			if math.Abs(sum[name]/want-1) > 1e-9 {
				t.Errorf("%s: operators of %s are %g s of %g", c.id, name, sum[name], want)
			}
		}
		if len(sum) != len(parts) {
			t.Errorf("%s: operators are of %v, parts %v", c.id, sum, parts)
		}
	}
}
