package source

import (
	"slices"
	"strings"

	"github.com/memwall/memwall/model/family"
)

// Names of diffusion transformers' tensors in diffusers' files; see names.go.

// denoiserStacks maps a stack's name to the name, in the model, of its first block, for stacks that do not come first.
var denoiserStacks = map[string]string{"transformer_blocks": "joint block", "single_transformer_blocks": "block", "refiner_blocks": "text block", "context_refiner": "text block", "layers": "block"}

// behind returns the number of a denoiser's blocks that precede the stack of a name.
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
