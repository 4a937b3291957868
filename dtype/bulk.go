package dtype

// Bulk is the scheme of the matrices that a recipe is about: the experts' in the middle of a large network. Nil
// where a recipe stores no such matrix.
func (r *Recipe) Bulk() *Scheme {
	const wide, layers = 4096, 64
	return r.Pick(&Site{Role: FFNUpExps, Dims: 3, Batch: 64, Rows: wide, Cols: wide, Layer: layers / 2, Nth: layers / 2, Of: layers,
		Model: &Facts{Arch: "llama", Layers: layers, GQA: 8, Experts: 64, Native: BF16}})
}

// BulkBits are the bits of an element of those matrices, scales included; 0 where there are none.
func (r *Recipe) BulkBits() float64 {
	s := r.Bulk()
	if s == nil {
		return 0
	}
	return s.Bits()
}
