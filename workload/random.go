package workload

import (
	"math"
	"math/rand/v2"
)

// stream is the random numbers for one aspect, such as the lengths of prompts. Aspects are independent, so that
// workloads that differ in one are equal in the others and their effects on a server can be compared.
type stream struct {
	pcg    rand.PCG
	hi, lo uint64 // derived from seed and aspect
}

// newStream returns the stream of an aspect, identified by name rather than by order.
func newStream(seed uint64, subject string) stream {
	h := hash(subject)
	s := stream{hi: mix(seed + h), lo: mix(mix(seed) ^ h)}
	s.seek(0, 0)
	return s
}

// seek positions the stream at a turn of a session, so that a session does not depend on how fast others are served.
func (s *stream) seek(session, turn uint64) {
	s.pcg.Seed(mix(s.hi+session), mix(s.lo^(session<<20)+turn))
}

// mix diffuses every bit (the finalizer of SplitMix64: Steele, Lea and Flood, OOPSLA 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// float returns a uniform number in the open interval (0, 1).
func (s *stream) float() float64 {
	return share(s.pcg.Uint64())
}

// share maps the upper bits to (0, 1).
func share(bits uint64) float64 { return (float64(bits>>12) + 0.5) * 0x1p-52 }

// exponential returns an exponential number with mean 1, by inversion.
func (s *stream) exponential() float64 { return -logarithm(s.float()) }

// gamma returns a gamma number with scale 1 (Marsaglia and Tsang, A Simple Method for Generating Gamma Variables, ACM
// TOMS 26, 2000); a shape below 1 is obtained from one above and a power of a uniform number, as in their section 6.
func (s *stream) gamma(shape float64) float64 {
	if shape < 1 {
		u := s.float()
		return s.gamma(shape+1) * exponent(logarithm(u)/shape)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := s.normal()
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = float64(v*v) * v
		if logarithm(s.float()) < float64(x*x/2)+d-float64(d*v)+float64(d*logarithm(v)) {
			return d * v
		}
	}
}
