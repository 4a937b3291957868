package model

// LayerBits returns the bits per weight within the layers as stored, scales included. Embedding and head are excluded:
// recipes differ in whether they quantize them, and quality depends little on it.
func (m *Model) LayerBits(w *Weights) float64 {
	bytes, elements := 0., 0.
	for i := range m.Parts {
		p := &m.Parts[i]
		for j := range p.Kinds {
			elements += float64(p.Counts[j] * p.Kinds[j].Params())
		}
		for j := range w.Parts[i].Variants {
			v := &w.Parts[i].Variants[j]
			bytes += float64(v.Count) * float64(v.Bytes())
		}
	}
	return 8 * bytes / max(1, elements)
}
