package plain

import (
	"github.com/memwall/memwall/engine"
)

// Shares are the layers of each device, which work one after another; the head lies with the last of them, routed experts
// with the host where it computes them. It is nil where devices share each matrix, and for engines that are measured
// with many users.
func (s *sizer) Shares() []engine.Share {
	p := s.job.Plan
	if !s.rules.stream || p.TP > 1 || p.DP > 1 || p.CP > 1 {
		return nil
	}
	layers := float64(max(1, len(s.job.Model.Decoder().Layers)))
	var out []engine.Share
	for i := range s.ranks {
		pl := &s.ranks[i].pl
		for n := range pl.Count {
			at := pl.Index + n
			part := float64(pl.Last-pl.First) / layers
			out = append(out, engine.Share{Device: int(at), Backend: engine.TorchBackend(s.job.Device(at)), Dense: part, Experts: part,
				Cache: part})
		}
	}
	out[len(out)-1].Head = 1
	if s.rules.experts && hasExperts(s.job) {
		for i := range out {
			out[i].Experts = 0
		}
		out = append(out, engine.Share{Device: engine.Host, Backend: "cpu", Experts: 1})
	}
	return out
}

// Flash reports whether attention is fused, which it is in all of them.
func (s *sizer) Flash() bool { return true }
