package gguf_test

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/format/gguf/gguftest"
)

// FuzzRead: no bytes make the reader panic, hang or take much memory, and what it accepts obeys its own laws.
func FuzzRead(f *testing.F) {
	for _, e := range encodings {
		for _, b := range []*gguftest.Builder{gguftest.Tiny.Builder(), everyType(), shard(1, 3, 3, "a", "b")} {
			b.Version, b.BigEndian = e.version, e.big
			f.Add(b.Header(), b.File().Len)
		}
	}
	for _, c := range hostile {
		if h := c.file.Header(); len(h) < 1000 {
			f.Add(h, int64(len(h)))
		}
	}
	f.Fuzz(func(t *testing.T, head []byte, size int64) {
		var file *gguf.File
		var err error
		spent := allocated(func() { file, err = gguf.ReadHeader(bytes.NewReader(head), int64(len(head)), size) })
		if most := uint64(1<<20 + 100*len(head)); spent > most {
			t.Fatalf("%d bytes allocated for %d", spent, len(head))
		}
		var e *gguf.Error
		if err != nil && (!errors.As(err, &e) || e.Error() == "" || e.Fix == "" || e.Field == "") {
			t.Fatalf("%#v", err)
		}
		if err == nil {
			checkLaws(t, file, int64(len(head)), size)
		}
	})
}

// checkLaws holds for every file that is accepted.
func checkLaws(t *testing.T, f *gguf.File, have, size int64) {
	t.Helper()
	if f.Alignment <= 0 || f.Alignment&(f.Alignment-1) != 0 || f.Size != size || f.Version < 1 || f.Version > 3 {
		t.Fatalf("alignment %d, size %d, version %d", f.Alignment, f.Size, f.Version)
	}
	end := int64(0)
	for i := range f.Tensors {
		x := &f.Tensors[i]
		if x.Offset < end || x.Offset%f.Alignment != 0 || x.Bytes <= 0 || x.Elements() <= 0 || x.Inferred != (x.Format == nil) {
			t.Fatalf("%+v behind %d", x, end)
		}
		if end = x.Offset + x.Bytes; f.Start(x)+x.Bytes > size {
			t.Fatalf("%+v ends beyond %d", x, size)
		}
	}
	if f.TensorBytes() > size || f.Elements() < 0 || f.Elements() == math.MaxInt64 {
		t.Fatalf("%d bytes and %d elements in %d bytes", f.TensorBytes(), f.Elements(), size)
	}
	kept := int64(0)
	for _, k := range f.Keys() {
		s, _ := f.String(k)
		ints, _ := f.Ints(k)
		kept += int64(len(k) + len(s) + len(ints))
		if f.Type(k) == "" {
			t.Fatalf("key %q has no type", k)
		}
	}
	if kept > have {
		t.Fatalf("%d bytes out of %d", kept, have)
	}
}
