package quant

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format/gguf/gguftest"
)

// oldImportance is a file of the older kind: per entry a name, a count and its sums.
func oldImportance(names []string, sums [][]float32) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(names)))
	for i, n := range names {
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(n))), n...)
		b = binary.LittleEndian.AppendUint32(b, 7)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(sums[i])))
		for _, v := range sums[i] {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
	}
	return b
}

// newImportance is a GGUF file of sums and counts: two experts of four columns, of which no token reached the second.
func newImportance() []byte {
	f := gguftest.New("llama").Set("general.type", gguftest.Str("imatrix")).
		Tensor("blk.0.ffn_up_exps.weight.in_sum2", dtype.F32, 4, 2).Tensor("blk.0.ffn_up_exps.weight.counts", dtype.F32, 1, 2).File()
	b := make([]byte, f.Len)
	copy(b, f.Head)
	at := len(b) - 64
	for i, v := range []float32{2, 4, 6, 8, 0, 0, 0, 0} {
		binary.LittleEndian.PutUint32(b[at+4*i:], math.Float32bits(v))
	}
	binary.LittleEndian.PutUint32(b[at+32:], math.Float32bits(2))
	return b
}

func TestImportanceFiles(t *testing.T) {
	old := oldImportance([]string{"blk.0.attn_q.weight", "output.weight"}, [][]float32{{1, 2, 3}, {5}})
	got, err := ReadImportance(bytes.NewReader(old), int64(len(old)))
	if err != nil || len(got) != 2 || got["blk.0.attn_q"][2] != 3 || got["output"][0] != 5 {
		t.Errorf("%v, %v", got, err)
	}
	b := newImportance()
	got, err = ReadImportance(bytes.NewReader(b), int64(len(b)))
	if v := got["blk.0.ffn_up_exps"]; err != nil || len(v) != 8 || v[0] != 1 || v[3] != 4 || v[4] != 0 {
		t.Errorf("%v, %v", got, err)
	}
	in := &Inputs{Columns: got["blk.0.ffn_up_exps"]}
	if first := in.ofMatrix(0, 4); first == nil || first.Columns[3] != 1.6 {
		t.Errorf("%v", first)
	}
	if in.ofMatrix(1, 4) != nil {
		t.Error("an expert without tokens has inputs")
	}
	s := &Statistics{Importance: map[string][]float32{"blk.3.attn_q": {1, 2}}}
	for name, want := range map[string]bool{"blk.3.attn_q.weight": true, "model.layers.3.self_attn.q_proj.weight": true,
		"other.weight": false} {
		x := &Tensor{Name: name, Layer: 3, Part: "decoder", Role: dtype.AttnQ}
		if name == "other.weight" {
			x.Role = ""
		}
		if in, err := s.Inputs(x); err != nil || (in != nil) != want {
			t.Errorf("%s: %v, %v", name, in, err)
		}
	}
}

// TestBadImportance: every file is an error that says where, and none makes memory grow.
func TestBadImportance(t *testing.T) {
	good := oldImportance([]string{"blk.0.attn_q.weight"}, [][]float32{{1, 2, 3}})
	for n := range len(good) {
		if _, err := ReadImportance(bytes.NewReader(good[:n]), int64(n)); err == nil {
			t.Errorf("%d bytes of %d are read", n, len(good))
		}
	}
	for what, b := range map[string][]byte{
		"many entries": {255, 255, 255, 127, 0, 0, 0, 0}, "no entries": {0, 0, 0, 0}, "negative": {255, 255, 255, 255},
		"long name": {1, 0, 0, 0, 255, 255, 255, 127, 0, 0, 0, 0, 0, 0, 0, 0}, "text": []byte("not an importance matrix, but a letter"),
		"NaN": oldImportance([]string{"a"}, [][]float32{{float32(math.NaN())}}), "below 0": oldImportance([]string{"a"}, [][]float32{{-1}}),
	} {
		if _, err := ReadImportance(bytes.NewReader(b), int64(len(b))); err == nil || strings.Contains(err.Error(), "panic") {
			t.Errorf("%s: %v", what, err)
		}
	}
	f := gguftest.New("llama").Tensor("x.in_sum2", dtype.F32, 4).File()
	b := make([]byte, f.Len)
	copy(b, f.Head)
	if _, err := ReadImportance(bytes.NewReader(b), int64(len(b))); err == nil || !strings.Contains(err.Error(), "counts") {
		t.Errorf("%v", err)
	}
}

func FuzzImportance(f *testing.F) {
	f.Add(oldImportance([]string{"blk.0.attn_q.weight"}, [][]float32{{1, 2, 3}}))
	f.Add(newImportance())
	f.Fuzz(func(_ *testing.T, b []byte) {
		_, _ = ReadImportance(bytes.NewReader(b), int64(len(b))) // any answer but a crash
	})
}
