package quant

import (
	"math"

	"github.com/memwall/memwall/unit"
)

// Survey is what is known of a matrix before encoding: what some formats need of the whole of it, and the distribution
// of its numbers.
type Survey struct {
	Rows, Cols int64
	Elements   int64
	Min, Max   float32 // range extended to include 0
	AbsMax     float32
	Sum        float64
	Squares    float64
	Fourths    float64
	NaN, Inf   int64 // counts; a matrix with any is not encoded
	Zeros      int64
	ZeroRows   int64
	// BlockMax is the sum of the largest magnitudes of Blocks runs of 64 elements.
	BlockMax float64
	Blocks   int64
	// Magnitudes counts elements by magnitude: bin b covers Edge(b) to Edge(b+1), four bins per octave.
	Magnitudes [1024]int64
	// Inputs of the matrix; nil if unknown. Sample is some of its rows, kept only if inputs are known.
	Inputs *Inputs     `json:"-"`
	Sample [][]float32 `json:"-"`
	// Outliers are the columns that LLM.int8 keeps in 16 bits, ascending, known from activations only.
	Outliers []int32

	seen int64 // rows
}

// flatRun is the block of bitsandbytes' 4-bit formats.
const flatRun = 64

// NewSurvey starts a survey.
func NewSurvey(rows, cols int64) *Survey {
	return &Survey{Rows: rows, Cols: cols}
}

// Add processes further whole rows. All calls but the last must pass a multiple of 64 elements.
func (s *Survey) Add(x []float32) {
	for i := 0; i < len(x); i += flatRun {
		s.block(x[i:min(i+flatRun, len(x))])
	}
	s.rows(x)
}

func (s *Survey) block(x []float32) {
	var up int32 // as in outermost
	var down uint32
	var sum, squares, fourths float64
	s.Elements += int64(len(x))
	all := x
	for ; len(x) >= 8; x = x[8:] {
		x := (*[8]float32)(x)
		b0, b1, b2, b3 := math.Float32bits(x[0]), math.Float32bits(x[1]), math.Float32bits(x[2]), math.Float32bits(x[3])
		b4, b5, b6, b7 := math.Float32bits(x[4]), math.Float32bits(x[5]), math.Float32bits(x[6]), math.Float32bits(x[7])
		up = max(up, int32(b0), int32(b1), int32(b2), int32(b3), int32(b4), int32(b5), int32(b6), int32(b7))
		down = max(down, b0, b1, b2, b3, b4, b5, b6, b7)
		s.Magnitudes[b0<<1>>22]++
		s.Magnitudes[b1<<1>>22]++
		s.Magnitudes[b2<<1>>22]++
		s.Magnitudes[b3<<1>>22]++
		s.Magnitudes[b4<<1>>22]++
		s.Magnitudes[b5<<1>>22]++
		s.Magnitudes[b6<<1>>22]++
		s.Magnitudes[b7<<1>>22]++
		// sums of four first, so that an addition need not wait for the one before
		w0, w1, w2, w3 := float64(x[0]), float64(x[1]), float64(x[2]), float64(x[3])
		sum += (w0 + w1) + (w2 + w3)
		w0, w1, w2, w3 = w0*w0, w1*w1, w2*w2, w3*w3
		squares += (w0 + w1) + (w2 + w3)
		fourths += (w0*w0 + w1*w1) + (w2*w2 + w3*w3)
		w0, w1, w2, w3 = float64(x[4]), float64(x[5]), float64(x[6]), float64(x[7])
		sum += (w0 + w1) + (w2 + w3)
		w0, w1, w2, w3 = w0*w0, w1*w1, w2*w2, w3*w3
		squares += (w0 + w1) + (w2 + w3)
		fourths += (w0*w0 + w1*w1) + (w2*w2 + w3*w3)
	}
	for _, v := range x {
		b := math.Float32bits(v)
		up, down = max(up, int32(b)), max(down, b)
		s.Magnitudes[b<<1>>22]++
		w := float64(v)
		sum, squares, fourths = sum+w, squares+w*w, fourths+w*w*w*w
	}
	s.finish(all, up, down, sum, squares, fourths)
}

// finish adds what was found of a run.
func (s *Survey) finish(x []float32, up int32, down uint32, sum, squares, fourths float64) {
	const sign, infinite = 1 << 31, 0xff << f32Fraction
	lo, hi := float32(0), math.Float32frombits(uint32(up))
	if down >= sign {
		lo = math.Float32frombits(down)
	}
	if up >= infinite || down >= sign|infinite {
		s.broken(x)
		return
	}
	a := max(hi, -lo)
	s.Min, s.Max, s.AbsMax = min(s.Min, lo), max(s.Max, hi), max(s.AbsMax, a)
	s.Sum, s.Squares, s.Fourths = s.Sum+sum, s.Squares+squares, s.Fourths+fourths
	s.BlockMax += float64(a)
	s.Blocks++
}

func (s *Survey) broken(x []float32) {
	for _, v := range x {
		switch {
		case v != v:
			s.NaN++
		case v-v != 0:
			s.Inf++
		}
	}
}

func (s *Survey) rows(x []float32) {
	for n := int(s.Cols); n > 0 && len(x) >= n; x = x[n:] {
		if zero(x[:n]) {
			s.ZeroRows++
		}
		if s.Inputs != nil && s.seen%unit.CeilDiv(s.Rows, sampleRows) == 0 {
			s.Sample = append(s.Sample, append([]float32(nil), x[:n]...))
		}
		s.seen++
	}
	s.Zeros = s.Magnitudes[0]
}

// sampleRows is how many rows of a matrix are kept at most to try settings on.
const sampleRows = 32

func zero(x []float32) bool {
	for _, v := range x {
		if v != 0 {
			return false
		}
	}
	return true
}

// Finite reports whether every number is finite.
func (s *Survey) Finite() bool { return s.NaN+s.Inf == 0 }

// RMS returns the root mean square.
func (s *Survey) RMS() float64 { return math.Sqrt(s.Squares / float64(max(1, s.Elements))) }

// Kurtosis returns the mean fourth power over the squared mean square: 3 for normal numbers.
func (s *Survey) Kurtosis() float64 {
	if s.Squares == 0 {
		return 0
	}
	return s.Fourths * float64(s.Elements) / (s.Squares * s.Squares)
}

// Edge returns the smallest magnitude of a bin.
func Edge(bin int) float64 { return float64(math.Float32frombits(uint32(bin) << 21)) }

// Beyond counts elements larger than the given multiple of the root mean square, to the width of a bin.
func (s *Survey) Beyond(sigmas float64) (n int64) {
	from := math.Float32bits(float32(sigmas*s.RMS()))>>21 + 1
	for _, c := range s.Magnitudes[min(int(from), len(s.Magnitudes)):] {
		n += c
	}
	return n
}

// blockMean returns the mean of the largest magnitudes of runs of 64.
func (s *Survey) blockMean() float32 { return float32(s.BlockMax / float64(max(1, s.Blocks))) }
