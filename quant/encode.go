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

// Encoder stores one tensor in pieces, or copies it. Pieces may be made at the same time.
type Encoder struct {
	Tensor *Tensor
	Format *Format // nil: as stored
	// Beside are bytes of a row that go into a tensor of their own: the scale of int8.
	Beside  int64
	survey  *Survey
	stats   *Statistics
	scaling *Scaling // nil: numbers are stored as they are

	ready  sync.Once
	failed error
	coders []Coder     // of each matrix of a stack
	weight [][]float32 // importance of their columns
}

// NewEncoder for a tensor that was measured, with what is known of inputs. The formats that are written are those of GGUF
// files, and int8.
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

// prepare reads inputs and finds the coders, when the first piece is asked for: what a method needs to know is large.
func (e *Encoder) prepare() error {
	in, err := e.stats.Inputs(e.Tensor)
	if err != nil {
		return err
	}
	for b := range e.Tensor.Batch {
		s := *e.survey
		s.Inputs = in.ofMatrix(b, e.Tensor.Cols)
		if e.stats.Method != GPTQ {
			s.Inputs = nil // columns are scaled here, with all others
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

// importance of columns that are multiplied is less by the square of that.
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

// release what the pieces needed.
func (e *Encoder) release() { e.coders, e.weight, e.ready = nil, nil, sync.Once{} }

// copyBytes of a tensor that stays as it is are a piece.
const copyBytes = 4 << 20

// rows of a piece.
func (e *Encoder) rows() int64 { return max(1, chunk/e.Tensor.Cols) }

// Pieces is how many there are.
func (e *Encoder) Pieces() int64 {
	if e.Format == nil && e.scaling == nil {
		return unit.CeilDiv(int64(e.Tensor.Bytes), copyBytes)
	}
	return unit.CeilDiv(e.Tensor.Batch*e.Tensor.Rows, e.rows())
}

// Bytes of the tensor, without what lies beside it.
func (e *Encoder) Bytes() int64 {
	if e.Format == nil {
		return int64(e.Tensor.Bytes)
	}
	return int64(e.Format.Scheme.Elem.Row(e.Tensor.Cols)) * e.Tensor.Batch * e.Tensor.Rows
}

// Piece is the i-th one, and what lies beside it.
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

// scale multiplies columns and divides rows, from row at on.
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

// reencode stores numbers as the file had them.
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
	own := make([]Coder, len(e.coders)) // that no other piece uses
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

// Output is a file that is to be written: its header, and the tensors in the order of their data.
type Output struct {
	Header   []byte
	Tensors  []*Encoder
	Align    int64 // of each tensor
	checksum uint32
	size     int64
}

// Parallel does n things, several at a time.
type Parallel func(n int, do func(i int))

// Write writes the file, so many pieces at a time. Going on is asked before each of these, with the bytes so far.
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

// Verify reads back what was written and compares it.
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

// Size of the file in bytes, header and padding included.
func (o *Output) Size() int64 {
	n := int64(len(o.Header))
	for _, e := range o.Tensors {
		n = unit.PadUp(n+e.Bytes()+e.Beside*e.Tensor.Batch*e.Tensor.Rows, o.Align)
	}
	return n
}

// lengthBytes stand before the header of a safetensors file.
const lengthBytes = 8

// framed is a safetensors header behind its length, padded with spaces.
func framed(text []byte) []byte {
	for len(text)%8 != 0 {
		text = append(text, ' ')
	}
	return append(binary.LittleEndian.AppendUint64(make([]byte, 0, lengthBytes+len(text)), uint64(len(text))), text...)
}
