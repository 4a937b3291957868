package model

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/memwall/memwall/dtype"
)

// numbering counts the tensors of each category as llama.cpp's quantiser meets them: layer by layer. The tensors of an
// encoder-decoder have no number where it looks for one: they come by name, the decoder's before the encoder's, layer 10
// before layer 2 (src/llama-model-loader.h, weight_name_comparer).
type numbering struct {
	named   bool
	of      [16]int // of the part, or by name of the model
	counted [16]int // before this layer, or by name before this part
	part    [16]int // of this part
	within  [16]int // of this layer, as far as it was asked about
	layer   int
	ranks   []int // of each layer among names
}

// numbered is the numbering of a model's tensors.
func (m *Model) numbered(named bool) *numbering {
	n := &numbering{named: named}
	for i := 0; named && i < len(m.Parts); i++ {
		n.of = sum(n.of, m.Parts[i].categories())
	}
	return n
}

// begin a part; trailing are the layers that a file holds behind those of the part.
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

// next tensor of the layer: the how manieth of how many of its category it is.
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

// namedRanks is each layer's place when their numbers are sorted as text.
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
