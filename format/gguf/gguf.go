// Package gguf reads the headers of GGUF files: metadata, tensors, and where each tensor's bytes lie.
//
// It reads versions 1 to 3 in both byte orders, through a window of a quarter MiB, and keeps no tokens and
// no merges. Every count and length is checked against the size of the file before it is believed. The
// rules are those of llama.cpp's own reader (ggml/src/gguf.cpp) and of the format's description
// (docs/gguf.md of ggml), with tighter limits where no model needs more: see limits.go.
//
// Open this file first; value.go has the metadata, layout.go the checks of the tensors, split.go models in
// several files.
package gguf

import (
	"io"
	"slices"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format"
)

// Error is a fault in a file; see format.Error.
type Error = format.Error

// File is the header of a GGUF file, or of all the files of a split model (see Join).
type File struct {
	Version    uint32
	BigEndian  bool
	Alignment  int64 // of tensors, bytes
	Size       int64 // of the whole file, bytes; of all files together after Join
	DataOffset int64 // first byte of tensor data; of the first file after Join
	InfoOffset int64 // first byte behind the metadata; of the first file after Join
	Tensors    []Tensor
	Split      Split
	Shards     []Shard // the files in order: one, or all after Join
	Gaps       []Gap   // what the reader walked over and kept nothing of, in order; none after Join

	meta  []pair
	index map[string]int
}

// Tensor is where a tensor lies and how it is stored.
type Tensor struct {
	Name   string
	Dims   []int64       // 1 to 4, innermost first, as stored
	Type   uint32        // number of the type in the file
	Format *dtype.Format // nil: a type that memwall does not know
	Offset int64         // from the start of the tensor data of its file
	Bytes  int64         // without padding; where inferred, with it
	// Inferred: the type is unknown, and Bytes is the distance to the next tensor or to the end of the file.
	Inferred bool
	Shard    int // which file of a split model, from 0
}

// Split says which part of a model a file holds. All zero: the file says nothing, and is whole.
type Split struct {
	No      int64 // split.no, from 0
	Count   int64 // split.count; files that were merged again say 0
	Tensors int64 // split.tensors.count, over all files
}

// Shard is one file of a model.
type Shard struct {
	Size       int64
	DataOffset int64
	Tensors    int
}

// Gap is a stretch of a header of which nothing is kept: tokens, merges, long texts. ReadAcross does without it.
type Gap struct{ At, Bytes int64 }

// Elements is how many numbers the tensor holds.
func (t *Tensor) Elements() int64 {
	n := int64(1)
	for _, d := range t.Dims {
		n *= d
	}
	return n
}

// Elements is how many numbers all tensors hold: the parameter count that llama.cpp prints.
func (f *File) Elements() int64 {
	var n int64
	for i := range f.Tensors {
		n += f.Tensors[i].Elements()
	}
	return n
}

// TensorBytes is the sum over all tensors, without padding.
func (f *File) TensorBytes() int64 {
	var n int64
	for i := range f.Tensors {
		n += f.Tensors[i].Bytes
	}
	return n
}

// Start is the tensor's first byte, counted from the start of its file.
func (f *File) Start(t *Tensor) int64 { return f.Shards[t.Shard].DataOffset + t.Offset }

// Read reads the header of a whole file of size bytes. Errors are *Error, or those of r with the place.
func Read(r io.ReaderAt, size int64) (*File, error) { return ReadHeader(r, size, size) }

// ReadHeader reads a header from the first have bytes of a file of size bytes, of which r need not hold
// more. If the header is longer, the Error says More.
func ReadHeader(r io.ReaderAt, have, size int64) (*File, error) {
	d := newDecoder(r, have, size)
	f := d.file()
	if d.err != nil {
		return nil, d.err
	}
	return f, nil
}

// ReadAcross reads a header that was read before, without its gaps: the bytes of r in them may be anything.
func ReadAcross(r io.ReaderAt, size int64, gaps []Gap) (*File, error) {
	d := newDecoder(r, size, size)
	d.known = make(map[int64]int64, len(gaps))
	for _, g := range gaps {
		d.known[g.At] = g.Bytes
	}
	f := d.file()
	if d.err != nil {
		return nil, d.err
	}
	return f, nil
}

func (d *decoder) file() *File {
	d.magic()
	f := &File{Size: d.size, index: map[string]int{}}
	f.Version, f.BigEndian = d.version()
	tensors := d.count("tensor count", "", " tensors", d.minTensor(), maxTensors)
	pairs := d.count("metadata count", "", " metadata pairs", d.minPair(), maxPairs)
	d.metadata(f, pairs)
	d.split(f, tensors)
	d.general(f)
	f.InfoOffset = d.w.Offset()
	d.tensors(f, tensors)
	f.Gaps = slices.DeleteFunc(d.gaps, func(g Gap) bool { return g.Bytes < leastGap })
	return f
}
