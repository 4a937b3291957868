package quant

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/format/safetensors"
	"github.com/memwall/memwall/quant/quanttest"
	"github.com/memwall/memwall/unit"
)

// inTurn does one thing after the other.
func inTurn(n int, do func(int)) {
	for i := range n {
		do(i)
	}
}

// smallGGUF is a network read from a file in memory.
func smallGGUF(t *testing.T) *Model {
	t.Helper()
	data := quanttest.GGUF(quanttest.Llama(2, 256))
	r := bytes.NewReader(data)
	f, err := gguf.Read(r, int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	m := &Model{GGUF: f, Head: r}
	for i := range f.Tensors {
		g := &f.Tensors[i]
		x := &Tensor{Name: g.Name, Layer: -1, Dims: len(g.Dims), Stored: g.Format, Bytes: unit.Bytes(g.Bytes), Data: r, Start: f.Start(g),
			Batch: 1, Rows: 1, Cols: g.Dims[0], Shape: []int64{g.Dims[0]}}
		if len(g.Dims) > 1 {
			x.Rows, x.Shape = g.Dims[1], []int64{g.Dims[1], g.Dims[0]}
		}
		m.Tensors = append(m.Tensors, x)
	}
	return m
}

func encodersOf(t *testing.T, m *Model, pick func(i int) string) (out []*Encoder) {
	t.Helper()
	for i, x := range m.Tensors {
		var formats []*Format
		if x.Kept() == "" && pick(i) != "" {
			formats = []*Format{find(t, pick(i))}
		}
		measured, err := (&Work{Formats: formats}).Measure(x)
		if err != nil {
			t.Fatal(err)
		}
		var f *Format
		if len(formats) > 0 {
			f = formats[0]
		}
		e, err := NewEncoder(measured, f, &Statistics{})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

func goOn(int64) bool { return true }

// TestWriteGGUF: a mixture is written, and what is read of it is what storing gives.
func TestWriteGGUF(t *testing.T) {
	m := smallGGUF(t)
	names := []string{"q4_0", "q4_k", "q6_k", "q8_0", "", "q5_1", "iq4_xs", "q2_k", "q3_k"}
	tensors := encodersOf(t, m, func(i int) string { return names[i%len(names)] })
	out, err := NewGGUF(m, tensors)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := out.Write(&b, 3, inTurn, goOn); err != nil {
		t.Fatal(err)
	}
	if int64(b.Len()) != out.Size() {
		t.Errorf("%d bytes, %d promised", b.Len(), out.Size())
	}
	data := b.Bytes()
	f, err := gguf.Read(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := f.String("general.name"); v != "small" {
		t.Errorf("the name is %q", v)
	}
	if v, _ := f.Uint("general.quantization_version"); v != 2 {
		t.Errorf("quantisation version %d", v)
	}
	for i := range f.Tensors {
		g, e := &f.Tensors[i], tensors[i]
		at := f.Start(g)
		stored := data[at : at+g.Bytes]
		if e.Format == nil {
			want, err := e.copy(0, int64(e.Tensor.Bytes))
			if err != nil || g.Format != dtype.BF16 || !bytes.Equal(stored, want) {
				t.Errorf("%s is not as it was: %v", g.Name, err)
			}
			continue
		}
		if g.Format != e.Format.Scheme.Elem {
			t.Errorf("%s is %s, want %s", g.Name, g.Format.Name, e.Format.Name)
		}
		x := make([]float32, e.Tensor.Elements())
		var buf []byte
		if err := e.Tensor.rows(x, 0, e.Tensor.Rows, &buf); err != nil {
			t.Fatal(err)
		}
		want := stores(e.Format, x, e.Tensor.Cols)
		coder := coderOf(e.Format, surveyOf(x, e.Tensor.Cols))
		elems, size := coder.Unit()
		back := make([]float32, elems)
		for u := range len(x) / elems {
			coder.Decode(back, stored[u*size:])
			for j, v := range back {
				if v != want[u*elems+j] {
					t.Fatalf("%s: element %d is %v, want %v", g.Name, u*elems+j, v, want[u*elems+j])
				}
			}
		}
	}
	if err := out.Verify(bytes.NewReader(data)); err != nil {
		t.Error(err)
	}
	data[len(data)/2] ^= 1
	if err := out.Verify(bytes.NewReader(data)); err == nil {
		t.Error("a changed bit is not seen")
	}
}

// TestWriteInt8: codes and scales lie in tensors of their own, and give back the weights.
func TestWriteInt8(t *testing.T) {
	x := normal(64*256, 1)
	tensor := brain("a.weight", x, 1, 64, 256)
	tensor.Shape, tensor.DType = []int64{64, 256}, "BF16"
	m := &Model{Tensors: []*Tensor{tensor}}
	out, err := NewSafetensors(encodersOf(t, m, func(int) string { return "int8" }))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := out.Write(&b, 2, inTurn, goOn); err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil || len(f.Tensors) != 2 || int64(b.Len()) != out.Size() {
		t.Fatalf("%+v, %v", f, err)
	}
	at := map[string][]byte{}
	for i := range f.Tensors {
		s := &f.Tensors[i]
		at[s.Name] = b.Bytes()[f.DataOffset()+s.Begin : f.DataOffset()+s.End]
	}
	want := stores(find(t, "int8"), x, 256)
	for i, w := range want {
		if got := float32(int8(at["a.weight"][i])) * scaleF32.get(at["a.weight_scale"][4*(i/256):]); got != w {
			t.Fatalf("element %d is %v, want %v", i, got, w)
		}
	}
}

// fullDisk takes some bytes and no more.
type fullDisk int

func (d *fullDisk) Write(b []byte) (int, error) {
	if *d -= fullDisk(len(b)); *d < 0 {
		return 0, errors.New("no space left on device")
	}
	return len(b), nil
}

func TestWriteFaults(t *testing.T) {
	m := smallGGUF(t)
	out, err := NewGGUF(m, encodersOf(t, m, func(int) string { return "q4_k" }))
	if err != nil {
		t.Fatal(err)
	}
	for n := int64(0); n < out.Size(); n += out.Size() / 20 {
		disk := fullDisk(n)
		if err := out.Write(&disk, 2, inTurn, goOn); err == nil || !strings.Contains(err.Error(), "no space") {
			t.Errorf("a disk of %d bytes: %v", n, err)
		}
	}
	if err := out.Write(&bytes.Buffer{}, 2, inTurn, func(int64) bool { return false }); !errors.Is(err, ErrStopped) {
		t.Errorf("%v", err)
	}
	measured, err := (&Work{}).Measure(m.Tensors[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewEncoder(measured, find(t, "nf4"), &Statistics{}); err == nil {
		t.Error("nf4 is written")
	}
}
