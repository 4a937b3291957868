package dtype

import "github.com/memwall/memwall/unit"

// Scheme is how one tensor is stored: its elements and the companions that lie beside them.
type Scheme struct {
	Name string
	Elem *Format
	With []Companion
}

// Companion is a smaller tensor that belongs to a stored one: scales, zero points, an index.
// It holds one value per Rows × Cols elements (0 means the whole dimension), or one per Flat
// consecutive elements of the whole tensor, or Fixed values.
type Companion struct {
	Name       string
	Elem       *Format
	Rows, Cols int64
	Flat       int64
	Fixed      int64
}

// Of wraps a format that needs no companions.
func Of(f *Format) *Scheme { return plainSchemes[f] }

var plainSchemes = func() map[*Format]*Scheme {
	m := map[*Format]*Scheme{}
	for _, list := range [][]*Format{Plain, GGML, Forked} {
		for _, f := range list {
			m[f] = &Scheme{Name: f.Name, Elem: f}
		}
	}
	return m
}()

// Bytes of a tensor of batch matrices with the given rows and columns.
func (s *Scheme) Bytes(batch, rows, cols int64) unit.Bytes {
	return unit.Bytes(batch) * (unit.Bytes(rows)*s.Elem.Row(cols) + s.ScaleBytes(rows, cols))
}

// ScaleBytes is what the companions of one matrix take.
func (s *Scheme) ScaleBytes(rows, cols int64) (b unit.Bytes) {
	for i := range s.With {
		b += s.With[i].bytes(rows, cols)
	}
	return b
}

// Values is how many stored numbers the tensor has, companions and packed words included, when elements
// narrower than a byte are packed into words of packed bytes: what a file's own parameter count says.
func (s *Scheme) Values(batch, rows, cols, packed int64) int64 {
	n := rows * cols
	if s.Elem.BlockElems > 1 {
		n = int64(unit.Bytes(rows)*s.Elem.Row(cols)) / packed
	}
	for i := range s.With {
		c := &s.With[i]
		k := c.values(rows, cols)
		if c.Elem.BlockElems > 1 {
			k = int64(c.Elem.Row(k)) / packed
		}
		n += k
	}
	return batch * n
}

func (c *Companion) bytes(rows, cols int64) unit.Bytes { return c.Elem.Row(c.values(rows, cols)) }

func (c *Companion) values(rows, cols int64) int64 {
	switch {
	case c.Fixed > 0:
		return c.Fixed
	case c.Flat > 0:
		return unit.CeilDiv(rows*cols, c.Flat)
	}
	return parts(rows, c.Rows) * parts(cols, c.Cols)
}

func parts(n, per int64) int64 {
	if per == 0 {
		return 1
	}
	return unit.CeilDiv(n, per)
}

// Bits per element of a large matrix, companions included.
func (s *Scheme) Bits() float64 {
	const n = 1 << 13
	return 8 * float64(s.Bytes(1, n, n)) / (n * n)
}
