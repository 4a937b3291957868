package quant

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/unit"
)

// Tensor is a tensor in a file: Batch consecutive matrices of Rows rows of Cols numbers.
type Tensor struct {
	Name  string
	Role  dtype.Role // "" if unknown
	Layer int        // -1 outside the layers
	Part  string     // part of the model: "decoder", "vision"
	Dims  int
	Shape []int64 // outermost first
	DType string  // type as a safetensors file spells it
	Batch int64
	Rows  int64
	Cols  int64
	// Stored is the file's format; nil if unknown.
	Stored *dtype.Format
	Bytes  unit.Bytes
	// Data is the file, and Start the offset of the tensor in it.
	Data  io.ReaderAt
	Start int64
	File  string
	// Cache says whether the tensor holds keys or values of a cache; "" for weights. Across reports that it is arranged
	// by channel: its Rows are columns of the file's matrices and its Cols their rows.
	Cache  CachePart
	Across bool
}

// Elements returns the number of elements.
func (t *Tensor) Elements() int64 { return t.Batch * t.Rows * t.Cols }

// mostCols is the longest row supported: a row is held in memory.
const mostCols = 1 << 22

// Kept returns why a tensor stays unchanged; "" if formats are tried on it.
func (t *Tensor) Kept() string {
	s := &dtype.Site{Role: t.Role, Dims: t.Dims, Part: t.Part}
	switch {
	case t.Elements() == 0:
		return "empty"
	case t.Stored == nil:
		return "of a type that is not known"
	case t.Dims < 2 || t.Rows == 1:
		return "no matrix"
	case readers[t.Stored] == nil:
		return "stored as " + t.Stored.Name
	case s.Tower():
		return "of a part that sees or hears"
	case t.Role != "" && !s.Quantisable() && !t.ends():
		return "a " + string(t.Role)
	case t.Cols > mostCols:
		return "of rows too long"
	}
	return ""
}

// Readable reports whether the tensor's numbers can be read.
func (t *Tensor) Readable() bool { return readers[t.Stored] != nil && t.Cols <= mostCols }

// ends reports whether the tensor is an embedding or head, which hub files leave unquantized.
func (t *Tensor) ends() bool { return t.Role == dtype.TokenEmbd || t.Role == dtype.Output }

// Takes reports whether a format is tried on the tensor: hub files leave embeddings and head unquantized, and units of
// a format must fit in memory.
func (t *Tensor) Takes(f *Format) bool {
	if t.Across {
		return f.along()
	}
	return f.Fits(t.Cols) && (f.Family == GGUF || !t.ends()) && f.together(t.Cols) <= mostTogether
}

// mostTogether is the maximum number of elements read at once for one format.
const mostTogether = 1 << 23

// together returns the elements of the fewest whole rows that are whole units.
func (f *Format) together(cols int64) int64 {
	if f.Asks != Nothing {
		return cols // these store row by row
	}
	c, err := f.Coder(NewSurvey(1, cols))
	if err != nil {
		return mostTogether + 1
	}
	elems, _ := c.Unit()
	return multiple(cols, int64(elems))
}

// readers turn stored bytes into numbers.
var readers = map[*dtype.Format]func(x []float32, b []byte){
	dtype.F32: func(x []float32, b []byte) {
		for i := range x {
			x[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
	},
	dtype.F16: func(x []float32, b []byte) {
		for i := range x {
			x[i] = ofHalf(binary.LittleEndian.Uint16(b[2*i:]))
		}
	},
	dtype.BF16: brains,
	dtype.Q8_0: func(x []float32, b []byte) {
		for i := range len(x) / block {
			q8zero{}.Decode(x[i*block:], b[34*i:])
		}
	},
}

// brains reads bf16, eight at a time.
func brains(x []float32, b []byte) {
	const upper = 0xffff << 16
	for len(x) >= 8 && len(b) >= 16 {
		to, v, w := (*[8]float32)(x), binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		v0, v1, w0, w1 := uint32(v), uint32(v>>32), uint32(w), uint32(w>>32)
		to[0], to[1] = math.Float32frombits(v0<<16), math.Float32frombits(v0&upper)
		to[2], to[3] = math.Float32frombits(v1<<16), math.Float32frombits(v1&upper)
		to[4], to[5] = math.Float32frombits(w0<<16), math.Float32frombits(w0&upper)
		to[6], to[7] = math.Float32frombits(w1<<16), math.Float32frombits(w1&upper)
		x, b = x[8:], b[16:]
	}
	for i := range x {
		x[i] = ofBrain(binary.LittleEndian.Uint16(b[2*i:]))
	}
}

// rows reads n rows of the whole tensor from row at on; buf grows as needed.
func (t *Tensor) rows(x []float32, at, n int64, buf *[]byte) error {
	size := int64(t.Stored.Row(t.Cols))
	if int64(cap(*buf)) < n*size {
		*buf = make([]byte, n*size)
	}
	b := (*buf)[:n*size]
	if got, err := t.Data.ReadAt(b, t.Start+at*size); got < len(b) {
		return fmt.Errorf("%s: rows %s to %s of tensor %s: %w", t.File, unit.Count(at), unit.Count(at+n), t.Name, err)
	}
	readers[t.Stored](x[:n*t.Cols], b)
	return nil
}
