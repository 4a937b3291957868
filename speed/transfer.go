package speed

import (
	_ "embed"
	"sync"

	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/unit"
)

// Move is a transfer over a link in each step: of weights or caches in host memory, on NVMe or in a pool.
type Move struct {
	Name  string
	Bytes float64
	Rate  unit.ByteRate // of the link in one direction, or of the store behind it if slower
}

// copies.tsv is written by validation/fit/copies.
//
//go:embed copies.tsv
var copies []byte

// CopyUse is the coefficient for the share of a link's rate that large copies reach.
var CopyUse = coef.Use{Name: "copy", Levels: []coef.Level{{Name: "all", Key: "all"}}}

// LinkShare returns that share with its band, from measured host-to-device copies.
var LinkShare = sync.OnceValues(func() (f Figure, err error) {
	t, err := coef.Parse(copies)
	if err != nil {
		return f, err
	}
	c := t.At(CopyUse)
	s, _ := t.Spread(CopyUse.Name)
	f.Mid = c.Value
	f.Low, f.High = s.Band(c.Value, c.Var)
	return f, nil
})

// Seconds returns the duration of the transfer at a share of the link's rate.
func (m Move) Seconds(share Figure) Figure {
	return share.Inverse().Times(m.Bytes / float64(m.Rate))
}

// Exposed returns the time that transfers add to a step with the given compute time: a layer is copied while the
// previous one is computed, so only the excess shows (FlexGen, arXiv:2303.06865, section 4).
func Exposed(compute Figure, moves []Move, share Figure) (f Figure) {
	for _, m := range moves {
		s := m.Seconds(share)
		f.Mid, f.Low, f.High = f.Mid+s.Mid, f.Low+s.Low, f.High+s.High
	}
	return Figure{max(0, f.Mid-compute.Mid), max(0, f.Low-compute.High), max(0, f.High-compute.Low)}
}
