package quant

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format"
	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/unit"
)

// llama.cpp's importance files hold Σ x² of each matrix's inputs. Newer ones are GGUF files with two tensors per
// matrix, "….in_sum2" and "….counts"; older ones have a count of entries, each with its name, number of samples, and
// sums (tools/imatrix of llama.cpp). For a stack of experts both concatenate the rows.

// ReadImportance reads either kind of importance file of the given size.
func ReadImportance(r io.ReaderAt, size int64) (map[string][]float32, error) {
	var magic [4]byte
	if n, err := r.ReadAt(magic[:], 0); n < len(magic) {
		return nil, fmt.Errorf("the file ends at byte %d: %w", n, err)
	}
	if string(magic[:]) == "GGUF" {
		return readSums(r, size)
	}
	return readEntries(r, size)
}

const sumsSuffix, countsSuffix = ".in_sum2", ".counts"

func readSums(r io.ReaderAt, size int64) (map[string][]float32, error) {
	f, err := gguf.Read(r, size)
	if err != nil {
		return nil, err
	}
	at := map[string]*gguf.Tensor{}
	for i := range f.Tensors {
		at[f.Tensors[i].Name] = &f.Tensors[i]
	}
	out := map[string][]float32{}
	for i := range f.Tensors {
		t := &f.Tensors[i]
		name, ok := strings.CutSuffix(t.Name, sumsSuffix)
		if !ok {
			continue
		}
		v, err := divided(r, f, t, at[name+countsSuffix])
		if err != nil {
			return nil, err
		}
		out[strings.TrimSuffix(name, ".weight")] = v
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no tensor of this GGUF file ends in %s: it is not an importance matrix", sumsSuffix)
	}
	return out, nil
}

// divided returns the sums over the counts of each matrix of a stack.
func divided(r io.ReaderAt, f *gguf.File, sums, counts *gguf.Tensor) ([]float32, error) {
	if counts == nil || sums.Format != dtype.F32 || counts.Format != dtype.F32 || sums.Elements()%counts.Elements() != 0 {
		return nil, fmt.Errorf("%s has no counts that belong to it", format.Quote(sums.Name))
	}
	s, err := numbers(r, f.Start(sums), sums.Elements())
	if err != nil {
		return nil, err
	}
	n, err := numbers(r, f.Start(counts), counts.Elements())
	if err != nil {
		return nil, err
	}
	per := len(s) / len(n)
	for i := range s {
		if count := n[i/per]; count > 0 {
			s[i] /= count
		} else {
			s[i] = 0
		}
	}
	return s, sane(s, sums.Name)
}

func numbers(r io.ReaderAt, at, n int64) ([]float32, error) {
	b := make([]byte, 4*n)
	if got, err := r.ReadAt(b, at); got < len(b) {
		return nil, fmt.Errorf("the file ends at byte %s: %w", unit.Count(at+int64(got)), err)
	}
	x := make([]float32, n)
	readers[dtype.F32](x, b)
	return x, nil
}

// sane checks that sums of squares are non-negative numbers.
func sane(v []float32, name string) error {
	for i, x := range v {
		if !(x >= 0) || math.IsInf(float64(x), 0) {
			return fmt.Errorf("%s: column %d has the sum of squares %v", format.Quote(name), i, x)
		}
	}
	return nil
}

// entries reads the older kind sequentially.
type entries struct {
	r        io.ReaderAt
	at, size int64
}

func readEntries(r io.ReaderAt, size int64) (map[string][]float32, error) {
	e := &entries{r: r, size: size}
	n, err := e.count("entries", 12)
	if err != nil {
		return nil, err
	}
	out := map[string][]float32{}
	for range n {
		name, v, err := e.entry()
		if err != nil {
			return nil, err
		}
		out[strings.TrimSuffix(name, ".weight")] = v
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("the file names no tensor: it is not an importance matrix")
	}
	return out, nil
}

// entry reads a name, a number of samples, and sums.
func (e *entries) entry() (string, []float32, error) {
	length, err := e.count("letters of a name", 1)
	if err != nil {
		return "", nil, err
	}
	name := make([]byte, length)
	if err := e.read(name); err != nil {
		return "", nil, err
	}
	var calls [4]byte
	if err := e.read(calls[:]); err != nil {
		return "", nil, err
	}
	n, err := e.count("numbers", 4)
	if err != nil {
		return "", nil, err
	}
	v, err := numbers(e.r, e.at, n)
	if err != nil {
		return "", nil, err
	}
	e.at += 4 * n
	return string(name), v, sane(v, string(name))
}

func (e *entries) read(b []byte) error {
	n, err := e.r.ReadAt(b, e.at)
	if n < len(b) {
		return fmt.Errorf("the file ends at byte %s: %w", unit.Count(e.at+int64(n)), err)
	}
	e.at += int64(n)
	return nil
}

// count reads a count of things of the given size, which must fit in the rest of the file.
func (e *entries) count(what string, bytes int64) (int64, error) {
	var b [4]byte
	if err := e.read(b[:]); err != nil {
		return 0, err
	}
	n := int64(int32(binary.LittleEndian.Uint32(b[:])))
	if n < 0 || n*bytes > e.size-e.at {
		return 0, fmt.Errorf("byte %s: %s %s in %s: it is not an importance matrix", unit.Count(e.at-4), unit.Count(n), what,
			format.Size(e.size))
	}
	return n, nil
}
