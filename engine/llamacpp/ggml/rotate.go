package ggml

// A quantised cache stores keys and values multiplied by Hadamard matrices, so that outliers spread
// (src/llama-kv-cache.cpp, v0.5.0). Heads that do not divide by rotationStep, and latents, are not rotated.
const rotationStep = 64

// keyRotation is the largest power of two that divides a head of keys, 0 for no rotation.
func keyRotation(dim int64) (w int64) {
	if dim <= 0 || dim%rotationStep != 0 {
		return 0
	}
	for w = rotationStep; dim%(2*w) == 0; w *= 2 {
	}
	return w
}

func valueRotation(dim int64) int64 {
	if dim <= 0 || dim%rotationStep != 0 {
		return 0
	}
	return rotationStep
}

// rotated multiplies a value of out elements a token by the matrix of its cache; dim > 0 gives it back in
// heads of that width.
func (l *lowering) rotated(matrix *ID, w int64, x ID, out, dim int64) ID {
	if *matrix == 0 {
		*matrix = l.leaf(f32, n(w), n(w))
	}
	ne := []Dim{n(w), by(out/w, tokens)}
	y := l.new(MulMat, f32, dims(ne...), *matrix, l.straight(x, ne...))
	if dim > 0 {
		return l.reshape(y, n(dim), n(out/dim), sym(tokens))
	}
	return l.reshape(y, n(out), sym(tokens))
}
