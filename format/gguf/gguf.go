// Package gguf reads the headers of GGUF files: metadata, tensors, and the location of each tensor's data.
//
// It reads versions 1 to 3 in both byte orders through a buffer of 256 KiB, and does not retain tokens or merges. Every
// count and length is checked against the size of the file. The rules are those of llama.cpp's reader
// (ggml/src/gguf.cpp) and of the format's specification (docs/gguf.md of ggml), with stricter limits where no model
// needs more; see limits.go.
//
// value.go has the metadata accessors, layout.go the checks of tensors, split.go models in several files.
package gguf

import (
	"io"
	"slices"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format"
)

// Error is an error in a file; see format.Error.
type Error = format.Error

// File is the header of a GGUF file, or of all the files of a split model (see Join).
type File struct {
	Version    uint32
	BigEndian  bool
	Alignment  int64 // of tensor data, in bytes
	Size       int64 // of the whole file in bytes; after Join, of all files
	DataOffset int64 // offset of the tensor data; after Join, in the first file
	InfoOffset int64 // offset of the end of the metadata; after Join, in the first file
	Tensors    []Tensor
	Split      Split
	Shards     []Shard // the files in order: one, or several after Join
	Gaps       []Gap   // ranges skipped without retaining anything, in order; none after Join

	meta  []pair
	index map[string]int
}

// Tensor describes a tensor's location and storage.
type Tensor struct {
	Name   string
	Dims   []int64       // 1 to 4, innermost first, as stored
	Type   uint32        // type number in the file
	Format *dtype.Format // nil if the type is unknown
	Offset int64         // relative to the start of its file's tensor data
	Bytes  int64         // without padding; with padding if inferred
	// Inferred reports that the type is unknown and Bytes is the distance to the next tensor or the end of the file.
	Inferred bool
	Shard    int // file index of a split model, from 0
}

// Split says which part of a model a file holds. The zero value means a whole model.
type Split struct {
	No      int64 // split.no, from 0
	Count   int64 // split.count; 0 in files that were merged again
	Tensors int64 // split.tensors.count, over all files
}

// Shard is one file of a model.
type Shard struct {
	Size       int64
	DataOffset int64
	Tensors    int
}

// Gap is a range of a header of which nothing is retained: tokens, merges, long texts. ReadAcross does not need it.
type Gap struct{ At, Bytes int64 }

// Elements returns the number of elements.
func (t *Tensor) Elements() int64 {
	n := int64(1)
	for _, d := range t.Dims {
		n *= d
	}
	return n
}

// Elements returns the total elements of all tensors, the parameter count that llama.cpp prints.
func (f *File) Elements() int64 {
	var n int64
	for i := range f.Tensors {
		n += f.Tensors[i].Elements()
	}
	return n
}

// TensorBytes returns the total size of all tensors, without padding.
func (f *File) TensorBytes() int64 {
	var n int64
	for i := range f.Tensors {
		n += f.Tensors[i].Bytes
	}
	return n
}

// Start returns the offset of the tensor's first byte in its file.
func (f *File) Start(t *Tensor) int64 { return f.Shards[t.Shard].DataOffset + t.Offset }

// Read reads the header of a complete file of the given size. Errors are *Error, or errors of r with the position.
func Read(r io.ReaderAt, size int64) (*File, error) { return ReadHeader(r, size, size) }

// ReadHeader reads a header from the first have bytes of a file of the given size; r need not have more. If the header
// is longer, it returns an *Error with More set.
func ReadHeader(r io.ReaderAt, have, size int64) (*File, error) {
	d := newDecoder(r, have, size)
	f := d.file()
	if d.err != nil {
		return nil, d.err
	}
	return f, nil
}

// ReadAcross re-reads a header without its gaps, in which r may return anything.
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
