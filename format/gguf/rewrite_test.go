package gguf_test

import (
	"bytes"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/format/gguf/gguftest"
)

// TestRewritten: all metadata but what speaks of the file itself are there again, and tensors lie where they are planned.
func TestRewritten(t *testing.T) {
	b := gguftest.New("llama").Set("split.count", gguftest.U16(1)).Set("tokens", gguftest.Array[gguftest.Str]{"a", "bc", ""}).
		Set("general.file_type", gguftest.U32(1)).Set("llama.block_count", gguftest.U32(7)).Tensor("x", dtype.F16, 256, 3).File()
	head := make([]byte, b.Len)
	copy(head, b.Head)
	f, err := gguf.Read(bytes.NewReader(head), b.Len)
	if err != nil {
		t.Fatal(err)
	}
	planned := []gguf.Planned{{Name: "x", Dims: []int64{256, 3}, Format: dtype.Q4_K}, {Name: "y", Dims: []int64{5}, Format: dtype.F32}}
	out, err := gguf.Rewritten(f, bytes.NewReader(head), map[string]uint32{"general.file_type": 14}, planned)
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(out))%f.Alignment != 0 {
		t.Errorf("the data begin at %d", len(out))
	}
	file := append(out, make([]byte, 448+32)...)
	g, err := gguf.Read(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := g.Uint("llama.block_count"); v != 7 {
		t.Errorf("%d blocks", v)
	}
	if v, _ := g.Uint("general.file_type"); v != 14 {
		t.Errorf("file type %d", v)
	}
	if n, _ := g.ArrayLen("tokens"); n != 3 || g.Type("split.count") != "" {
		t.Errorf("%d tokens, split.count %q", n, g.Type("split.count"))
	}
	if len(g.Tensors) != 2 || g.Tensors[0].Format != dtype.Q4_K || g.Tensors[1].Offset != 448 || g.Tensors[1].Bytes != 20 {
		t.Errorf("%+v", g.Tensors)
	}
	old := *f
	old.Version = 1
	if _, err := gguf.Rewritten(&old, bytes.NewReader(head), nil, planned); err == nil {
		t.Error("a file of version 1 is rewritten")
	}
}
