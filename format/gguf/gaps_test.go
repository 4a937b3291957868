package gguf_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/format/gguf/gguftest"
)

// TestAcross: a header says the same without its gaps, whatever stands in them; and they are nearly all of it.
func TestAcross(t *testing.T) {
	b := gguftest.Llama8B.Builder().Set("long", gguftest.Str(bytes.Repeat([]byte("x"), 200_000))).Set("short", gguftest.Str("kept"))
	for _, big := range []bool{false, true} {
		b.BigEndian = big
		f := b.File()
		want, err := gguf.Read(f, f.Len)
		if err != nil {
			t.Fatal(err)
		}
		var left int64
		for _, g := range want.Gaps {
			left += g.Bytes
			for i := g.At; i < g.At+g.Bytes; i++ {
				f.Head[i] = 0xee
			}
		}
		if rest := int64(len(f.Head)) - left; rest > 100_000 || len(want.Gaps) != 4 {
			t.Errorf("%d bytes remain beside %d gaps", rest, len(want.Gaps))
		}
		got, err := gguf.ReadAcross(f, f.Len, want.Gaps)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Error("another header")
		}
	}
}
