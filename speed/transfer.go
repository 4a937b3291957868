package speed

import "github.com/memwall/memwall/unit"

// Move is what a step brings over a link: weights or caches that lie in host memory, on NVMe or in a pool.
type Move struct {
	Name  string
	Bytes float64
	Rate  unit.ByteRate // of the link one way, or of the store behind it where that is slower
}

// linkShare is what large copies reach of a link's rate: 12.35 of 15.75 GB/s on a V100 (te42kyfo/gpu-benches), 377
// of 450 on a GH200 (dnhkng.github.io), 360 of 450 on a GB300 (nvbandwidth, as ml-engineering quotes it).
var linkShare = Figure{Mid: 0.8, Low: 0.7, High: 0.88}

// Seconds of the copy.
func (m Move) Seconds() Figure {
	return Figure{Mid: m.Bytes / (float64(m.Rate) * linkShare.Mid), Low: m.Bytes / (float64(m.Rate) * linkShare.High), High: m.Bytes / (float64(m.Rate) * linkShare.Low)}
}

// Exposed is the time by which copies lengthen a step that computes for so long: a layer is copied while the one
// before is computed, so that only what takes longer shows (FlexGen, arXiv:2303.06865, section 4).
func Exposed(compute Figure, moves []Move) (f Figure) {
	for _, m := range moves {
		s := m.Seconds()
		f.Mid, f.Low, f.High = f.Mid+s.Mid, f.Low+s.Low, f.High+s.High
	}
	return Figure{max(0, f.Mid-compute.Mid), max(0, f.Low-compute.High), max(0, f.High-compute.Low)}
}
