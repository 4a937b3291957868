package simulate

import (
	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/sim"
)

func seriesOf(s *sim.Series) *api.Series {
	if len(s.Points) == 0 {
		return nil
	}
	width := s.Width.Seconds()
	out := &api.Series{IntervalS: width}
	for _, p := range s.Points {
		out.Waiting, out.Running = append(out.Waiting, FourDigits(p.Waiting)), append(out.Running, FourDigits(p.Running))
		out.KV, out.Output = append(out.KV, FourDigits(p.KV)), append(out.Output, FourDigits(p.Tokens/width))
	}
	return out
}

// quantileSteps of a curve: one for each hundredth.
const quantileSteps = 100

func quantilesOf(r *sim.Result) *api.Quantiles {
	if r.First.N() == 0 {
		return nil
	}
	out := &api.Quantiles{}
	for i := range quantileSteps + 1 {
		out.Share = append(out.Share, float64(i)/quantileSteps)
	}
	out.TTFT, out.TPOT, out.E2E = curve(&r.First, out.Share), curve(&r.PerToken, out.Share), curve(&r.Whole, out.Share)
	return out
}

func curve(s *sim.Sample, shares []float64) (out []float64) {
	if s.N() == 0 {
		return nil
	}
	for _, q := range shares {
		out = append(out, FourDigits(1000*s.Quantile(q).Seconds()))
	}
	return out
}
