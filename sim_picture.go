package memwall

import "github.com/memwall/memwall/sim"

// Series is what a run was like over time, in intervals of one width from its beginning; the first that holds a figure of
// each list is its index. Replicas are summed, the use of the KV cache is their mean.
type Series struct {
	IntervalS float64   `json:"interval_s"`
	Waiting   []float64 `json:"waiting"`
	Running   []float64 `json:"running"`
	KV        []float64 `json:"kv_utilization"`
	Output    []float64 `json:"output_tokens_per_s"`
}

func seriesOf(s *sim.Series) *Series {
	if len(s.Points) == 0 {
		return nil
	}
	width := s.Width.Seconds()
	out := &Series{IntervalS: width}
	for _, p := range s.Points {
		out.Waiting, out.Running = append(out.Waiting, four(p.Waiting)), append(out.Running, four(p.Running))
		out.KV, out.Output = append(out.KV, four(p.KV)), append(out.Output, four(p.Tokens/width))
	}
	return out
}

// Quantiles are times in milliseconds that a share of the requests do not exceed, for curves of them.
type Quantiles struct {
	Share []float64 `json:"share"`
	TTFT  []float64 `json:"ttft_ms"`
	TPOT  []float64 `json:"tpot_ms,omitempty"`
	E2E   []float64 `json:"e2e_ms"`
}

// quantileSteps of a curve: one for each hundredth.
const quantileSteps = 100

func quantilesOf(r *sim.Result) *Quantiles {
	if r.First.N() == 0 {
		return nil
	}
	out := &Quantiles{}
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
		out = append(out, four(1000*s.Quantile(q).Seconds()))
	}
	return out
}
