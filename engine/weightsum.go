package engine

import (
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// WeightSum is the size of one layer of a variant, or of the tensors before or after the layers, and the rank's number
// of such layers.
type WeightSum struct {
	Name  string // an input's name
	Count int64
	Bytes unit.Bytes
}

// WeightSums returns the sizes of what the rank stores. They do not depend on the load, so a Sizer computes them once.
func (pl *Placed) WeightSums() []WeightSum {
	groups := pl.WeightGroups()
	out := make([]WeightSum, len(groups))
	for i := range groups {
		out[i] = WeightSum{InputName(groups[i].Name), groups[i].Count, groups[i].bytes()}
	}
	return out
}

// ExpertSums returns the sizes of routed experts alone.
func (pl *Placed) ExpertSums() (out []WeightSum) {
	for _, g := range pl.WeightGroups() {
		var b unit.Bytes
		for i := range g.Tensors {
			if g.Tensors[i].Role.Expert() {
				b += g.Tensors[i].Local
			}
		}
		if b > 0 {
			out = append(out, WeightSum{InputName(g.Name), g.Count, b})
		}
	}
	return out
}

// BookWeights books the decoder's share of weights: each kind of layer times its count, plus the tensors before and
// after.
func BookWeights(b *ledger.Book, sums []WeightSum, source string) ledger.Item {
	var total ledger.Num
	for i := range sums {
		n := b.Size(sums[i].Name, sums[i].Bytes, "sum over tensors, this rank")
		if sums[i].Count > 1 {
			n = b.Mul(b.Int("layers", sums[i].Count, sums[i].Name), n)
		}
		if i > 0 {
			n = b.Add(total, n)
		}
		total = n
	}
	return ledger.Known("weights", "weights", total, ledger.Exact, ledger.Persistent, ledger.Device, source)
}

// Rebook returns the items that OtherParts computed before, which do not depend on the load; with a Book it computes
// them again to record formulas.
func Rebook(b *ledger.Book, j *Job, pl *Placed, voice Voice, sized []ledger.Item) []ledger.Item {
	if b == nil {
		return sized
	}
	return OtherParts(b, j, pl, voice)
}
