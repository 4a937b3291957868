package quant

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/unit"
)

// brain is a tensor of bf16 in memory.
func brain(name string, x []float32, batch, rows, cols int64) *Tensor {
	var b []byte
	for _, v := range x {
		b = binary.LittleEndian.AppendUint16(b, toBrain(v))
	}
	return &Tensor{Name: name, Layer: -1, Dims: 2, Batch: batch, Rows: rows, Cols: cols, Stored: dtype.BF16, Bytes: unit.Bytes(len(b)),
		Data: bytes.NewReader(b), File: "memory"}
}

// slowError measures in 64 bits, one element after the other.
func slowError(x, q, w []float32) (e Error, cosine float64) {
	var product float64
	for i := range x {
		a, b, c := float64(x[i]), float64(q[i]), 1.0
		if w != nil {
			c = float64(w[i%len(w)])
		}
		d := a - b
		e.Elements++
		e.Signal, e.Noise, e.Stored = e.Signal+a*a, e.Noise+d*d, e.Stored+b*b
		product += a * b
		e.WeightedSignal, e.WeightedNoise = e.WeightedSignal+c*a*a, e.WeightedNoise+c*d*d
		e.Max = max(e.Max, math.Abs(d))
	}
	return e, product / math.Sqrt(e.Signal*e.Stored)
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-4*math.Abs(b)+1e-12 }

// TestMeasureTwin: a tensor read in runs has the error that the slow twin finds on all of it at once.
func TestMeasureTwin(t *testing.T) {
	const rows, cols = 700, 512
	x := heavy(rows*cols, 9)
	tensor := brain("x", x, 1, rows, cols)
	m, err := (&Work{Formats: unasked()}).Measure(tensor)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Tried) != len(unasked()) {
		t.Fatalf("%d formats tried", len(m.Tried))
	}
	for _, tried := range m.Tried {
		want, cosine := slowError(x, stores(tried.Format, x, cols), nil)
		got := tried.Error
		if got.Elements != want.Elements || !near(got.RMS(), want.RMS()) || !near(got.SQNR(), want.SQNR()) || !near(got.Cosine(), cosine) ||
			!near(got.Max, want.Max) || !near(got.WeightedRMS(), want.RMS()) {
			t.Errorf("%s: %+v, want %+v", tried.Format.Name, got, want)
		}
	}
	s := m.Survey
	same, _ := slowError(x, x, nil)
	if s.Elements != rows*cols || s.ZeroRows != 0 || !near(s.RMS(), math.Sqrt(same.Signal/(rows*cols))) {
		t.Errorf("survey %+v", s)
	}
}

// TestBatch: matrices of a stack are measured one by one; their scales are their own.
func TestBatch(t *testing.T) {
	a, b := normal(64*256, 1), normal(64*256, 2)
	for i := range b {
		b[i] = ofBrain(toBrain(b[i] * 1000))
	}
	f := []*Format{find(t, "int8-tensor"), find(t, "nvfp4")}
	stack, err := (&Work{Formats: f}).Measure(brain("stack", append(append([]float32(nil), a...), b...), 2, 64, 256))
	if err != nil {
		t.Fatal(err)
	}
	for i := range f {
		alone, err := (&Work{Formats: f}).Measure(brain("a", a, 1, 64, 256))
		if err != nil {
			t.Fatal(err)
		}
		other, err := (&Work{Formats: f}).Measure(brain("b", b, 1, 64, 256))
		if err != nil {
			t.Fatal(err)
		}
		sum := alone.Tried[i].Error
		sum.Add(&other.Tried[i].Error)
		if !near(stack.Tried[i].Error.Noise, sum.Noise) || stack.Tried[i].Bytes != alone.Tried[i].Bytes+other.Tried[i].Bytes {
			t.Errorf("%s: %+v, want %+v", f[i].Name, stack.Tried[i], sum)
		}
	}
}

func TestKept(t *testing.T) {
	x := normal(512, 1)
	nan := append([]float32(nil), x...)
	nan[3] = float32(math.NaN())
	one := brain("norm", x, 1, 1, 512)
	one.Dims = 1
	empty := brain("empty", nil, 1, 0, 512)
	whole := brain("ids", x, 1, 2, 256)
	whole.Stored = dtype.I32
	strange := brain("strange", x, 1, 2, 256)
	strange.Stored = nil
	norm := brain("router", x, 1, 2, 256)
	norm.Role = dtype.FFNGateInp
	odd := brain("odd", x, 1, 4, 128)
	for _, c := range []struct {
		t   *Tensor
		why string
	}{{one, "no matrix"}, {empty, "empty"}, {whole, "stored as i32"}, {strange, "not known"}, {norm, "ffn_gate_inp"},
		{brain("nan", nan, 1, 2, 256), "1 NaN"}, {odd, ""}} {
		m, err := (&Work{Formats: []*Format{find(t, "q4_k")}}).Measure(c.t)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(m.Kept, c.why) || len(m.Tried) != 0 {
			t.Errorf("%s: kept because %q, want %q", c.t.Name, m.Kept, c.why)
		}
	}
}

// TestReadFaults: a file that ends, and work that is stopped.
func TestReadFaults(t *testing.T) {
	x := brain("x", normal(1<<16, 1), 1, 256, 256)
	x.Start = 1000
	if _, err := (&Work{Formats: unasked()}).Measure(x); !errors.Is(err, io.EOF) || !strings.Contains(err.Error(), "tensor x") {
		t.Errorf("%v", err)
	}
	x.Start = 0
	if _, err := (&Work{Formats: unasked(), Done: func(int64) bool { return false }}).Measure(x); !errors.Is(err, ErrStopped) {
		t.Errorf("%v", err)
	}
	if _, err := (&Work{Formats: unasked(), Inputs: func(*Tensor) (*Inputs, error) {
		return &Inputs{Columns: make([]float32, 7)},
			nil
	}}).Measure(x); err == nil || !strings.Contains(err.Error(), "another model") {
		t.Errorf("%v", err)
	}
}

// TestHuge: formats whose scales cannot hold a matrix are not said to.
func TestHuge(t *testing.T) {
	x := normal(512, 1)
	for i := range x {
		x[i] *= 1e10
	}
	m, err := (&Work{Formats: unasked()}).Measure(brain("huge", x, 1, 2, 256))
	if err != nil {
		t.Fatal(err)
	}
	if m.Of(find(t, "q4_0")) != nil || m.Of(find(t, "int8")) == nil || m.Of(find(t, "mxfp4")) == nil {
		t.Errorf("%d formats hold numbers of 1e8", len(m.Tried))
	}
}

// TestTogether: formats that would have much of an odd matrix in memory at once are not tried on it.
func TestTogether(t *testing.T) {
	for _, c := range []struct {
		format string
		cols   int64
		takes  bool
	}{{"nf4", 4096, true}, {"nf4", 28672, true}, {"nf4", 4097, false}, {"nf4-single", 4097, true}, {"fp8-block", 28672, true},
		{"fp8-block", 1 << 20, false}, {"int8", 1 << 20, true}} {
		x := &Tensor{Dims: 2, Batch: 1, Rows: 512, Cols: c.cols}
		if x.Takes(find(t, c.format)) != c.takes {
			t.Errorf("%s of %d columns: want %v", c.format, c.cols, c.takes)
		}
	}
}

// TestStored: q8_0 and 32-bit files are read as bf16 ones are.
func TestStored(t *testing.T) {
	x := normal(512, 1)
	var wide, halves, eights []byte
	for _, v := range x {
		wide = binary.LittleEndian.AppendUint32(wide, math.Float32bits(v))
		halves = binary.LittleEndian.AppendUint16(halves, toHalf(v))
	}
	for i := 0; i < len(x); i += block {
		var b [34]byte
		q8zero{}.Encode(b[:], x[i:], nil)
		eights = append(eights, b[:]...)
	}
	for f, data := range map[*dtype.Format][]byte{dtype.F32: wide, dtype.F16: halves, dtype.Q8_0: eights} {
		tensor := &Tensor{Name: f.Name, Dims: 2, Batch: 1, Rows: 2, Cols: 256, Stored: f, Data: bytes.NewReader(data)}
		var buf []byte
		got := make([]float32, 512)
		if err := tensor.rows(got, 0, 2, &buf); err != nil {
			t.Fatal(err)
		}
		if e, _ := slowError(x, got, nil); e.RMS() > 0.009 || f == dtype.F32 && e.Noise != 0 {
			t.Errorf("%s: error %v", f.Name, e.RMS())
		}
	}
}

// TestBrains: rows that are no multiple of four are read whole.
func TestBrains(t *testing.T) {
	x := normal(3*7, 1)
	var buf []byte
	got := make([]float32, len(x))
	if err := brain("odd", x, 1, 3, 7).rows(got, 0, 3, &buf); err != nil || !slices.Equal(got, x) {
		t.Errorf("%v, want %v: %v", got, x, err)
	}
}

// model of matrices that differ in size and spread.
func measuredModel(t *testing.T, formats []*Format) []*Measured {
	t.Helper()
	var all []*Measured
	for i := range 12 {
		x := heavy(64*256*(1+i%3), uint64(i))
		for j := range x {
			x[j] *= float32(1 + i%5)
		}
		tensor := brain("t"+string(rune('a'+i)), x, 1, int64(64*(1+i%3)), 256)
		tensor.Role, tensor.Layer, tensor.Part = []dtype.Role{dtype.AttnQ, dtype.AttnK, dtype.FFNDown}[i%3], i/3, "decoder"
		m, err := (&Work{Formats: formats}).Measure(tensor)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

// TestMixBeatsUniform: in the bytes of each single format there is a mixture with no more error, and with less where
// there are formats on both sides to trade.
func TestMixBeatsUniform(t *testing.T) {
	formats := []*Format{find(t, "q8_0"), find(t, "q6_k"), find(t, "q5_k"), find(t, "q4_k"), find(t, "q3_k"), find(t, "q2_k"),
		find(t, "fp8"), find(t, "nf4"), find(t, "int4-g128")}
	all := measuredModel(t, formats)
	head := brain("head", normal(64*256, 77), 1, 64, 256)
	head.Role, head.Layer = dtype.Output, -1 // which formats of the hub leave alone: it counts all the same
	m, err := (&Work{Formats: formats}).Measure(head)
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, m)
	for _, family := range []Family{GGUF, Hub} {
		c := NewChoice(all, family, nil)
		for _, u := range Uniforms(all, formats) {
			if u.Format.Family != family {
				continue
			}
			m, ok := c.Within(u.Bytes)
			if !ok || m.Bytes > u.Bytes || m.Error.WeightedNoise > u.Error.WeightedNoise*(1+1e-9) {
				t.Errorf("%s takes %v with %v; the mixture %+v", u.Format.Name, u.Bytes, u.Error.WeightedRMS(), m)
				continue
			}
			if slices.Contains([]string{"q6_k", "q5_k", "q4_k", "q3_k"}, u.Format.Name) && m.Error.WeightedNoise >= u.Error.WeightedNoise {
				t.Errorf("the mixture in the bytes of %s is no better", u.Format.Name)
			}
			if !near(m.Error.Signal, u.Error.Signal) {
				t.Errorf("signals differ: %v, %v", m.Error.Signal, u.Error.Signal)
			}
		}
	}
}

// TestShared: queries and keys of a layer get one format where engines join them, and a floor holds.
func TestShared(t *testing.T) {
	formats := []*Format{find(t, "fp8"), find(t, "nf4"), find(t, "q8_0"), find(t, "q4_k")}
	all := measuredModel(t, formats)
	c := NewChoice(all, Hub, nil)
	if len(c.Groups) != 8 {
		t.Fatalf("%d groups", len(c.Groups))
	}
	least, most := c.Range()
	m, ok := c.Within((least + most) / 2)
	if !ok {
		t.Fatal("no mixture")
	}
	of := map[string]string{}
	for _, p := range m.Parts {
		if p.Tensor.Role == dtype.FFNDown {
			continue
		}
		key := string(rune('0' + p.Tensor.Layer))
		if before, ok := of[key]; ok && before != p.Format {
			t.Errorf("layer %s has %q and %q", key, before, p.Format)
		}
		of[key] = p.Format
	}
	floors := []Floor{{dtype.AttnK, find(t, "q8_0")}}
	floored := NewChoice(all, GGUF, floors)
	low, _ := floored.Range()
	m, ok = floored.Within(low)
	if !ok {
		t.Fatal("no mixture of the smallest size")
	}
	for _, p := range m.Parts {
		if want := map[bool]string{true: "q8_0", false: "q4_k"}[p.Tensor.Role == dtype.AttnK]; p.Format != want {
			t.Errorf("%s has %s, want %s", p.Tensor.Name, p.Format, want)
		}
	}
}

func TestTensorTypes(t *testing.T) {
	x := &Mixed{}
	for l := range 3 {
		x.Parts = append(x.Parts, Given{Tensor: &Tensor{Role: dtype.AttnV, Layer: l, Stored: dtype.BF16},
			Format: []string{"q6_k", "q4_k", "q6_k"}[l]})
	}
	x.Parts = append(x.Parts, Given{Tensor: &Tensor{Role: dtype.Output, Layer: -1, Stored: dtype.BF16}})
	want := []string{`--tensor-type 'blk\.(0|2)\.attn_v\.=q6_k'`, `--tensor-type 'blk\.(1)\.attn_v\.=q4_k'`, `--tensor-type '^output\.=bf16'`}
	got := x.TensorTypes()
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s, want %s", got[i], want[i])
		}
	}
}

// TestWhole: the formats that are said to need a survey are those whose coders differ after one.
func TestWhole(t *testing.T) {
	x := heavy(64*256, 4)
	before, after := NewSurvey(64, 256), surveyOf(x, 256)
	for _, f := range unasked() {
		a, b := coderOf(f, before), coderOf(f, after)
		if _, ok := a.(*llmInt8); ok {
			continue // of inputs
		}
		elems, size := a.Unit()
		same := true
		for at := 0; at < len(x); at += elems {
			part := x[at:min(at+elems, len(x))]
			one, other := make([]byte, size), make([]byte, size)
			a.Encode(one, part, nil)
			b.Encode(other, part, nil)
			same = same && bytes.Equal(one, other)
		}
		if same == f.Whole {
			t.Errorf("%s: asks for the whole %v, and is the same without %v", f.Name, f.Whole, same)
		}
	}
}

// TestBroken: numbers that are none stop no format and reach no figure of other tensors.
func TestBroken(t *testing.T) {
	for i, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)),
		float32(math.Copysign(math.NaN(), -1))} {
		x := heavy(16*512, uint64(i))
		x[700], x[3000] = bad, bad
		m, err := (&Work{Formats: unasked()}).Measure(brain("bad", x, 1, 16, 512))
		if err != nil || len(m.Tried) != 0 || !strings.HasPrefix(m.Kept, "2 ") {
			t.Errorf("%v: kept because %q, %d tried, %v", bad, m.Kept, len(m.Tried), err)
		}
	}
}
