package memwall

import (
	"fmt"
	"slices"

	"github.com/memwall/memwall/sim"
)

// variant changes one thing of the plan.
type variant struct {
	static     bool
	contiguous bool
	noPrefix   bool
	noSpec     bool
	scale      float64 // of the time of steps; 0 is 1
	acceptance float64 // of drafted tokens; 0 is the plan's
}

// versus plays the same workload with one technique less.
func (s *simulation) versus(name string, with *sim.Result, holds *float64) (*Versus, error) {
	v := variants[name]
	if v.noSpec && s.plain == nil {
		return nil, &Error{Code: BadField, Field: "versus", Value: name, Message: "versus = no-speculation: the plan has no speculation", Hint: "--draft-tokens 3, or leave it out"}
	}
	res, err := s.run(v)
	if err != nil {
		return nil, err
	}
	out := &Versus{Name: name, Load: loadOf(res), TTFT: percentiles(&res.First), TPOT: percentiles(&res.PerToken), E2E: percentiles(&res.Whole), Pool: s.poolOf(res)}
	if mine, its := loadOf(with).Rate.Output, out.Rate.Output; its > 0 {
		out.Throughput = rounded(mine / its)
	}
	if out.Capacity, err = s.capacity(v); err == nil && holds != nil && out.Capacity != nil {
		out.CapacityRatio, out.Published = rounded(*holds / *out.Capacity), inPapers[name]
	}
	return out, err
}

// variants refuses techniques that nobody knows, before anything runs.
func (r *Request) variants() error {
	for i, name := range r.Versus {
		if _, ok := variants[name]; !ok {
			return &Error{Code: BadField, Field: "versus", Value: shorten(name), Message: fmt.Sprintf("versus = %s is not known", shorten(name)), Hint: "static, contiguous-kv, no-prefix-cache, no-speculation"}
		}
		if slices.Contains(r.Versus[:i], name) {
			return &Error{Code: BadField, Field: "versus", Value: name, Message: fmt.Sprintf("versus = %s stands twice", name), Hint: "name each once"}
		}
	}
	return nil
}

var variants = map[string]variant{
	"static":          {static: true},
	"contiguous-kv":   {contiguous: true},
	"no-prefix-cache": {noPrefix: true},
	"no-speculation":  {noSpec: true},
}
