package workload

import "math"

// sampler samples a distribution. It is a plain value, so sampling does not allocate.
type sampler struct {
	kind     kind
	a, b     float64 // meaning depends on the kind
	min, max float64
	values   []float64
	of       alias
}

type kind uint8

const (
	fixed       kind = iota // a
	uniform                 // a plus a share of b
	exponential             // of mean a
	gammaLaw                // of shape a and scale b
	lognormal               // of mean a and deviation b of the logarithm
	empirical               // one of values
)

// sampler returns the sampler of a valid law. Integers between bounds are equally likely, bounds included.
func (l *Law) sampler(whole bool) sampler {
	s := sampler{min: l.Min, max: l.Max}
	if s.max == 0 {
		s.max = math.Inf(1)
	}
	switch l.kind() {
	case "uniform":
		s.uniform(l, whole)
	case "exponential":
		s.kind, s.a = exponential, l.Mean
	case "gamma":
		s.gamma(l.Mean, l.CV)
	case "lognormal":
		s.lognormal(l.Mean, l.CV)
	case "empirical":
		s.kind, s.values, s.of = empirical, l.Values, newAlias(len(l.Values), l.weight)
	default:
		s.kind, s.a = fixed, l.Mean
	}
	return s
}

func (l *Law) weight(i int) float64 {
	if len(l.Weights) == 0 {
		return 1
	}
	return l.Weights[i]
}

// uniform sets min and max, or derives them from mean and cv: the deviation is the range over √12.
func (s *sampler) uniform(l *Law, whole bool) {
	s.kind, s.a, s.b = uniform, l.Min, l.Max-l.Min
	switch {
	case l.Max == 0:
		half := float64(math.Sqrt(3) * l.CV * l.Mean)
		s.a, s.b = l.Mean-half, 2*half
	case whole:
		s.a, s.b = l.Min-0.5, l.Max-l.Min+1
	}
}

// gamma derives shape 1/cv² and scale mean·cv².
func (s *sampler) gamma(mean, cv float64) {
	if cv == 0 {
		s.kind, s.a = fixed, mean
		return
	}
	v := float64(cv * cv)
	s.kind, s.a, s.b = gammaLaw, 1/v, float64(mean*v)
}

// lognormal derives σ² = ln(1 + cv²) and μ = ln(mean) - σ²/2 (Johnson, Kotz and Balakrishnan, Continuous Univariate
// Distributions 1, chapter 14).
func (s *sampler) lognormal(mean, cv float64) {
	v := logarithm(1 + float64(cv*cv))
	s.kind, s.a, s.b = lognormal, logarithm(mean)-float64(v/2), math.Sqrt(v)
}

// draw returns a value.
func (s *sampler) draw(r *stream) float64 {
	x := s.a
	switch s.kind {
	case uniform:
		x += float64(s.b * r.float())
	case exponential:
		x = float64(s.a * r.exponential())
	case gammaLaw:
		x = float64(s.b * r.gamma(s.a))
	case lognormal:
		x = exponent(s.a + float64(s.b*r.normal()))
	case empirical:
		x = s.values[s.of.draw(r)]
	}
	return between(x, s.min, s.max)
}

// between returns min(max(x, low), high) for non-NaN numbers, faster than the builtins.
func between(x, low, high float64) float64 {
	if x < low {
		return low
	}
	if x > high {
		return high
	}
	return x
}

// tokens draws an integer from 1 to MaxTokens.
func (s *sampler) tokens(r *stream) int64 {
	return int64(between(s.draw(r), 1, MaxTokens) + 0.5)
}
