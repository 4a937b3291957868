package quant

import (
	"cmp"
	"math"

	"github.com/memwall/memwall/internal/stable"
)

// Spread is the distribution of the weights of all matrices, each in units of its root mean square.
type Spread struct {
	// Magnitudes are shares of elements, in two bins per octave; the first bin starts at SpreadFrom.
	Magnitudes []float64 `json:"magnitudes"`
	// Normal holds the bins for a normal distribution.
	Normal []float64 `json:"normal"`
	// Outliers are the matrices with the largest share of elements beyond six times the root mean square.
	Outliers []OutlierRow `json:"outliers,omitempty"`
}

// OutlierRow is a matrix with elements far out.
type OutlierRow struct {
	Tensor   string  `json:"tensor"`
	Share    float64 `json:"share"`   // of its elements
	Largest  float64 `json:"largest"` // in root mean squares
	Kurtosis float64 `json:"kurtosis"`
}

// SpreadFrom is the start of the first bin, SpreadPerOctave the number of bins per factor of two.
const (
	SpreadFrom      = 1.0 / 256
	SpreadPerOctave = 2
	spreadBins      = SpreadPerOctave * 16
	mostOutliers    = 8
)

// SpreadOf returns the distribution over all matrices that were read.
func SpreadOf(all []*Measured) *Spread {
	s := &Spread{Magnitudes: make([]float64, spreadBins), Normal: make([]float64, spreadBins)}
	var elements int64
	for _, m := range all {
		if m.Survey == nil || m.Kept != "" || m.Survey.Squares == 0 {
			continue
		}
		elements += m.Survey.Elements
		s.add(m)
	}
	for i := range s.Magnitudes {
		s.Magnitudes[i] /= float64(max(1, elements))
		s.Normal[i] = math.Erf(edgeOf(i+1)/math.Sqrt2) - math.Erf(edgeOf(i)/math.Sqrt2)
	}
	stable.Sort(s.Outliers, func(a, b OutlierRow) int { return cmp.Compare(b.Share, a.Share) })
	s.Outliers = s.Outliers[:min(len(s.Outliers), mostOutliers)]
	return s
}

func edgeOf(bin int) float64 { return SpreadFrom * math.Exp2(float64(bin)/SpreadPerOctave) }

func (s *Spread) add(m *Measured) {
	rms := m.Survey.RMS()
	for b, n := range m.Survey.Magnitudes {
		if middle := (Edge(b) + Edge(b+1)) / 2; n > 0 && b > 0 {
			at := int(math.Floor(SpreadPerOctave * math.Log2(middle/rms/SpreadFrom)))
			s.Magnitudes[max(0, min(spreadBins-1, at))] += float64(n)
		}
	}
	if far := m.Survey.Beyond(6); far > 0 {
		s.Outliers = append(s.Outliers, OutlierRow{m.Name, float64(far) / float64(m.Survey.Elements), float64(m.Survey.AbsMax) / rms,
			m.Survey.Kurtosis()})
	}
}
