package memwall

import (
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/model"
)

// Roofline is one device of a plan under its roofs, and where the plan's work lies (Williams, Waterman and Patterson,
// 2009): work that does few operations on each byte is bound by memory, all other by arithmetic.
type Roofline struct {
	Device string `json:"device"`
	// Arithmetic is the format that the peak is of.
	Arithmetic string `json:"arithmetic"`
	// Peak is in FLOP/s, Bandwidth in bytes/s, both of the datasheet; the ridge is their ratio.
	Peak      float64     `json:"peak_flops"`
	Bandwidth float64     `json:"bandwidth"`
	Ridge     float64     `json:"ridge_flop_per_byte"`
	Points    []RoofPoint `json:"points"`
}

// RoofPoint is a kind of step: the operations that it does on each byte it reads, and the rate of one device, in FLOP/s.
type RoofPoint struct {
	Name      string  `json:"name"`
	Bound     string  `json:"bound"` // bandwidth or arithmetic: the side of the ridge that it lies on
	Sequences int64   `json:"sequences"`
	Intensity float64 `json:"flop_per_byte"`
	Rate      float64 `json:"flops"`
	Low       float64 `json:"flops_low"`
	High      float64 `json:"flops_high"`
}

// Roofline puts a fit's predicted speed under the roofs of its devices. It is nil where devices differ, a rate is not
// known, or layers read what nobody knows. The error is an *Error.
func (a *Asker) Roofline(r *Request) (*Roofline, error) {
	q, ranks, err := a.sized(r)
	if err != nil {
		return nil, asError(err)
	}
	m := q.job.Machine
	if m == nil || len(m.Groups) != 1 || q.generates() != nil {
		return nil, nil
	}
	answer := q.size(ranks)
	b := q.bound(&m.Groups[0].Device)
	if answer.Speed == nil || !b.device.Bandwidth.Known || !b.peak.Known || b.decode.Sparse {
		return nil, nil
	}
	out := &Roofline{Device: b.Device, Arithmetic: b.Arithmetic, Peak: float64(b.peak.Value), Bandwidth: float64(b.device.Bandwidth.Value)}
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

// points are a step that generates for as many as run at once, and the prompt of one.
func (b *bound) points(a *Answer, m *hardware.Machine) (out []RoofPoint) {
	n := max(1, int64(a.Plan.Sequences))
	if most := b.job.maxSequences(b.job.job.Load().Context); most != nil {
		n = max(1, min(n, *most))
	}
	v := a.Speed
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

// point is a step of so many tokens, of which so many a second are done by all devices together.
func (b *bound) point(name string, step model.Step, tokens int64, w model.Work, devices, rate, low, high float64) RoofPoint {
	flops := model.Total(w.FLOPs(step))
	bytes := model.Total(w.Weights(step)) + model.Total(w.Cache(step))
	each := flops / float64(tokens) / devices
	return RoofPoint{Name: name, Sequences: step.Seqs, Intensity: flops / bytes, Rate: rate * each, Low: low * each, High: high * each}
}
