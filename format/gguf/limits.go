package gguf

// Limits of llama.cpp's reader: GGUF_MAX_STRING_LENGTH, GGUF_MAX_ARRAY_ELEMENTS, GGML_MAX_NAME and
// GGML_MAX_DIMS (ggml/src/gguf.cpp, ggml/include/ggml.h).
const (
	maxString = 1 << 30
	maxArray  = 1 << 30
	maxName   = 63
	maxDims   = 4
)

// maxKey is the limit of the format's description (docs/gguf.md of ggml).
const maxKey = 1<<16 - 1

// Limits of our own. The largest published headers hold a few thousand tensors, about a hundred pairs and
// some 30 MB, nearly all of it tokens and merges.
const (
	maxHeader  = 1 << 30  // bytes of a header, so that walking one ends
	maxKept    = 32 << 20 // bytes of names and values kept, so that memory ends
	maxPairs   = 1 << 16
	maxTensors = 1 << 18
	maxSplits  = 1<<16 - 1 // split.count is 16 bits wide
	maxInt32   = 1<<31 - 1 // split.tensors.count is 32 bits wide
)

// What is kept of a value; of longer ones only the length.
const (
	keptElems  = 1 << 16
	keptString = 64 << 10
)

const (
	defaultAlignment = 32 // GGUF_DEFAULT_ALIGNMENT
	room             = 256 << 10
)
