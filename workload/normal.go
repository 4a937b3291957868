package workload

import "math"

// ziggurat covers half of a normal density with strips of equal area (Marsaglia and Tsang, The Ziggurat Method for
// Generating Random Variables, Journal of Statistical Software 5, 2000): nearly every sample takes one multiplication
// and one comparison. Strip i extends from 0 to edge[i]; the lowest includes the tail.
type ziggurat struct{ edge, height [strips + 1]float64 }

const (
	strips = 256
	tail   = 3.6541528853610088     // where the tail begins
	strip  = 0.00492867323399141131 // area of each strip, of the density without the factor 1/√2π
)

var normalStrips = newZiggurat()

func newZiggurat() *ziggurat {
	z := &ziggurat{}
	z.edge[0], z.edge[1] = strip/density(tail), tail
	for i := 2; i < strips; i++ {
		z.edge[i] = math.Sqrt(-2 * logarithm(strip/z.edge[i-1]+density(z.edge[i-1])))
	}
	for i := range z.height {
		z.height[i] = density(z.edge[i])
	}
	return z
}

// density returns the normal density, unnormalized.
func density(x float64) float64 { return exponent(float64(x*x) / -2) }

// normal returns a standard normal number.
func (s *stream) normal() float64 {
	z := normalStrips
	for {
		bits := s.pcg.Uint64()
		i := bits & (strips - 1)
		x := float64(share(bits) * z.edge[i])
		if x >= z.edge[i+1] {
			if i == 0 {
				x = s.beyond()
			} else if z.height[i]+float64(s.float()*(z.height[i+1]-z.height[i])) >= density(x) {
				continue
			}
		}
		if bits&strips != 0 {
			return -x
		}
		return x
	}
}

// beyond returns a number from the tail.
func (s *stream) beyond() float64 {
	for {
		x, y := s.exponential()/tail, s.exponential()
		if 2*y > float64(x*x) {
			return tail + x
		}
	}
}
