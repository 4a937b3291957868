package safetensors_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format/safetensors"
	"github.com/memwall/memwall/format/safetensors/safetensorstest"
)

func read(t *testing.T, s *safetensorstest.Sparse) *safetensors.File {
	t.Helper()
	f, err := safetensors.Read(s, s.Len)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The example of the format's reference tests (test_serialization of safetensors/src/tensor.rs), and its empty
// files.
func TestReferenceFiles(t *testing.T) {
	s := safetensorstest.Text(`{"attn.0":{"dtype":"F32","shape":[1,2,3],"data_offsets":[0,24]}}`, 24)
	f := read(t, s)
	want := safetensors.Tensor{Name: "attn.0", DType: "F32", Format: dtype.F32, Shape: []int64{1, 2, 3}, Begin: 0, End: 24}
	if len(f.Tensors) != 1 || !same(f.Tensors[0], want) || f.HeaderBytes != 64 || f.DataOffset() != 72 || f.Metadata != nil {
		t.Errorf("%+v", f)
	}
	if f := read(t, safetensorstest.Text(`{}      `, 0)); len(f.Tensors) != 0 || f.HeaderBytes != 8 || f.TensorBytes() != 0 {
		t.Errorf("%+v", f)
	}
	f = read(t, safetensorstest.Text(`{"__metadata__":{"framework":"pt"}}     `, 0))
	if len(f.Tensors) != 0 || !maps.Equal(f.Metadata, map[string]string{"framework": "pt"}) {
		t.Errorf("%+v", f)
	}
}

func same(a, b safetensors.Tensor) bool {
	return a.Name == b.Name && a.DType == b.DType && a.Format == b.Format && slices.Equal(a.Shape, b.Shape) && a.Begin == b.Begin &&
		a.End == b.End
}

// bitsOf is Dtype::bitsize of safetensors/src/tensor.rs, May 2026.
var bitsOf = map[string]int64{
	"BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8,
	"F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32,
	"C64": 64, "F64": 64, "I64": 64, "U64": 64,
}

func TestEveryType(t *testing.T) {
	b := new(safetensorstest.Builder)
	names := slices.Sorted(maps.Keys(bitsOf))
	for _, name := range names {
		b.Tensor("t."+name, name, bitsOf[name], 3, 8)
	}
	f := read(t, b.File())
	for i, name := range names {
		x := &f.Tensors[i]
		if x.DType != name || x.Format == nil || x.Format != safetensors.ByName(name) || x.Format.Bits() != float64(bitsOf[name]) ||
			x.Bytes() != 3*bitsOf[name] {
			t.Errorf("%s: %+v", name, x)
		}
	}
	if f.Elements() != int64(24*len(names)) {
		t.Errorf("%d elements", f.Elements())
	}
	if safetensors.ByName("F3") != nil {
		t.Error("F3 is known")
	}
}

// The largest values of the small floats that dtype has no name for: OCP Microscaling Formats 1.0, table 1.
func TestSixBitFloats(t *testing.T) {
	for name, want := range map[string]float64{"F6_E2M3": 7.5, "F6_E3M2": 28} {
		if got := safetensors.ByName(name).Float.Max(); got != want {
			t.Errorf("%s: %g, want %g", name, got, want)
		}
	}
}

// A type that nobody told us of: its size is what the offsets say.
func TestUnknownType(t *testing.T) {
	b := new(safetensorstest.Builder).Tensor("a", "F32", 32, 4).Tensor("b", "F2_X", 2, 100).Tensor("c", "U8", 8, 1)
	x := read(t, b.File()).Tensors[1]
	if x.Format != nil || x.DType != "F2_X" || x.Bytes() != 25 || x.Elements() != 100 {
		t.Errorf("%+v", x)
	}
}

// Scalars, empty tensors, any order of fields, fields to come, escapes: all that the format allows.
func TestAllowed(t *testing.T) {
	for name, c := range map[string]struct {
		header string
		data   int64
		want   safetensors.Tensor
	}{
		"scalar": {`{"a":{"dtype":"F64","shape":[],"data_offsets":[0,8]}}`, 8,
			safetensors.Tensor{Name: "a", DType: "F64", Format: dtype.F64, End: 8}},
		"empty": {`{"a":{"dtype":"F64","shape":[3,0,9223372036854775807],"data_offsets":[0,0]}}`, 0,
			safetensors.Tensor{Name: "a", DType: "F64", Format: dtype.F64, Shape: []int64{3, 0, math.MaxInt64}}},
		"order and space": {"{\"a\" :\n{ \"data_offsets\":[ 0 ,\t2 ] , \"shape\" : [ 2 ],\r\"dtype\":\"U8\" } }\n\t ", 2,
			safetensors.Tensor{Name: "a", DType: "U8", Format: dtype.U8, Shape: []int64{2}, End: 2}},
		"more fields": {`{"a":{"x":{"y":[1,-2.5e+3,null,true,{"z":""}]},"dtype":"U8","shape":[1],"data_offsets":[0,1],"w":[]}}`, 1,
			safetensors.Tensor{Name: "a", DType: "U8", Format: dtype.U8, Shape: []int64{1}, End: 1}},
		"escapes": {`{"\u0061\n\"\\\/\b\f\r\t\ud83d\uDE00ä":{"\u0064type":"U\u0038","shape":[1],"data_offsets":[0,1]}}`, 1,
			safetensors.Tensor{Name: "a\n\"\\/\b\f\r\t😀ä", DType: "U8", Format: dtype.U8, Shape: []int64{1}, End: 1}},
		"no name": {`{"":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 1,
			safetensors.Tensor{DType: "U8", Format: dtype.U8, Shape: []int64{1}, End: 1}},
		"no metadata": {`{"__metadata__":null,"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 1,
			safetensors.Tensor{Name: "a", DType: "U8", Format: dtype.U8, Shape: []int64{1}, End: 1}},
	} {
		if f := read(t, safetensorstest.Text(c.header, c.data)); len(f.Tensors) != 1 || !same(f.Tensors[0], c.want) {
			t.Errorf("%s: %+v", name, f.Tensors)
		}
	}
}

// The order of the header is free; the tensors stay in it.
func TestOrder(t *testing.T) {
	f := read(t, safetensorstest.Text(`{"b":{"dtype":"U8","shape":[2],"data_offsets":[3,5]},`+
		`"e":{"dtype":"U8","shape":[0],"data_offsets":[3,3]},"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}}`, 5))
	if len(f.Tensors) != 3 || f.Tensors[0].Name != "b" || f.Tensors[2].Name != "a" || f.TensorBytes() != 5 {
		t.Errorf("%+v", f.Tensors)
	}
}

// TestTwin compares the scanner with encoding/json on random files, some longer than the window.
func TestTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range 60 {
		n := rng.IntN(30)
		if i%20 == 0 {
			n = 5000
		}
		b := &safetensorstest.Builder{Pad: 1 + rng.IntN(64)}
		for j := range n {
			b.Tensor(fmt.Sprintf("%s.%d", randomText(rng), j), "BF16", 16, rng.Int64N(9), rng.Int64N(1<<20))
			b.Meta(fmt.Sprintf("%d%s", j, randomText(rng)), randomText(rng))
		}
		compare(t, b.File())
	}
}

func randomText(rng *rand.Rand) string {
	letters := []rune("ab.\"\\\n\t\x00ä€😀/<&\u2028")
	var b strings.Builder
	for range rng.IntN(60) {
		b.WriteRune(letters[rng.IntN(len(letters))])
	}
	return b.String()
}

func compare(t *testing.T, s *safetensorstest.Sparse) {
	t.Helper()
	f := read(t, s)
	var want map[string]struct {
		DType   string   `json:"dtype"`
		Shape   []int64  `json:"shape"`
		Offsets [2]int64 `json:"data_offsets"`
	}
	var meta struct {
		Metadata map[string]string `json:"__metadata__"`
	}
	text := s.Head[8 : 8+binary.LittleEndian.Uint64(s.Head)]
	if err := errors.Join(json.Unmarshal(text, &want), json.Unmarshal(text, &meta)); err != nil {
		t.Fatal(err)
	}
	delete(want, "__metadata__")
	if len(f.Tensors) != len(want) || !maps.Equal(f.Metadata, meta.Metadata) {
		t.Fatalf("%d tensors, want %d; metadata %q, want %q", len(f.Tensors), len(want), f.Metadata, meta.Metadata)
	}
	for _, x := range f.Tensors {
		w := want[x.Name]
		if x.DType != w.DType || !slices.Equal(x.Shape, w.Shape) || [2]int64{x.Begin, x.End} != w.Offsets {
			t.Fatalf("%+v, want %+v", x, w)
		}
	}
}

func TestReadHeaderFromItsBytesAlone(t *testing.T) {
	s := many(300).File()
	f, err := safetensors.ReadHeader(bytes.NewReader(s.Head), int64(len(s.Head)), s.Len)
	if err != nil || len(f.Tensors) != 300 || f.Size != s.Len {
		t.Errorf("%+v, %v", f, err)
	}
	n, err := safetensors.HeaderLength(bytes.NewReader(s.Head[:8]), 8, s.Len)
	if err != nil || n != int64(len(s.Head)-8) {
		t.Errorf("%d, %v", n, err)
	}
}
