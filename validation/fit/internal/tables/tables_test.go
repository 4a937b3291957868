package tables

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"testing"

	"github.com/memwall/memwall/validation/packed"
)

// TestWrite: a table of rows is written with its pack, another table alone, and one that did not change keeps its pack.
func TestWrite(t *testing.T) {
	same, err := packed.File("rows/copy-folds.tsv").Read()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file, pack string
		text       []byte
		packed     bool
	}{
		{"validation/rows/copy-folds.tsv", "validation/packed/rows/copy-folds.tsv.gz", []byte("line\n"), true},
		{"./validation/rows/new/folds.tsv", "validation/packed/rows/new/folds.tsv.gz", []byte("line\n"), true},
		{"validation/rows/copy-folds.tsv", "validation/packed/rows/copy-folds.tsv.gz", same, false},
		{"speed/copies.tsv", "validation/packed/speed/copies.tsv.gz", []byte("name\n"), false},
	} {
		t.Chdir(t.TempDir())
		if err := errors.Join(os.MkdirAll("validation/rows/new", 0o755), os.MkdirAll("speed", 0o755), Write(c.file, c.text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(c.file); err != nil || !bytes.Equal(got, c.text) {
			t.Errorf("%s: %q, %v", c.file, got, err)
		}
		if got, err := unpacked(c.pack); c.packed && (err != nil || !bytes.Equal(got, c.text)) || !c.packed && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %q, %v", c.pack, got, err)
		}
	}
}

func unpacked(file string) ([]byte, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
