package serve

import (
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/planner"
	"github.com/memwall/memwall/plan"
)

// needs returns the fewest devices of a kind that the load needs by the estimates; 0 if none serves it.
func (s *servers) needs(kind string) (least int64) {
	for _, c := range s.all {
		if n := c.replicas * c.devices; c.kind == kind && n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// sharing returns servers with more devices than the model needs, if the load requires as many: attention is data parallel over
// ranks or small groups, and all share the experts, which are then read for more tokens at a time (arXiv:2412.19437, section 3.4).
// Redundant experts fill up what does not divide evenly.
func (t *task) sharing(p *planner.Planner, m *machineChoice) (out []planner.Way) {
	r, d := &t.asked, p.Question.Job.Device(0)
	experts := p.Question.Job.Model.Traits.Experts
	if experts == 0 || d == nil || !strings.HasPrefix(d.Kind, "HBM") || r.TP+r.PP+r.DP+r.EP > 0 || r.Disaggregated != nil {
		return nil
	}
	name := p.Question.Engine.Name()
	kernels := d.Vendor == "NVIDIA" && (name == "vllm" || name == "sglang")
	copies := (m.devices - experts%m.devices) % m.devices
	if copies > 0 && name == "tensorrt-llm" {
		return nil
	}
	for _, tp := range []int64{1, 8} {
		if m.devices%tp != 0 || tp > p.Question.Job.PerNode() {
			continue
		}
		out = append(out, planner.Way{Set: func(r *api.Request) {
			r.TP, r.PP, r.DP, r.EP = tp, 1, m.devices/tp, m.devices
			r.RedundantExperts = plan.Int(copies)
			if kernels && r.All2All == "" {
				r.All2All = plan.DeepEP
			}
		}})
	}
	return out
}
