package gguf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format"
	"github.com/memwall/memwall/unit"
)

// Planned is a tensor of a file to be written, in data order.
type Planned struct {
	Name   string
	Dims   []int64 // innermost first
	Format *dtype.Format
}

// Bytes returns the tensor's size, without padding.
func (p *Planned) Bytes() int64 {
	n := int64(1)
	for _, d := range p.Dims {
		n *= d
	}
	return int64(p.Format.Bytes(n))
}

// Rewritten returns the header of a file with the metadata of f and new tensors, including the padding before the
// first; the tensors follow, each padded to f's alignment. r is the file that f was read from, or the first of several.
// Metadata about the file itself (split.*, general.file_type, general.quantization_version) is dropped, or replaced by
// the 32-bit numbers in set.
func Rewritten(f *File, r io.ReaderAt, set map[string]uint32, tensors []Planned) ([]byte, error) {
	if f.BigEndian || f.Version < 2 {
		return nil, &Error{Offset: 4, Field: "version",
			Text: fmt.Sprintf("version %d of byte order big-endian %v cannot be rewritten", f.Version, f.BigEndian),
			Fix:  "convert the model again"}
	}
	pairs, n, err := f.pairs(r, set)
	if err != nil {
		return nil, err
	}
	b := binary.LittleEndian.AppendUint32([]byte("GGUF"), newest)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(tensors)))
	b = binary.LittleEndian.AppendUint64(b, n)
	b = append(b, pairs...)
	at := int64(0)
	for i := range tensors {
		b = tensors[i].info(b, at)
		at += unit.PadUp(tensors[i].Bytes(), f.Alignment)
	}
	return append(b, make([]byte, unit.PadUp(int64(len(b)), f.Alignment)-int64(len(b)))...), nil
}

const newest = 3

// pairs copies the metadata and returns the number of pairs.
func (f *File) pairs(r io.ReaderAt, set map[string]uint32) (b []byte, n uint64, err error) {
	for i := range f.meta {
		p := &f.meta[i]
		end := f.InfoOffset
		if i+1 < len(f.meta) {
			end = f.meta[i+1].at
		}
		if _, given := set[p.key]; given || strings.HasPrefix(p.key, "split.") {
			continue
		}
		var out bytes.Buffer
		if _, err := io.Copy(&out, io.NewSectionReader(r, p.at, end-p.at)); err != nil {
			return nil, 0, fmt.Errorf("reading %s: %w", format.Quote(p.key), err)
		}
		b, n = append(b, out.Bytes()...), n+1
	}
	for _, key := range []string{"general.file_type", "general.quantization_version"} {
		if v, ok := set[key]; ok {
			b, n = binary.LittleEndian.AppendUint32(text(b, key), uint32(kindU32)), n+1
			b = binary.LittleEndian.AppendUint32(b, v)
		}
	}
	return b, n, nil
}

func (p *Planned) info(b []byte, at int64) []byte {
	b = binary.LittleEndian.AppendUint32(text(b, p.Name), uint32(len(p.Dims)))
	for _, d := range p.Dims {
		b = binary.LittleEndian.AppendUint64(b, uint64(d))
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(p.Format.GGML))
	return binary.LittleEndian.AppendUint64(b, uint64(at))
}

// text appends a string with its length.
func text(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint64(b, uint64(len(s))), s...)
}
