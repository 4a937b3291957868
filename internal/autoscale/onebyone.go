package autoscale

import (
	"context"

	"github.com/memwall/memwall"
)

// Played is the simulator's result for a policy's replicas, request by request.
type Played struct {
	Policy   string     `json:"policy"`
	Requests int64      `json:"requests"`
	Kept     float64    `json:"kept"`
	TTFT     [2]float64 `json:"ttft_ms_p50_p99"`
	TPOT     [2]float64 `json:"tpot_ms_p50_p99"`
}

// oneByOne plays the replicas of the best policy, or of the first where none is, as they came and went.
func (f *field) oneByOne(ctx context.Context, asker *memwall.Asker, r *ScalingReport) (*Played, error) {
	p := r.Chosen()
	for i := range r.Policies {
		if p == nil && r.Policies[i].replay != nil {
			p = &r.Policies[i]
		}
	}
	if p == nil {
		return nil, nil
	}
	res, err := asker.Day(ctx, f.r, f.load, p.replay.Lives)
	if err != nil {
		return nil, err
	}
	out := &Played{Policy: p.Name, Requests: res.Asked, Kept: float64(res.Good) / float64(max(1, res.Asked))}
	for i, q := range []float64{0.5, 0.99} {
		out.TTFT[i], out.TPOT[i] = 1000*res.First.Quantile(q).Seconds(), 1000*res.PerToken.Quantile(q).Seconds()
	}
	return out, nil
}
