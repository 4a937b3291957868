package timing

import (
	"math"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/model"
)

// Roofline places a fit's predicted speed under the rooflines of its devices. It returns nil if the devices differ, a
// rate is unknown, or the model has layers whose memory traffic is unknown. The error is an *Error.
func Roofline(a *question.Env, r *api.Request) (*api.Roofline, error) {
	q, ranks, err := a.SizedRanks(r)
	if err != nil {
		return nil, api.AsError(err)
	}
	m := q.Job.Machine
	if m == nil || len(m.Groups) != 1 || generates(q) != nil {
		return nil, nil
	}
	answer := SizedAnswer(q, ranks)
	b := newBound(q, &m.Groups[0].Device)
	if answer.Speed == nil || !b.device.Bandwidth.Known || !b.peak.Known || b.decode.Sparse {
		return nil, nil
	}
	out := &api.Roofline{Device: b.Device, Arithmetic: b.Arithmetic, Peak: float64(b.peak.Value),
		Bandwidth: float64(b.device.Bandwidth.Value)}
	out.Ridge = out.Peak / out.Bandwidth
	out.Points = b.points(answer, m)
	for i := range out.Points {
		p := &out.Points[i]
		if p.Bound = "arithmetic"; p.Intensity < out.Ridge {
			p.Bound = "bandwidth"
		}
	}
	return out, nil
}

// running returns the number of concurrent sequences: those that fit at full length, or more while some are shorter.
func (b *bound) running(a *api.Answer) int64 {
	n := max(1, int64(a.Plan.Sequences))
	most := b.job.MaxSequences(b.job.Job.Load().Context)
	if most == nil {
		return n
	}
	held := max(1, *most)
	if v := a.Speed; v.Total != nil && v.Decode != nil && *v.Decode > 0 {
		held = max(held, int64(math.Ceil(*v.Total / *v.Decode)))
	}
	return min(n, held)
}

// points returns a decode step of all concurrent sequences, and the prefill of one.
func (b *bound) points(a *api.Answer, m *hardware.Machine) (out []api.RoofPoint) {
	v := a.Speed
	n := b.running(a)
	if v.Total != nil {
		step := b.step(n, max(0, b.Context-1))
		out = append(out, b.point("decode", step, n, b.decode, float64(m.Devices()), *v.Total, *v.TotalLow, *v.TotalHigh))
	}
	if v.Prefill != nil {
		tokens := b.Context
		if p := int64(a.Plan.PromptTokens); p > 0 {
			tokens = p
		}
		whole := model.Step{Tokens: tokens, Seqs: 1, Outputs: 1}
		out = append(out, b.point("prefill", whole, tokens, b.prompt, float64(m.Devices()), *v.Prefill, *v.PrefillLow, *v.PrefillHigh))
	}
	return out
}

// point returns a step of the given tokens, of which all devices together process rate per second.
func (b *bound) point(name string, step model.Step, tokens int64, w model.Work, devices, rate, low, high float64) api.RoofPoint {
	flops := model.Total(w.FLOPs(step))
	bytes := model.Total(w.Weights(step)) + model.Total(w.Cache(step))
	each := flops / float64(tokens) / devices
	return api.RoofPoint{Name: name, Sequences: step.Seqs, Intensity: flops / bytes, Rate: rate * each, Low: low * each, High: high * each}
}
