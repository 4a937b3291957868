package serve

import (
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/planner"
	"github.com/memwall/memwall/plan"
)

// needs is the least number of devices of a kind that the load takes, by what was estimated; 0 where nothing serves it.
func (s *servers) needs(kind string) (least int64) {
	for _, c := range s.all {
		if n := c.replicas * c.devices; c.kind == kind && n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// sharing are servers of more devices than hold the model, where the load takes as many: each rank attends to its own requests, or a few do
// together, and all share the experts, which then are read by more tokens at a time (arXiv:2412.19437, section 3.4). Copies of experts fill
// up what does not divide.
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
