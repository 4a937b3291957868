// Package safetensors reads the headers of safetensors files, and the index of a model in several files.
//
// The header is one JSON object. It is parsed once, through a buffer of 256 KiB, by a scanner of our own, because
// encoding/json would hide duplicate keys. The rules are those of the format's specification and reference reader
// (README.md and safetensors/src/tensor.rs of huggingface/safetensors, May 2026): data without gaps or overlaps, and
// sizes that follow from type and shape.
//
// header.go parses the object, layout.go checks the tensors' locations, index.go reads model.safetensors.index.json,
// json.go is the scanner.
package safetensors

import (
	"io"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format"
)

// Error is an error in a file; see format.Error.
type Error = format.Error

// File is the header of a safetensors file.
type File struct {
	Tensors     []Tensor          // in header order
	Metadata    map[string]string // __metadata__; nil if absent
	HeaderBytes int64             // length of the JSON text, which follows its 8-byte length
	Size        int64             // of the whole file, in bytes
}

// Tensor describes a tensor's location and storage.
type Tensor struct {
	Name       string
	DType      string        // as the file spells it: "BF16"
	Format     *dtype.Format // nil if the type is unknown
	Shape      []int64       // outermost first; empty for a scalar; dimensions may be 0
	Begin, End int64         // relative to the start of the data; for an unknown type, the only indication of size
}

// Bytes returns the size of the tensor.
func (t *Tensor) Bytes() int64 { return t.End - t.Begin }

// Elements returns the number of elements.
func (t *Tensor) Elements() int64 {
	n := int64(1)
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// DataOffset returns the offset of the tensor data.
func (f *File) DataOffset() int64 { return lengthBytes + f.HeaderBytes }

// Elements returns the total elements of all tensors, including packed words and scales of quantized models.
func (f *File) Elements() int64 {
	var n int64
	for i := range f.Tensors {
		n += f.Tensors[i].Elements()
	}
	return n
}

// TensorBytes returns the total size of all tensors, which is everything after the header.
func (f *File) TensorBytes() int64 { return f.Size - f.DataOffset() }

// Read reads the header of a complete file of the given size. Errors are *Error, or errors of r with the position.
func Read(r io.ReaderAt, size int64) (*File, error) { return ReadHeader(r, size, size) }

// ReadHeader reads a header from the first have bytes of a file of the given size; r need not have more. If the header
// is longer, it returns an *Error with More set; the first 8 bytes give its length (HeaderLength).
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
