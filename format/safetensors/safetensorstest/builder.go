// Package safetensorstest writes safetensors files for tests: tensors without data, and invalid headers. It shares no
// code with the reader.
package safetensorstest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/memwall/memwall/format/internal/sparse"
)

// Builder collects a file. The zero value is an empty file.
type Builder struct {
	// Pad is what the header's length is padded to a multiple of, with spaces; 0 means 8, as the reference
	// writer does.
	Pad int

	entries  []string
	data     int64
	metadata []string
}

// Sparse is a file of Len bytes that begins with Head and is zero after it.
type Sparse = sparse.File

// Tensor appends a tensor behind the one before. Bits is the size of an element.
func (b *Builder) Tensor(name, dtype string, bits int64, shape ...int64) *Builder {
	n := int64(1)
	for _, d := range shape {
		n *= d
	}
	end := b.data + n*bits/8
	b.Entry(name, fmt.Sprintf(`{"dtype":%s,"shape":%s,"data_offsets":[%d,%d]}`, jsonText(dtype), list(shape), b.data, end))
	b.data = end
	return b
}

// Entry appends a key and any text as its value.
func (b *Builder) Entry(name, value string) *Builder {
	b.entries = append(b.entries, jsonText(name)+":"+value)
	return b
}

// Meta appends a pair to __metadata__.
func (b *Builder) Meta(key, value string) *Builder {
	b.metadata = append(b.metadata, jsonText(key)+":"+jsonText(value))
	return b
}

// JSON is the header's text.
func (b *Builder) JSON() string {
	entries := b.entries
	if b.metadata != nil {
		entries = append([]string{`"__metadata__":{` + strings.Join(b.metadata, ",") + "}"}, entries...)
	}
	text := "{" + strings.Join(entries, ",") + "}"
	pad := b.Pad
	if pad == 0 {
		pad = 8
	}
	return text + strings.Repeat(" ", (pad-len(text)%pad)%pad)
}

// File gives the whole file: the header, then zeros that take no memory.
func (b *Builder) File() *Sparse { return Text(b.JSON(), b.data) }

// Text is a file with any header, before data bytes of data.
func Text(header string, data int64) *Sparse {
	return Lying(uint64(len(header)), header, data)
}

// Lying is Text with any length before it.
func Lying(n uint64, header string, data int64) *Sparse {
	head := append(binary.LittleEndian.AppendUint64(nil, n), header...)
	return &Sparse{Head: head, Len: int64(len(head)) + data}
}

func jsonText(s string) string {
	b, _ := json.Marshal(s) // a string always marshals
	return string(b)
}

func list(shape []int64) string {
	return strings.ReplaceAll(fmt.Sprint(shape), " ", ",")
}
