package safetensors_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"strings"
	"testing"

	"github.com/memwall/memwall/format/safetensors"
	"github.com/memwall/memwall/format/safetensors/safetensorstest"
)

// FuzzRead: no bytes make the reader panic, hang or take much memory, and what it accepts obeys its own laws.
func FuzzRead(f *testing.F) {
	add := func(s *safetensorstest.Sparse) { f.Add(s.Head, s.Len) }
	add(small().File())
	add(many(3).File())
	for _, c := range hostile {
		if len(c.header) < 1000 {
			add(safetensorstest.Text(c.header, 4))
		}
	}
	f.Fuzz(func(t *testing.T, head []byte, size int64) {
		var file *safetensors.File
		var err error
		spent := allocated(func() { file, err = safetensors.ReadHeader(bytes.NewReader(head), int64(len(head)), size) })
		if most := uint64(1<<20 + 100*len(head)); spent > most {
			t.Fatalf("%d bytes allocated for %d", spent, len(head))
		}
		var e *safetensors.Error
		if err != nil && (!errors.As(err, &e) || e.Error() == "" || e.Fix == "") {
			t.Fatalf("%#v", err)
		}
		if err == nil {
			checkLaws(t, file, head, size)
		}
	})
}

// checkLaws holds for every file that is accepted.
func checkLaws(t *testing.T, f *safetensors.File, head []byte, size int64) {
	t.Helper()
	if !json.Valid(head[8:f.DataOffset()]) || f.Size != size || f.TensorBytes() < 0 || f.Elements() < 0 {
		t.Fatalf("%+v", f)
	}
	var sum int64
	names := map[string]bool{}
	for i := range f.Tensors {
		x := &f.Tensors[i]
		if x.Begin < 0 || x.End < x.Begin || x.End > f.TensorBytes() || names[x.Name] {
			t.Fatalf("%+v", x)
		}
		if x.Format != nil && int64(x.Format.Bytes(x.Elements())) != x.Bytes() {
			t.Fatalf("%+v", x)
		}
		names[x.Name] = true
		sum += x.Bytes()
	}
	if sum != f.TensorBytes() {
		t.Fatalf("%d bytes in tensors, %d in the file", sum, f.TensorBytes())
	}
	var twin map[string]json.RawMessage
	if err := json.Unmarshal(head[8:f.DataOffset()], &twin); err != nil {
		t.Fatal(err)
	}
	delete(twin, "__metadata__")
	for name := range twin {
		if !names[name] || len(twin) != len(names) {
			t.Fatalf("%q among %v", name, names)
		}
	}
}

// FuzzReadIndex: likewise, and no file lies outside the folder.
func FuzzReadIndex(f *testing.F) {
	f.Add(`{"metadata":{"total_size":12.0},"weight_map":{"a":"x.safetensors","b\u0020":"y"}}`)
	f.Add(`{"weight_map":{"a":"../x"}}`)
	f.Add(`{"x":[[1e5,-0.1],{"y":null}],"weight_map":{}} `)
	f.Fuzz(func(t *testing.T, text string) {
		ix, err := safetensors.ReadIndex(strings.NewReader(text))
		var e *safetensors.Error
		if err != nil {
			if !errors.As(err, &e) || e.Error() == "" || e.Fix == "" {
				t.Fatalf("%#v", err)
			}
			return
		}
		if !json.Valid([]byte(text)) || ix.TotalSize < 0 || ix.Parameters < 0 {
			t.Fatalf("%q: %+v", text, ix)
		}
		var twin map[string]json.RawMessage
		var weights map[string]string
		if err := errors.Join(json.Unmarshal([]byte(text), &twin), json.Unmarshal(twin["weight_map"], &weights)); err != nil ||
			!maps.Equal(weights, ix.WeightMap) {
			t.Fatalf("%q: %v, encoding/json has %v, %v", text, ix.WeightMap, weights, err)
		}
		for _, name := range ix.Files() {
			if !fs.ValidPath(name) {
				t.Fatalf("%q", name)
			}
		}
	})
}
