package dtype

// Bulk returns the scheme of the matrices that hold most of the weights: the experts in the middle layers of a large
// network. It is nil if the recipe stores no such matrix.
func (r *Recipe) Bulk() *Scheme {
	const wide, layers = 4096, 64
	return r.Pick(&Site{Role: FFNUpExps, Dims: 3, Batch: 64, Rows: wide, Cols: wide, Layer: layers / 2, Nth: layers / 2, Of: layers,
		Model: &Facts{Arch: "llama", Layers: layers, GQA: 8, Experts: 64, Native: BF16}})
}

// BulkBits returns the bits per element of those matrices, scales included; 0 if there are none.
func (r *Recipe) BulkBits() float64 {
	s := r.Bulk()
	if s == nil {
		return 0
	}
	return s.Bits()
}
