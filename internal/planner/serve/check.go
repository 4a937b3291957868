package serve

import (
	"fmt"
	"slices"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/planner/change"
)

// checkBounds rejects invalid shares and terms.
func (t *task) checkBounds() error {
	goal := &t.goal
	bad := func(field string, value any, message, hint string) error {
		return &api.Error{Code: api.BadField, Field: "goal." + field, Value: fmt.Sprint(value),
			Message: fmt.Sprintf("goal.%s = %v %s", field, value, message), Hint: hint}
	}
	switch _, known := change.PriceOfDoubling[goal.Minimize]; {
	case !known:
		return bad("minimize", api.Shorten(goal.Minimize), "is not known", "cost, latency, devices or quality_loss")
	case !(goal.Attainment >= 0 && goal.Attainment <= 1):
		return bad("attainment", goal.Attainment, "is not a share from 0 to 1", "such as 0.99")
	case goal.Attainment > 0 && len(goal.TTFT) == 0 && len(goal.TPOT) == 0:
		return bad("attainment", goal.Attainment, "is a share of requests within bounds, and there are none", "give ttft_ms or tpot_ms too")
	case goal.QualityLoss != nil && !(*goal.QualityLoss >= 0 && *goal.QualityLoss <= 100):
		return bad("quality_loss", *goal.QualityLoss, "is not from 0 to 100 percent", "such as 1; 100 for any format")
	}
	if err := ordered(goal); err != nil {
		return err
	}
	if err := t.original.Day.Check(); err != nil {
		return err
	}
	return goal.Own.Check()
}

// contradicts rejects pairs of fields that exclude each other.
func contradicts(r *api.Request) error {
	both := func(field, value, message, hint string) error {
		return &api.Error{Code: api.ImpossiblePlan, Field: field, Value: value, Message: message, Hint: hint}
	}
	ranks := max(1, r.TP) * max(1, r.PP) * max(1, r.DP) * max(1, int64(r.Replicas))
	switch w, d := r.Workload, r.Day; {
	case r.MaxDevices < 0:
		return both("max_devices", fmt.Sprint(int64(r.MaxDevices)), fmt.Sprintf("max_devices = %d is negative", int64(r.MaxDevices)),
			"a number from 1, or leave it out")
	case r.MaxDevices > 0 && ranks > int64(r.MaxDevices):
		return both("max_devices", fmt.Sprint(int64(r.MaxDevices)),
			fmt.Sprintf("tp × pp × dp × replicas = %d devices contradict max_devices = %d", ranks, int64(r.MaxDevices)),
			"smaller groups, or more devices")
	case r.MaxDevices > 0 && r.Devices > int64(r.MaxDevices):
		return both("max_devices", fmt.Sprint(int64(r.MaxDevices)),
			fmt.Sprintf("devices = %d contradict max_devices = %d", r.Devices, int64(r.MaxDevices)), "leave one of them out")
	case r.Samples > 1:
		return both("samples", fmt.Sprint(int64(r.Samples)), "a fleet for a goal is planned for one answer to each prompt",
			"leave it out; or memwall sim with --samples plays one plan")
	case d != nil && (r.Sequences > 0 || w != nil && (w.Concurrency > 0 || w.Trace != "")):
		return both("day", "", "day contradicts a number of users and a trace: it tells the requests of each part of a day",
			"leave one of them out")
	case d != nil && w != nil && w.Rate > 0 && len(d.Rates) > 0 && w.Rate != slices.Max(d.Rates):
		return both("workload.rate", fmt.Sprint(w.Rate),
			fmt.Sprintf("workload.rate = %g contradicts day.rates, whose highest is %g", w.Rate, slices.Max(d.Rates)),
			"leave the rate out: the highest of the day is planned for")
	case w != nil && w.Rate > 0 && (w.Concurrency > 0 || r.Sequences > 0):
		return both("workload.rate", fmt.Sprint(w.Rate),
			fmt.Sprintf("workload.rate = %g contradicts %d users, who ask when they are answered", w.Rate,
				max(int64(w.Concurrency), int64(r.Sequences))), "leave one of them out")
	}
	return nil
}

// ordered rejects a higher percentile with a lower bound, which would make the other bound redundant.
func ordered(g *api.Goal) error {
	for field, bounds := range map[string]map[string]float64{"ttft_ms": g.TTFT, "tpot_ms": g.TPOT} {
		for a, most := range bounds {
			for b, other := range bounds {
				x, _ := api.Percentile(a)
				y, _ := api.Percentile(b)
				if x < y && most > other {
					return &api.Error{Code: api.BadField, Field: "goal." + field, Value: fmt.Sprint(most),
						Message: fmt.Sprintf("goal.%s contradicts itself: %s may take %v ms and %s only %v ms, but %s is never the "+
							"longer one", field, a, most, b, other, a), Hint: "leave out " + a + ", or give it the lower bound"}
				}
			}
		}
	}
	return nil
}
