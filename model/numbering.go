package model

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/memwall/memwall/dtype"
)

// numbering numbers the tensors of each category in the order of llama.cpp's quantizer: layer by layer. For an
// encoder-decoder the quantizer goes by tensor name, so decoder precedes encoder and layer 10 precedes layer 2
// (src/llama-model-loader.h, weight_name_comparer).
type numbering struct {
	named   bool
	of      [16]int // total in the part; by name, in the model
	counted [16]int // before this layer; by name, before this part
	part    [16]int // in this part
	within  [16]int // in this layer, up to the current tensor
	layer   int
	ranks   []int // rank of each layer in name order
}

// numbered returns the numbering of the model's tensors.
func (m *Model) numbered(named bool) *numbering {
	n := &numbering{named: named}
	for i := 0; named && i < len(m.Parts); i++ {
		n.of = sum(n.of, m.Parts[i].categories())
	}
	return n
}

// begin starts a part; trailing is the number of extra layers that a file stores after it.
func (n *numbering) begin(p *Part, trailing int) {
	before := n.part
	n.part, n.within, n.layer = p.categories(), [16]int{}, InPre
	if n.named {
		n.counted, n.ranks = sum(n.counted, before), namedRanks(len(p.Layers))
		return
	}
	n.counted, n.of = [16]int{}, n.part
	if n.of[dtype.CatV] > 0 {
		n.of[dtype.CatV] += trailing
	}
}

func sum(a, b [16]int) [16]int {
	for i := range a {
		a[i] += b[i]
	}
	return a
}

// next returns the position of the layer's next tensor of category c, and the number of tensors in the category.
func (n *numbering) next(layer int, c dtype.Category) (nth, of int) {
	if layer != n.layer {
		if !n.named {
			n.counted = sum(n.counted, n.within)
		}
		n.layer, n.within = layer, [16]int{}
	}
	nth = n.counted[c] + n.within[c]
	if n.named && layer >= 0 {
		nth += n.ranks[layer] * (n.part[c] / len(n.ranks))
	}
	n.within[c]++
	return nth, n.of[c]
}

// namedRanks returns each layer's rank when layer numbers are sorted as text.
func namedRanks(layers int) []int {
	order := make([]int, layers)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(strconv.Itoa(a), strconv.Itoa(b)) })
	ranks := make([]int, layers)
	for rank, i := range order {
		ranks[i] = rank
	}
	return ranks
}

func (p *Part) categories() (of [16]int) {
	p.Tensors(func(_ int, t *Tensor) { of[t.category()]++ })
	return of
}
