package serving

import "github.com/memwall/memwall/speed/coef"

// Evidence is the nearest level of which the table has measurements of matrix products, and how many.
func (m *Model) Evidence() (level string, rows int) {
	d := &m.device
	return m.table.Nearest(productCoefs[1], coef.Level{Name: "device", Key: d.id}, coef.Level{Name: "family", Key: d.family})
}
