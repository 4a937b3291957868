package dtype

import "github.com/memwall/memwall/unit"

// Scheme says how one tensor is stored: the format of its elements, and companion tensors.
type Scheme struct {
	Name string
	Elem *Format
	With []Companion
}

// Companion is a smaller tensor stored with another: scales, zero points, an index. It has one value per Rows × Cols
// elements (0 means the whole dimension), or one per Flat consecutive elements of the whole tensor, or Fixed values.
type Companion struct {
	Name       string
	Elem       *Format
	Rows, Cols int64
	Flat       int64
	Fixed      int64
}

// Of returns the scheme of a format without companions.
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

// Bytes returns the size of batch matrices with the given rows and columns.
func (s *Scheme) Bytes(batch, rows, cols int64) unit.Bytes {
	return unit.Bytes(batch) * (unit.Bytes(rows)*s.Elem.Row(cols) + s.ScaleBytes(rows, cols))
}

// ScaleBytes returns the size of one matrix's companions.
func (s *Scheme) ScaleBytes(rows, cols int64) (b unit.Bytes) {
	for i := range s.With {
		b += s.With[i].bytes(rows, cols)
	}
	return b
}

// Values returns the number of stored values, companions included, with elements narrower than a byte packed into words
// of the given bytes. This is what a file's own parameter count reports.
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

// Bits returns the bits per element of a large matrix, companions included.
func (s *Scheme) Bits() float64 {
	const n = 1 << 13
	return 8 * float64(s.Bytes(1, n, n)) / (n * n)
}
