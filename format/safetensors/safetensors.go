// Package safetensors reads the headers of safetensors files, and the index of a model in several of them.
//
// The header is one JSON object. It is scanned once, through a window of a quarter MiB, by a scanner of our
// own: encoding/json would hide keys that stand twice. The rules are those of the format's description and of
// its reference reader (README.md and safetensors/src/tensor.rs of huggingface/safetensors, May 2026): data
// without holes or overlaps, sizes that follow from type and shape.
//
// Open this file first; header.go reads the object, layout.go checks where the tensors lie, index.go reads
// model.safetensors.index.json, json.go is the scanner.
package safetensors

import (
	"io"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format"
)

// Error is a fault in a file; see format.Error.
type Error = format.Error

// File is the header of a safetensors file.
type File struct {
	Tensors     []Tensor          // in the order of the header
	Metadata    map[string]string // __metadata__; nil when the file has none
	HeaderBytes int64             // length of the JSON text; 8 bytes stand before it
	Size        int64             // of the whole file, bytes
}

// Tensor is where a tensor lies and how it is stored.
type Tensor struct {
	Name       string
	DType      string        // as the file spells it: "BF16"
	Format     *dtype.Format // nil: a type that memwall does not know
	Shape      []int64       // outermost first; empty for a single number; a dimension may be 0
	Begin, End int64         // from the start of the data; of an unknown type, the only word on its size
}

// Bytes is the size of the tensor.
func (t *Tensor) Bytes() int64 { return t.End - t.Begin }

// Elements is how many numbers the tensor holds.
func (t *Tensor) Elements() int64 {
	n := int64(1)
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// DataOffset is the first byte of tensor data.
func (f *File) DataOffset() int64 { return lengthBytes + f.HeaderBytes }

// Elements is how many numbers all tensors hold. In quantised models packed words and scales count too.
func (f *File) Elements() int64 {
	var n int64
	for i := range f.Tensors {
		n += f.Tensors[i].Elements()
	}
	return n
}

// TensorBytes is the sum over all tensors, which is all that follows the header.
func (f *File) TensorBytes() int64 { return f.Size - f.DataOffset() }

// Read reads the header of a whole file of size bytes. Errors are *Error, or those of r with the place.
func Read(r io.ReaderAt, size int64) (*File, error) { return ReadHeader(r, size, size) }

// ReadHeader reads a header from the first have bytes of a file of size bytes, of which r need not hold
// more. If the header is longer, the Error says More; its first 8 bytes tell how long it is (HeaderLength).
func ReadHeader(r io.ReaderAt, have, size int64) (*File, error) {
	n, err := HeaderLength(r, have, size)
	if err != nil {
		return nil, err
	}
	h := newHeader(r, have, size, n)
	f := h.file()
	if h.err != nil {
		return nil, h.err
	}
	return f, nil
}
