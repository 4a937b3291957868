package safetensors

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/format"
)

// Index is model.safetensors.index.json, which maps a model's tensors to files.
type Index struct {
	// TotalSize is metadata.total_size, the bytes of all tensors; 0 if missing or not an integer (transformers once
	// counted bools as an eighth of a byte). It is often stale.
	TotalSize  int64
	Parameters int64             // metadata.total_parameters, written by newer writers; 0 if unknown
	WeightMap  map[string]string // tensor name to file name, relative to the index's folder
}

// Files returns the file names, sorted.
func (ix *Index) Files() []string {
	seen := map[string]bool{}
	var files []string
	for _, f := range ix.WeightMap {
		if !seen[f] {
			seen[f] = true
			files = append(files, f)
		}
	}
	slices.Sort(files)
	return files
}

// ReadIndex parses an index of at most 100 MB.
func ReadIndex(r io.Reader) (*Index, error) {
	x := &index{files: map[string]string{}}
	x.scanner = newScanner(&sequential{r: r}, 0, maxHeader+1, indexEnded)
	ix := x.read()
	if x.err != nil {
		return nil, x.err
	}
	return ix, nil
}

// indexEnded returns the error for a text that ends at byte at.
func indexEnded(at int64) error {
	e := &Error{Offset: at, Field: "index", Text: "the index ends in the middle of its JSON text", Fix: format.FetchAgain}
	if at > maxHeader {
		e.Text = "an index of more than " + format.Size(maxHeader)
	}
	return e
}

type index struct {
	*scanner
	files map[string]string // interned file names
}

func (x *index) read() *Index {
	ix := &Index{}
	if c := x.next(); x.err == nil && c != '{' {
		x.notIndex()
	}
	seen := map[string]bool{}
	x.object("index", func(key []byte, at int64) {
		k := string(key)
		if seen[k] {
			x.fail(at, "index", "the key %s stands twice", format.Quote(k))
		}
		seen[k] = true
		x.expect(':', "index")
		switch k {
		case "metadata":
			x.metadata(ix)
		case "weight_map":
			ix.WeightMap = x.weights()
		default:
			x.skip("index", 0)
		}
	})
	x.trailing("index")
	switch {
	case x.err == nil && x.offset() > maxHeader:
		x.err = indexEnded(x.offset())
	case ix.WeightMap == nil:
		x.fail(x.offset(), "weight_map", "the index has no weight_map")
	}
	return ix
}

// notIndex reports what the file is instead.
func (x *index) notIndex() {
	kind := format.Detect(x.buf[x.pos:min(len(x.buf), x.pos+format.DetectBytes)])
	x.err = &Error{Offset: x.offset(), Field: "index", Text: "this is " + kind.Is() + ", not an index of safetensors files",
		Fix: kind.Fix()}
}

func (x *index) metadata(ix *Index) {
	if x.next() != '{' {
		x.skip("metadata", 0)
		return
	}
	x.object("metadata", func(key []byte, _ int64) {
		var to *int64
		switch string(key) {
		case "total_size":
			to = &ix.TotalSize
		case "total_parameters":
			to = &ix.Parameters
		}
		x.expect(':', "metadata")
		if n := x.integer(); to != nil {
			*to = n
		}
	})
}

// integer skips any value and returns it if it is a non-negative integer, including 1.0.
func (x *index) integer() int64 {
	if !digit(x.next()) {
		x.skip("metadata", 0)
		return 0
	}
	word := x.literal("metadata")
	digits, fraction, _ := strings.Cut(word, ".")
	if strings.Trim(fraction, "0") != "" {
		return 0
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// weights parses the map from tensors to files.
func (x *index) weights() map[string]string {
	m := map[string]string{}
	x.object("weight_map", func(key []byte, at int64) {
		name := string(key)
		if _, twice := m[name]; twice {
			x.fail(at, name, "the key %s stands twice in weight_map", format.Quote(name))
		}
		x.expect(':', name)
		m[name] = x.file(name)
	})
	return m
}

// file parses a file name, which must be below the index's folder.
func (x *index) file(tensor string) string {
	at := x.offset()
	b := x.text(tensor, maxName)
	if x.err != nil {
		return ""
	}
	if name, known := x.files[string(b)]; known {
		return name
	}
	name := string(b)
	if !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, "\\:\x00") {
		x.err = &Error{Offset: at, Field: tensor, Fix: "fetch the model from a source you trust",
			Text: fmt.Sprintf("tensor %s is said to lie in %s, which is not a file below this folder", format.Quote(tensor),
				format.Quote(name))}
		return ""
	}
	x.files[name] = name
	return name
}

// sequential adapts a Reader to an io.ReaderAt for sequential access.
type sequential struct {
	r  io.Reader
	at int64
}

// ReadAt only reads at the offset where the last read ended.
func (s *sequential) ReadAt(p []byte, off int64) (int, error) {
	if off != s.at {
		return 0, fmt.Errorf("byte %d is asked of a stream at byte %d", off, s.at)
	}
	n, err := io.ReadFull(s.r, p)
	s.at += int64(n)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return n, err
}
