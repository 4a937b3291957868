package model

// LayerBits is what an element inside the layers takes in a storage of the model, scales included. Embedding and
// head do not count: recipes differ in whether they touch them, and outputs depend little on how.
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
