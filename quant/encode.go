package quant

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"sync"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/unit"
)

// Encoder encodes one tensor in pieces, or copies it. Pieces may be encoded concurrently.
type Encoder struct {
	Tensor *Tensor
	Format *Format // nil to keep the stored format
	// Beside is the bytes per row that go into a separate tensor: the scale of int8.
	Beside  int64
	survey  *Survey
	stats   *Statistics
	scaling *Scaling // nil for unscaled

	ready  sync.Once
	failed error
	coders []Coder     // by matrix of a stack
	weight [][]float32 // importance of their columns
}

// NewEncoder returns an encoder for a measured tensor, using what is known of its inputs. It supports the formats of
// GGUF files, and int8.
func NewEncoder(m *Measured, f *Format, stats *Statistics) (*Encoder, error) {
	e := &Encoder{Tensor: m.Tensor, Format: f, stats: stats, scaling: stats.scalings[m.Name]}
	if f == nil {
		return e, nil
	}
	if f.Family == Hub {
		if f.Name != "int8" {
			return nil, fmt.Errorf("%s is not written: of the formats of the hub int8 is", f.Name)
		}
		e.Beside = 4
	}
	s := *m.Survey
	s.Inputs = nil
	e.survey = &s
	return e, nil
}

// prepare reads inputs and creates the coders, lazily, since a method's data is large.
func (e *Encoder) prepare() error {
	in, err := e.stats.Inputs(e.Tensor)
	if err != nil {
		return err
	}
	for b := range e.Tensor.Batch {
		s := *e.survey
		s.Inputs = in.ofMatrix(b, e.Tensor.Cols)
		if e.stats.Method != GPTQ {
			s.Inputs = nil // columns are scaled together with the others here
		}
		c, err := e.Format.Coder(&s)
		if err != nil {
			return err
		}
		e.coders = append(e.coders, c)
		e.weight = append(e.weight, e.importance(in.ofMatrix(b, e.Tensor.Cols).columns()))
	}
	return nil
}

// importance returns the importance of columns, reduced by the square of their scaling.
func (e *Encoder) importance(w []float32) []float32 {
	if w == nil || e.scaling == nil || e.scaling.Columns == nil {
		return w
	}
	out := make([]float32, len(w))
	for i, u := range e.scaling.Columns {
		out[i] = w[i] / (u * u)
	}
	return out
}

// release frees what the pieces needed.
func (e *Encoder) release() { e.coders, e.weight, e.ready = nil, nil, sync.Once{} }

// copyBytes is the size of a piece of a tensor that is copied.
const copyBytes = 4 << 20

// rows returns the rows per piece.
func (e *Encoder) rows() int64 { return max(1, chunk/e.Tensor.Cols) }

// Pieces returns the number of pieces.
func (e *Encoder) Pieces() int64 {
	if e.Format == nil && e.scaling == nil {
		return unit.CeilDiv(int64(e.Tensor.Bytes), copyBytes)
	}
	return unit.CeilDiv(e.Tensor.Batch*e.Tensor.Rows, e.rows())
}

// Bytes returns the size of the tensor, without separate tensors.
func (e *Encoder) Bytes() int64 {
	if e.Format == nil {
		return int64(e.Tensor.Bytes)
	}
	return int64(e.Format.Scheme.Elem.Row(e.Tensor.Cols)) * e.Tensor.Batch * e.Tensor.Rows
}

// Piece returns the i-th piece, and what belongs to a separate tensor.
func (e *Encoder) Piece(i int64) (main, beside []byte, err error) {
	switch {
	case e.Format == nil && e.scaling == nil:
		main, err = e.copy(i*copyBytes, min(copyBytes, int64(e.Tensor.Bytes)-i*copyBytes))
		return main, nil, err
	case e.Format != nil:
		if e.ready.Do(func() { e.failed = e.prepare() }); e.failed != nil {
			return nil, nil, e.failed
		}
	}
	t := e.Tensor
	at := i * e.rows()
	n := min(e.rows(), t.Batch*t.Rows-at)
	var buf []byte
	x := make([]float32, n*t.Cols)
	if err := t.rows(x, at, n, &buf); err != nil {
		return nil, nil, err
	}
	e.scale(x, at)
	if e.Format == nil {
		main, err = e.reencode(x)
		return main, nil, err
	}
	main, beside = e.encode(x, at)
	return main, beside, nil
}

// scale multiplies columns and divides rows, starting at row at.
func (e *Encoder) scale(x []float32, at int64) {
	if e.scaling == nil {
		return
	}
	cols := int(e.Tensor.Cols)
	for ; len(x) > 0; x, at = x[cols:], at+1 {
		row := x[:cols]
		for c, u := range e.scaling.Columns {
			row[c] *= u
		}
		if e.scaling.Rows != nil {
			by := e.scaling.Rows[at]
			for c := range row {
				row[c] /= by
			}
		}
	}
}

// reencode stores numbers in the file's own format.
func (e *Encoder) reencode(x []float32) ([]byte, error) {
	t := e.Tensor
	out := make([]byte, t.Stored.Row(int64(len(x))))
	for i, v := range x {
		switch t.Stored {
		case dtype.F32:
			binary.LittleEndian.PutUint32(out[4*i:], math.Float32bits(v))
		case dtype.F16:
			putHalf(out[2*i:], v)
		default:
			binary.LittleEndian.PutUint16(out[2*i:], toBrain(v))
		}
	}
	back := make([]float32, len(x))
	readers[t.Stored](back, out)
	for i, v := range x {
		if v != back[i] {
			return nil, fmt.Errorf("tensor %s holds numbers that %s cannot hold once they are scaled", t.Name, t.Stored.Name)
		}
	}
	return out, nil
}

func (e *Encoder) encode(x []float32, at int64) (main, beside []byte) {
	t := e.Tensor
	own := make([]Coder, len(e.coders)) // not shared with other pieces
	for i, c := range e.coders {
		if own[i] = c; e.stats.Method == GPTQ {
			if g, ok := c.(*gptq); ok {
				own[i] = g.fresh()
			}
		}
	}
	elems, size := own[0].Unit()
	code := make([]byte, size)
	main = make([]byte, 0, len(x)/elems*size)
	for from := 0; from < len(x); from += elems {
		b := (at + int64(from)/t.Cols) / t.Rows
		own[b].Encode(code, x[from:from+elems], window(e.weight[b], from%int(t.Cols), elems))
		main = append(main, code[:size-int(e.Beside)]...)
		beside = append(beside, code[size-int(e.Beside):]...)
	}
	return main, beside
}

func (e *Encoder) copy(at, n int64) ([]byte, error) {
	b := make([]byte, n)
	if got, err := e.Tensor.Data.ReadAt(b, e.Tensor.Start+at); got < len(b) {
		return nil, fmt.Errorf("%s: byte %s of tensor %s: %w", e.Tensor.File, unit.Count(at), e.Tensor.Name, err)
	}
	return b, nil
}

// Output is a file to be written: its header, and the tensors in data order.
type Output struct {
	Header   []byte
	Tensors  []*Encoder
	Align    int64 // of each tensor
	checksum uint32
	size     int64
}

// Parallel calls do for every integer in [0, n), possibly concurrently.
type Parallel func(n int, do func(i int))

// Write writes the file, encoding several pieces at a time. Before each batch it calls on with the bytes written so
// far, and stops if that returns false.
func (o *Output) Write(w io.Writer, atOnce int, do Parallel, on func(int64) bool) error {
	o.checksum, o.size = 0, 0
	if err := o.put(w, o.Header); err != nil {
		return err
	}
	for _, e := range o.Tensors {
		beside, err := o.tensor(w, e, atOnce, do, on)
		if err == nil {
			err = o.put(w, append(beside, make([]byte, unit.PadUp(o.size+int64(len(beside)), o.Align)-o.size-int64(len(beside)))...))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (o *Output) put(w io.Writer, b []byte) error {
	n, err := w.Write(b)
	o.checksum = crc32.Update(o.checksum, crc32.IEEETable, b[:n])
	o.size += int64(n)
	return err
}

func (o *Output) tensor(w io.Writer, e *Encoder, atOnce int, do Parallel, on func(int64) bool) (beside []byte, err error) {
	type piece struct {
		main, beside []byte
		err          error
	}
	defer e.release()
	pieces := make([]piece, atOnce)
	for at := int64(0); at < e.Pieces(); at += int64(atOnce) {
		if !on(o.size) {
			return nil, ErrStopped
		}
		n := int(min(int64(atOnce), e.Pieces()-at))
		do(n, func(i int) {
			p := &pieces[i]
			p.main, p.beside, p.err = e.Piece(at + int64(i))
		})
		for i := range n {
			p := &pieces[i]
			if p.err != nil {
				return nil, p.err
			}
			beside = append(beside, p.beside...)
			if err := o.put(w, p.main); err != nil {
				return nil, err
			}
		}
	}
	return beside, nil
}

// Verify reads back and compares what was written.
func (o *Output) Verify(r io.ReaderAt) error {
	h := crc32.NewIEEE()
	n, err := io.Copy(h, io.NewSectionReader(r, 0, math.MaxInt64))
	switch {
	case err != nil:
		return fmt.Errorf("reading back: %w", err)
	case n != o.size || h.Sum32() != o.checksum:
		return fmt.Errorf("what was written reads back as %s bytes with the checksum %08x, and was %s with %08x", unit.Count(n), h.Sum32(),
			unit.Count(o.size), o.checksum)
	}
	return nil
}

// Size returns the size of the file in bytes, including header and padding.
func (o *Output) Size() int64 {
	n := int64(len(o.Header))
	for _, e := range o.Tensors {
		n = unit.PadUp(n+e.Bytes()+e.Beside*e.Tensor.Batch*e.Tensor.Rows, o.Align)
	}
	return n
}

// lengthBytes is the size of the length before a safetensors header.
const lengthBytes = 8

// framed returns a safetensors header with its length, padded with spaces.
func framed(text []byte) []byte {
	for len(text)%8 != 0 {
		text = append(text, ' ')
	}
	return append(binary.LittleEndian.AppendUint64(make([]byte, 0, lengthBytes+len(text)), uint64(len(text))), text...)
}
