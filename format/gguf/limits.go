package gguf

// Limits of llama.cpp's reader: GGUF_MAX_STRING_LENGTH, GGUF_MAX_ARRAY_ELEMENTS, GGML_MAX_NAME and
// GGML_MAX_DIMS (ggml/src/gguf.cpp, ggml/include/ggml.h).
const (
	maxString = 1 << 30
	maxArray  = 1 << 30
	maxName   = 63
	maxDims   = 4
)

// maxKey is the limit in the format's specification (docs/gguf.md of ggml).
const maxKey = 1<<16 - 1

// Our own limits. The largest published headers have a few thousand tensors, about a hundred pairs and some 30 MB,
// nearly all of it tokens and merges.
const (
	maxHeader  = 1 << 30  // bytes of a header, to bound time
	maxKept    = 32 << 20 // bytes of names and values retained, to bound memory
	maxPairs   = 1 << 16
	maxTensors = 1 << 18
	maxSplits  = 1<<16 - 1 // split.count is 16 bits wide
	maxInt32   = 1<<31 - 1 // split.tensors.count is 32 bits wide
)

// Limits on retained values; of longer ones only the length is retained.
const (
	keptElems  = 1 << 16
	keptString = 64 << 10
)

const (
	defaultAlignment = 32 // GGUF_DEFAULT_ALIGNMENT
	room             = 256 << 10
)
