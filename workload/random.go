package workload

import (
	"math"
	"math/rand/v2"
)

// stream are random numbers of one subject, such as the lengths of prompts. What is drawn of one subject changes no
// other, so that workloads which differ in one of them are alike in the rest, and what they do to a server can be
// compared.
type stream struct {
	pcg    rand.PCG
	hi, lo uint64 // what the seed and the subject make of each other
}

// newStream of a subject. Its name, and not its place among others, tells it apart.
func newStream(seed uint64, subject string) stream {
	h := hash(subject)
	s := stream{hi: mix(seed + h), lo: mix(mix(seed) ^ h)}
	s.seek(0, 0)
	return s
}

// seek makes the numbers that follow those of one turn of one session, whichever were drawn before: a session is the same
// however fast others are served.
func (s *stream) seek(session, turn uint64) {
	s.pcg.Seed(mix(s.hi+session), mix(s.lo^(session<<20)+turn))
}

// mix spreads every bit over all (the finaliser of SplitMix64: Steele, Lea and Flood, OOPSLA 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// float is uniform between 0 and 1, and never either.
func (s *stream) float() float64 {
	return share(s.pcg.Uint64())
}

// share of 1 that the upper bits say.
func share(bits uint64) float64 { return (float64(bits>>12) + 0.5) * 0x1p-52 }

// exponential of mean 1, by inversion.
func (s *stream) exponential() float64 { return -logarithm(s.float()) }

// gamma of a shape and scale 1 (Marsaglia and Tsang, A Simple Method for Generating Gamma Variables, ACM TOMS 26, 2000);
// a shape below 1 is one above it times a power of a uniform number, as their section 6 says.
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
