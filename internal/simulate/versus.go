package simulate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/sim"
	"github.com/memwall/memwall/unit"
)

// Variant changes one thing of the plan.
type Variant struct {
	static     bool
	contiguous bool
	noPrefix   bool
	noSpec     bool
	other      bool    // of another plan, which nobody watches
	Scale      float64 // of the time of steps; 0 is 1
	Later      float64 // seconds, by which a request reaches the scheduler later than is expected
	drafts     int8    // accepted as seldom or as often as is assumed at least or most: -1, 1
}

// ofTier begins what names another size of the tier below the cache: kv-tier=100GB.
const ofTier = "kv-tier="

// tierSize is what stands behind it: a size, or all, which keeps whatever was evicted.
func tierSize(text string) (unit.Bytes, error) {
	if text == "all" {
		return math.MaxInt64 / 2, nil
	}
	size, err := unit.ParseBytes(text)
	if err == nil && size < 0 {
		err = fmt.Errorf("%q is negative", text)
	}
	return size, err
}

// changed is the plan with one thing changed, which has a name.
func (s *Simulation) changed(name string) (*Simulation, Variant, error) {
	text, tiered := strings.CutPrefix(name, ofTier)
	if !tiered {
		return s, variants[name], nil
	}
	size, err := tierSize(text)
	if err != nil {
		return nil, Variant{}, err
	}
	with := *s
	if s.Prompts != nil {
		prompts := *s.Prompts
		with.Prompts = &prompts
		with.Prompts.tiers, err = prompts.tiersOf(size, 0)
	}
	if err == nil {
		with.tiers, err = with.tiersOf(size, 0)
	}
	if err != nil {
		e := *api.AsError(err)
		e.Field, e.Value = "versus", name
		return nil, Variant{}, &e
	}
	return &with, Variant{other: true}, nil
}

// versus plays the same workload with one technique less, or with another size of the tier below the cache.
func (s *Simulation) versus(name string, with *sim.Result, holds *float64) (*api.Versus, error) {
	s, v, err := s.changed(name)
	if err != nil {
		return nil, err
	}
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
	out.Capacity, err = s.capacity(v)
	if out.Capacity = noLess(out.Capacity, &out.Load); err == nil && holds != nil && out.Capacity != nil {
		out.CapacityRatio, out.Published = question.Rounded(*holds / *out.Capacity), inPapers[name]
	}
	return out, err
}

// checkVersus refuses techniques that nobody knows, before anything runs.
func checkVersus(r *api.Request) error {
	for i, name := range r.Versus {
		text, tiered := strings.CutPrefix(name, ofTier)
		if tiered {
			if _, err := tierSize(text); err != nil {
				return &api.Error{Code: api.BadField, Field: "versus", Value: api.Shorten(name),
					Message: fmt.Sprintf("versus = %s: %v", api.Shorten(name), err), Hint: "kv-tier=100GB, kv-tier=0, kv-tier=all"}
			}
		}
		if _, ok := variants[name]; !ok && !tiered {
			return &api.Error{Code: api.BadField, Field: "versus", Value: api.Shorten(name),
				Message: fmt.Sprintf("versus = %s is not known", api.Shorten(name)),
				Hint:    "static, contiguous-kv, no-prefix-cache, no-speculation, kv-tier=100GB"}
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
