package step

import (
	_ "embed"
	"sync"

	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/coef"
)

//go:embed fitted.tsv
var fitted []byte

// Fitted returns the table of coefficients fitted to measurements.
var Fitted = sync.OnceValues(func() (*coef.Table, error) { return coef.Parse(fitted) })

// Step is the time of a step. Parts are in seconds and add up to Seconds.Mid.
type Step struct {
	Seconds         speed.Figure
	TokensPerDevice speed.Figure // per second
	TFLOPsPerDevice float64      // of the model's arithmetic, 1e12 operations per second
	MFU, HFU        float64      // fractions of the device's dense 16-bit peak; see mfu.go
	Bound           speed.Bound
	Parts           []Part
	// Bubble is the fraction of each pass that the pipeline idles; the parts include it.
	Bubble float64
}

// Part is a part of a step. Low and High are the band of a part with measurements of its own; 0 if only the step's band is known.
type Part struct {
	speed.Part
	Low, High float64
}

// Predictor is a run with its coefficients.
type Predictor struct {
	*Model
	table            *coef.Table
	values, variance [coefficients]float64
}

// With returns a Predictor with the coefficients of a table.
func (m *Model) With(t *coef.Table) *Predictor {
	p := &Predictor{Model: m, table: t}
	var all [coefficients]coef.Coef
	t.Values(numbers(), m.levels(), all[:])
	for i := range all {
		p.values[i], p.variance[i] = all[i].Value, all[i].Var
	}
	return p
}

// Predict returns the time of a step with its parts.
func (p *Predictor) Predict() (s Step) {
	alone, t := p.alone(p.values[:])
	s.Seconds = speed.Figure{Mid: alone, Low: alone, High: alone}
	if spread, ok := p.table.Spread(p.Spread()); ok {
		s.Seconds.Low, s.Seconds.High = spread.Band(alone, p.Variance())
		s.Seconds.Low = max(s.Seconds.Low, p.floor)
	}
	s.Parts = p.parts(alone, &t)
	p.elsewhere(&s, &t)
	mid := s.Seconds.Mid
	s.TokensPerDevice = s.Seconds.Inverse().Times(p.tokens / float64(p.groups.devices))
	s.TFLOPsPerDevice = p.flops.useful / mid / 1e12
	s.MFU, s.HFU = p.flops.useful/mid/p.format.wide, p.flops.done/mid/p.format.wide
	s.Bound, s.Bubble = bound(s.Parts), p.bubble
	return s
}

// Middle returns the seconds of a step without a band, for searches.
func (p *Predictor) Middle() float64 { return p.Seconds(p.values[:]) }

// elsewhere adds the time of host memory and NVMe.
func (p *Predictor) elsewhere(s *Step, t *terms) {
	copies, optimizer, nvme := p.aside.times(t.computed() + t.host)
	for _, x := range []struct {
		name  string
		f     speed.Figure
		bound speed.Bound
	}{{"copies", copies, speed.Network}, {"host optimizer", optimizer, speed.Host}, {"nvme", nvme, speed.Network}} {
		if x.f.High > 0 {
			s.Seconds = s.Seconds.Plus(x.f)
			s.Parts = append(s.Parts, Part{speed.Part{Name: x.name, Seconds: x.f.Mid, Bound: x.bound}, x.f.Low, x.f.High})
		}
	}
}

// bound returns what the parts wait for most.
func bound(parts []Part) speed.Bound {
	list := make([]speed.Part, len(parts))
	for i := range parts {
		list[i] = parts[i].Part
	}
	return speed.Largest(list)
}

// Spread returns the name of the errors that determine the band: those of runs with a class of frameworks, with or without experts.
func (m *Model) Spread() string {
	if m.step.experts > 0 {
		return "step-experts"
	}
	return "step-dense"
}

// Variance returns the variance of the logarithm of the step's time on the devices due to uncertain coefficients.
func (p *Predictor) Variance() (v float64) {
	const by = 1e-3
	mid, _ := p.alone(p.values[:])
	c := p.values
	for i := range c {
		if p.variance[i] == 0 {
			continue
		}
		c[i] *= 1 + by
		more, _ := p.alone(c[:])
		slope := (more/mid - 1) / by
		c[i] = p.values[i]
		v += slope * slope * p.variance[i]
	}
	return v
}

// parts returns the parts of a step scaled to its time, since waiting for slower ranks lengthens all of them.
func (p *Predictor) parts(seconds float64, t *terms) []Part {
	scale, all := seconds/t.sum(), t.list()
	out := make([]Part, 0, len(all))
	for _, x := range all {
		if x.Seconds > 0 {
			x.Seconds *= scale
			out = append(out, Part{Part: x})
		}
	}
	return out
}

// list returns the named parts.
func (t *terms) list() []speed.Part {
	return []speed.Part{
		{Name: "products", Seconds: t.products, Bound: speed.Compute}, {Name: "experts", Seconds: t.experts, Bound: speed.Compute},
		{Name: "attention", Seconds: t.attention, Bound: speed.Compute}, {Name: "element-wise", Seconds: t.elementwise, Bound: speed.Memory},
		{Name: "loss", Seconds: t.loss, Bound: speed.Memory}, {Name: "dequantisation", Seconds: t.unpack, Bound: speed.Memory},
		{Name: "host", Seconds: t.host, Bound: speed.Host}, {Name: "dispatch", Seconds: t.dispatch, Bound: speed.Host},
		{Name: "tp", Seconds: t.tensor, Bound: speed.Network}, {Name: "ep", Seconds: t.sent, Bound: speed.Network},
		{Name: "cp", Seconds: t.ring, Bound: speed.Network}, {Name: "pp", Seconds: t.hop, Bound: speed.Network},
		{Name: "sharding", Seconds: t.gather, Bound: speed.Network}, {Name: "reduce", Seconds: t.reduce, Bound: speed.Network},
		{Name: "optimizer", Seconds: t.update, Bound: speed.Memory}, {Name: "fixed", Seconds: t.fixed, Bound: speed.Host}}
}
