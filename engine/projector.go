package engine

import "github.com/memwall/memwall/unit"

// Projector is a GGUF file with a vision tower and its connection to a language model (mmproj), as llama.cpp reads it.
// Numbers missing from its header are 0.
type Projector struct {
	Kind  string     // clip.projector_type: gemma3, qwen2.5vl_merger
	Bytes unit.Bytes // of its tensors
	// Hidden is the width of the tower's stream, Heads its attention heads.
	Hidden, Heads int64
	// Image is the side of an image and Patch that of a patch, in pixels; Merge × Merge patches become one token.
	Image, Patch, Merge int64
	// Out is the width of a token for the model; Deep counts the layers whose states are also fed to it.
	Out, Deep int64
}
