package simulate

import (
	"fmt"
	"slices"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/sim"
)

// Variant changes one thing of the plan.
type Variant struct {
	static     bool
	contiguous bool
	noPrefix   bool
	noSpec     bool
	Scale      float64 // of the time of steps; 0 is 1
	Later      float64 // seconds, by which a request reaches the scheduler later than is expected
	acceptance float64 // of drafted tokens; 0 is the plan's
}

// versus plays the same workload with one technique less.
func (s *Simulation) versus(name string, with *sim.Result, holds *float64) (*api.Versus, error) {
	v := variants[name]
	if v.noSpec && s.plain == nil {
		return nil, &api.Error{Code: api.BadField, Field: "versus", Value: name,
			Message: "versus = no-speculation: the plan has no speculation", Hint: "--draft-tokens 3, or leave it out"}
	}
	res, err := s.Run(v)
	if err != nil {
		return nil, err
	}
	out := &api.Versus{Name: name, Load: LoadOf(res), TTFT: Percentiles(&res.First), TPOT: Percentiles(&res.PerToken),
		E2E: Percentiles(&res.Whole), Pool: s.poolOf(res)}
	if mine, its := LoadOf(with).Throughput.Output, out.Throughput.Output; its > 0 {
		out.ThroughputRatio = question.Rounded(mine / its)
	}
	if out.Capacity, err = s.capacity(v); err == nil && holds != nil && out.Capacity != nil {
		out.CapacityRatio, out.Published = question.Rounded(*holds / *out.Capacity), inPapers[name]
	}
	return out, err
}

// checkVersus refuses techniques that nobody knows, before anything runs.
func checkVersus(r *api.Request) error {
	for i, name := range r.Versus {
		if _, ok := variants[name]; !ok {
			return &api.Error{Code: api.BadField, Field: "versus", Value: api.Shorten(name),
				Message: fmt.Sprintf("versus = %s is not known", api.Shorten(name)),
				Hint:    "static, contiguous-kv, no-prefix-cache, no-speculation"}
		}
		if slices.Contains(r.Versus[:i], name) {
			return &api.Error{Code: api.BadField, Field: "versus", Value: name, Message: fmt.Sprintf("versus = %s stands twice", name),
				Hint: "name each once"}
		}
	}
	return nil
}

var variants = map[string]Variant{
	"static":          {static: true},
	"contiguous-kv":   {contiguous: true},
	"no-prefix-cache": {noPrefix: true},
	"no-speculation":  {noSpec: true},
}
