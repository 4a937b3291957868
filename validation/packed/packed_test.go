package packed

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

var update = flag.Bool("update", false, "write the packs of texts that changed")

// tree is the folder of the texts.
const tree = ".."

// TestPacks: every text of the tree is what its pack holds. What a pack holds counts, not its bytes: another release of
// Go may compress otherwise, and a pack stays until its text changes.
func TestPacks(t *testing.T) {
	stale, err := Stale(os.DirFS(tree))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range stale {
		if !*update {
			t.Errorf("%s changed and its pack did not: go test ./validation/packed -update", f)
		} else if err := renew(f); err != nil {
			t.Error(err)
		}
	}
}

// renew writes the pack of a text, or removes it with the text.
func renew(f File) error {
	text, err := os.ReadFile(filepath.Join(tree, filepath.FromSlash(string(f))))
	to := filepath.FromSlash(f.Pack())
	if errors.Is(err, fs.ErrNotExist) {
		return os.Remove(to)
	}
	if err != nil {
		return err
	}
	data, err := Pack(text)
	return errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, data, 0o644))
}

// texts of the packs, as a folder.
func texts(t *testing.T) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	for _, pattern := range []string{"*/*", "*/*/*"} {
		files, err := Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			data, err := f.Read()
			if err != nil {
				t.Fatal(err)
			}
			out[string(f)] = &fstest.MapFile{Data: data}
		}
	}
	return out
}

// TestCheck: a text that changed, came or went is named, and what is not packed is not asked for.
func TestCheck(t *testing.T) {
	const some = "rows/vllm.jsonl"
	for name, c := range map[string]struct {
		change func(fstest.MapFS)
		stale  []File
	}{
		"nothing":        {func(fstest.MapFS) {}, nil},
		"a byte":         {func(m fstest.MapFS) { m[some] = &fstest.MapFile{Data: append([]byte(" "), m[some].Data...)} }, []File{some}},
		"a new text":     {func(m fstest.MapFS) { m["rows/new.tsv"] = &fstest.MapFile{} }, []File{"rows/new.tsv"}},
		"a text less":    {func(m fstest.MapFS) { delete(m, some) }, []File{some}},
		"what fits read": {func(m fstest.MapFS) { m[string(unasked)] = &fstest.MapFile{} }, nil},
		"no text":        {func(m fstest.MapFS) { m["kernels/kernels.go"] = &fstest.MapFile{} }, nil},
	} {
		m := texts(t)
		c.change(m)
		got, err := Stale(m)
		if err != nil || !slices.Equal(got, c.stale) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.stale)
		}
		if err := Check(m); (err == nil) != (c.stale == nil) || err != nil && !strings.Contains(err.Error(), "-update") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPack: a text comes back whole, and is packed the same way twice.
func TestPack(t *testing.T) {
	text := bytes.Repeat([]byte("model\ttokens\n"), 1000)
	a, err := Pack(text)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Pack(text)
	if err != nil || !bytes.Equal(a, b) || len(a) > len(text)/10 {
		t.Errorf("%d bytes, %v", len(a), err)
	}
}

func TestUnknown(t *testing.T) {
	if _, err := File("rows/none.tsv").Read(); err == nil || !strings.Contains(err.Error(), "rows/none.tsv") {
		t.Error(err)
	}
}

func BenchmarkRead(b *testing.B) {
	for b.Loop() {
		if _, err := File("rows/serving.jsonl").Read(); err != nil {
			b.Fatal(err)
		}
	}
}
