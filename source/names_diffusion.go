package source

import (
	"slices"
	"strings"

	"github.com/memwall/memwall/model/family"
)

// What diffusers' files call the tensors of diffusion transformers, in the manner of names.go.

// denoiserStacks are the words before a block's number whose blocks do not come first, and what the first of them is called
// in the model.
var denoiserStacks = map[string]string{"transformer_blocks": "joint block", "single_transformer_blocks": "block", "refiner_blocks": "text block", "context_refiner": "text block", "layers": "block"}

// behind says how many blocks of a denoiser come before those of the stack that a name is of.
func behind(p *filedPart, name string) int {
	for word := range strings.SplitSeq(name, ".") {
		kind, ok := denoiserStacks[word]
		if !ok {
			continue
		}
		return max(0, slices.IndexFunc(p.part.Layers, func(k uint8) bool { return p.part.Kinds[k].Name == kind }))
	}
	return 0
}

// isDenoiser reports whether a part is the transformer of a diffusion model.
func isDenoiser(part string) bool {
	return part == family.PartDenoiser || part == family.PartSecondDenoiser
}
