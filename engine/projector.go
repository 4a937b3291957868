package engine

import "github.com/memwall/memwall/unit"

// Projector is a GGUF file of a vision tower and what joins it to a language model (mmproj), as llama.cpp reads it. A number that
// its header does not say is 0.
type Projector struct {
	Kind  string     // clip.projector_type: gemma3, qwen2.5vl_merger
	Bytes unit.Bytes // of its tensors
	// Hidden is the width of the tower's stream.
	Hidden, Heads int64
	// Image is the side of a picture and Patch that of a patch, in pixels; Merge patches of each side become one token.
	Image, Patch, Merge int64
	// Out is the width of a token for the model; Deep counts the layers whose states go to it as well.
	Out, Deep int64
}
