package transformers

import "github.com/memwall/memwall/engine"

// Shares are the layers of each device, which work one after another; the head lies with the last of them. It is nil under tensor
// parallelism, where devices share each matrix.
func (s *sizer) Shares() []engine.Share {
	if p := s.job.Plan; p.TP > 1 || p.DP > 1 || p.CP > 1 {
		return nil
	}
	all := len(s.job.Model.Decoder().Layers)
	var out []engine.Share
	for i := range s.ranks {
		r := &s.ranks[i].pl
		for n := range r.Count {
			at := int(r.Index + n)
			part := float64(r.Last-r.First) / float64(max(1, all))
			out = append(out, engine.Share{Device: at, Backend: engine.TorchBackend(s.job.Device(int64(at))), Dense: part, Experts: part,
				Cache: part})
		}
	}
	out[len(out)-1].Head = 1
	return out
}

// Flash reports whether attention is fused: all but eager attention is.
func (s *sizer) Flash() bool { return s.job.Plan.Attention != "eager" }
