// Package packed carries the public rows in the program, compressed: NAME.gz holds the text validation/NAME, which
// people read and edit. A test says when a text changed and its pack did not, and writes it anew:
//
//	go test ./validation/packed -update
package packed

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed rows peers kernels
var packs embed.FS

// folders of the texts, below validation.
var folders = []string{"rows", "peers", "kernels"}

// ending of a pack, after the name of its text.
const ending = ".gz"

// File is a text by its path below validation: "rows/vllm.jsonl".
type File string

// Name is the last part of the path.
func (f File) Name() string { return path.Base(string(f)) }

// Pack is the path of the file's pack, below this folder.
func (f File) Pack() string { return string(f) + ending }

// Read unpacks the text.
func (f File) Read() ([]byte, error) {
	data, err := packs.ReadFile(f.Pack())
	if err != nil {
		return nil, fmt.Errorf("no rows are called %s", f)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f, err)
	}
	return io.ReadAll(z)
}

// Lines of the text, without the last one's end.
func (f File) Lines() ([]string, error) {
	text, err := f.Read()
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), err
}

// Glob names the texts that match a pattern of package path, in order.
func Glob(pattern string) ([]File, error) {
	names, err := fs.Glob(packs, pattern+ending)
	out := make([]File, len(names))
	for i, n := range names {
		out[i] = File(strings.TrimSuffix(n, ending))
	}
	return out, err
}

// Pack compresses a text. It tells no name and no time, so that one text gives one pack.
func Pack(text []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(text); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}

// Check refuses packs that are not of the texts in a folder, which is validation in the tree.
func Check(texts fs.FS) error {
	stale, err := Stale(texts)
	if err == nil && len(stale) > 0 {
		err = fmt.Errorf("%s changed and the pack of it did not: go test ./validation/packed -update", stale[0])
	}
	return err
}

// Stale are the texts whose packs hold something else, those that have none, and packs of texts that are gone.
func Stale(texts fs.FS) ([]File, error) {
	files, err := packedFiles(texts)
	if err != nil {
		return nil, err
	}
	var out []File
	for _, f := range files {
		text, err := fs.ReadFile(texts, string(f))
		if err != nil {
			return nil, err
		}
		if had, err := f.Read(); err != nil || !bytes.Equal(had, text) {
			out = append(out, f)
		}
	}
	err = fs.WalkDir(packs, ".", func(name string, d fs.DirEntry, err error) error {
		if f := File(strings.TrimSuffix(name, ending)); err == nil && !d.IsDir() && !slices.Contains(files, f) {
			out = append(out, f)
		}
		return err
	})
	return out, err
}

// packedFiles are the texts of a folder that are packed.
func packedFiles(texts fs.FS) (out []File, err error) {
	for _, folder := range folders {
		err = fs.WalkDir(texts, folder, func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && File(name).Packed() {
				out = append(out, File(name))
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// unasked are rows that no question asks for: programs that fit read the text.
const unasked = File("rows/batches/static.jsonl")

// Packed says whether a file below validation is a text that the program carries.
func (f File) Packed() bool {
	folder, _, _ := strings.Cut(string(f), "/")
	return slices.Contains(folders, folder) && slices.Contains([]string{".tsv", ".jsonl", ".txt"}, path.Ext(string(f))) && f != unasked
}
