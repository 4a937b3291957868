package stream

import (
	_ "embed"
	"math"
	"sync"

	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/coef"
)

//go:embed fitted.tsv
var fitted []byte

// Fitted returns the table of coefficients fitted to measurements.
var Fitted = sync.OnceValues(func() (*coef.Table, error) { return coef.Parse(fitted) })

// Figures are the predicted speeds of a test, in seconds.
type Figures struct {
	// Prefill and Decode are seconds for a token of the prompt and of the answer; TTFT is until the first token.
	Prefill, Decode, TTFT speed.Figure
	// Parts are what a token of the answer takes, Bound what most of it waits for.
	Parts []speed.Part
	Bound speed.Bound
	// BandwidthFraction is the bytes that a token of the answer reads over what the memory could move in its
	// time, FLOPsFraction the operations of the prompt over what the device could do.
	BandwidthFraction, FLOPsFraction float64
}

// With gives the model the coefficients of a table.
func (m *Model) With(t *coef.Table) *Predictor {
	p := &Predictor{Model: m, table: t, values: make([]float64, len(m.uses.list)), variance: make([]float64, len(m.uses.list))}
	t.Each(m.uses.list, func(i int, c coef.Coef) { p.values[i], p.variance[i] = c.Value, c.Var })
	return p
}

// Mids is With for those who compare many plans: figures have no bands.
func (m *Model) Mids(t *coef.Table) *Predictor {
	p := m.With(t)
	p.plain = true
	return p
}

// Predictor is a model with its coefficients.
type Predictor struct {
	*Model
	table            *coef.Table
	values, variance []float64
	plain            bool // without bands
}

// Values are the coefficients in the order of Uses.
func (p *Predictor) Values() []float64 { return p.values }

// Predict gives the speeds of a test; it opens nothing and keeps nothing.
func (p *Predictor) Predict(t Test) (f Figures) {
	first := Test{Prompt: t.Prompt, Depth: t.Depth}
	if t.Prompt > 0 {
		f.TTFT = p.figure("prefill", p.Seconds(first))
		f.Prefill = f.TTFT.Times(1 / float64(t.Prompt))
		f.FLOPsFraction = p.leastPrefill(float64(t.Prompt), float64(t.Depth)) / f.TTFT.Mid
	}
	if t.Generated > 0 {
		depth := float64(t.Depth+t.Prompt) + float64(t.Generated)/2
		f.Decode = p.figure("decode", p.decode(depth))
		f.BandwidthFraction = p.leastStep(1, depth) / f.Decode.Mid
		f.Parts = p.parts(1, depth)
		f.Bound = speed.Largest(f.Parts)
	}
	return f
}

func (p *Predictor) figure(kind string, s func(c []float64) float64) speed.Figure {
	mid := s(p.values)
	low, high := mid, mid
	if p.plain {
		return speed.Figure{Mid: mid, Low: low, High: high}
	}
	if spread, variance, ok := p.own(kind); ok {
		low, high = spread.Band(mid, variance)
	} else if spread, ok := p.band(kind); ok {
		low, high = spread.Times(p.noisy(kind)).Band(mid, p.Variance(s))
	}
	return speed.Figure{Mid: mid, Low: low, High: high}
}

// band is the narrowest group's that has one.
func (p *Predictor) band(figure string) (s coef.Spread, ok bool) {
	for _, name := range p.Spreads(figure) {
		if s, ok = p.table.Spread(name); ok {
			return s, true
		}
	}
	return s, false
}

// Spreads names whose errors the band is made of: those of devices that were measured, of others of a measured
// family, and of others; and of several devices, by the class of the engine. The narrowest group comes first.
func (p *Predictor) Spreads(figure string) []string {
	if len(p.stages) > 1 {
		return []string{figure + "-" + Class(p.in.Engine) + "-several", figure + "-steady-several"}
	}
	return []string{figure + "-" + p.known(figure)}
}

// Rows that make a device or a family known.
const (
	deviceRows = 3
	familyRows = 8
)

// known says how close to the device the measurements come that its figure rests on.
func (p *Predictor) known(figure string) string {
	name := coefRead
	if figure == "prefill" {
		name = coefAttend
	}
	s := &p.stages[0]
	switch device, _ := p.table.Offset(name, "device", s.Backend+"/"+s.Device.ID); {
	case device.Rows >= deviceRows:
		return "device"
	case p.rows(name, "family", family(s)) >= familyRows:
		return "family"
	}
	return "backend"
}

func (p *Predictor) rows(name, level, key string) int {
	o, _ := p.table.Offset(name, level, key)
	return o.Rows
}

// Class of an engine: "steady" where reports state how it was run and what it waits for, else "loose".
func Class(engine string) string {
	switch engine {
	case "llama.cpp", "ik_llama.cpp", "exllamav2", "mlx-lm", "mlc", "llmfit", "":
		return "steady"
	}
	return "loose"
}

// step of the numerical slopes, in logarithms.
const step = 1e-4

// Variance is that of a time's logarithm that comes from the coefficients. Uses of one coefficient share
// most of their levels, so that their errors add up.
func (p *Predictor) Variance(s func(c []float64) float64) (variance float64) {
	base := s(p.values)
	type sum struct{ slope, most, variance float64 }
	by := map[string]*sum{}
	c := append([]float64(nil), p.values...)
	for i, u := range p.uses.list {
		c[i] *= 1 + step
		slope := math.Log(s(c)/base) / step
		c[i] = p.values[i]
		x := by[u.Name]
		if x == nil {
			x = &sum{}
			by[u.Name] = x
		}
		x.slope += slope
		if math.Abs(slope) >= x.most {
			x.most, x.variance = math.Abs(slope), p.variance[i]
		}
	}
	for _, name := range coefficients {
		if x := by[name]; x != nil {
			variance += x.slope * x.slope * x.variance
		}
	}
	return variance
}

// leastStep is the time in which the memory could move what a step of n users reads.
func (m *Model) leastStep(n, depth float64) (t float64) {
	kv, touched := n*m.work.read(depth), m.work.reads(n)
	for i := range m.stages {
		s := &m.stages[i]
		bytes := kv * s.Dense
		for _, g := range m.work.groups {
			bytes += g.bytes(&s.Stage, touched)
		}
		t += bytes / s.bandwidth
	}
	return t
}

// leastPrefill is the time in which the peak could do the operations of a prompt.
func (m *Model) leastPrefill(n, depth float64) (t float64) {
	attention := m.work.attention(n, depth)
	for i := range m.stages {
		s := &m.stages[i]
		flops := attention * s.Dense
		for _, g := range m.work.groups {
			flops += 2*n*(g.denseElems*s.Dense+g.expertElems*m.work.used*s.Experts) + 2*g.headElems*s.Head
		}
		t += flops / s.peak
	}
	return t
}

// deviceStep is what a step of n users takes the device, its own host's share of it included.
func (p *Predictor) deviceStep(n, touched, kv float64) float64 {
	t := p.values[p.uses.step]
	for i := range p.stages {
		t += p.stageStep(i, n, touched, kv, p.values)
	}
	return t
}

// parts of the time of a step of n users: what weights take, the cache, and the host.
func (p *Predictor) parts(n, depth float64) []speed.Part {
	kv := n * p.work.read(depth)
	total := p.step(n, depth, p.work.reads(n))(p.values)
	cache, host := 0.0, p.values[p.uses.step]+p.awaited(p.deviceStep(n, p.work.reads(n), kv), p.values)
	for i := range p.stages {
		s, at := &p.stages[i], &p.uses.at[i]
		cache += p.values[at.cache] * kv * s.Dense / s.bandwidth
		host += p.values[at.launch] * p.work.kernels * s.Dense
	}
	return []speed.Part{{Name: "weights", Seconds: math.Max(0, total-cache-host), Bound: p.waits(n)}, {Name: "kv_cache", Seconds: cache, Bound: speed.Memory}, {Name: "host", Seconds: host, Bound: speed.Host}}
}

// waits says what the weights of a step of n users wait for: the memory, or their products where these take longer.
func (p *Predictor) waits(n float64) speed.Bound {
	if n <= 1 {
		return speed.Memory
	}
	var read, multiply float64
	touched := p.work.reads(n)
	for i := range p.stages {
		read += p.stageStep(i, 1, touched, 0, p.values) - p.values[p.uses.at[i].launch]*p.work.kernels*p.stages[i].Dense
		multiply += p.multiplied(i, n, p.values)
	}
	if multiply > read {
		return speed.Compute
	}
	return speed.Memory
}
