package stream

import "github.com/memwall/memwall/speed/coef"

// Noise is how much further than others measurements of a kind scatter around what is predicted of them: those of
// an engine, an era, a device. The band of a prediction is that of its group times the noise
// (locally weighted conformal prediction). It is a coefficient of the table, so that it inherits; what was
// measured on a device counts where the device is known.
func (p *Predictor) Noise(figure string) coef.Use {
	s := &p.stages[0]
	known := p.known(figure)
	out := coef.Use{Name: "noise-" + figure + "-" + known, Levels: []coef.Level{
		{Name: "backend", Key: s.Backend}, {Name: "engine", Key: p.in.Engine}, {Name: "era", Key: p.in.Engine + "/" + Era(p.in.Built)}}}
	if known == "device" {
		key := s.key() + "/" + Class(p.in.Engine)
		out.Levels = append(out.Levels, coef.Level{Name: "device", Key: key})
	}
	return out
}

// noisy is the value of Noise in the table, 1 where nothing is known.
func (p *Predictor) noisy(figure string) float64 {
	if u := p.Noise(figure); p.table.Has(u.Name) && len(p.stages) == 1 {
		return p.table.At(u).Value
	}
	return 1
}
