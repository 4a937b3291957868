package learn

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the pack of the texts")

// folderTexts are the texts as people edit them.
func folderTexts(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, dir := range []string{"lessons", "questions"} {
		names, err := filepath.Glob(filepath.Join(dir, "*.txt"))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v", dir, err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			out[strings.TrimSuffix(filepath.ToSlash(name), ".txt")] = string(data)
		}
	}
	return out
}

// TestPack: the program carries the texts as they are.
func TestPack(t *testing.T) {
	want := packed(folderTexts(t))
	if *update {
		if err := os.WriteFile("texts.gz", want, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(want, pack) {
		t.Fatal("a text changed: go test ./learn -run Pack -update packs it")
	}
	out := unpacked(want)
	for name, text := range folderTexts(t) {
		if strings.TrimRight(out[name], "\n") != strings.TrimRight(text, "\n") {
			t.Errorf("%s comes out of the pack otherwise", name)
		}
	}
}

// TestDamagedPack: nothing crashes over it.
func TestDamagedPack(t *testing.T) {
	for _, data := range [][]byte{nil, {1, 2, 3}, pack[:len(pack)/2]} {
		if n := len(unpacked(data)); n >= len(texts()) {
			t.Errorf("%d texts of a damaged pack", n)
		}
	}
}
