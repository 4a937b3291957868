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

// Index is model.safetensors.index.json: which file of a model holds which tensor.
type Index struct {
	// TotalSize is metadata.total_size, the bytes of all tensors; 0 when the file does not say, or says a
	// number that is not whole (transformers counted bools as an eighth of a byte once). It is only what the
	// writer believed: stale ones are common.
	TotalSize  int64
	Parameters int64             // metadata.total_parameters, which newer writers add; 0 when unknown
	WeightMap  map[string]string // tensor name to file name, a path below the index's folder
}

// Files lists the files, sorted.
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

// ReadIndex reads an index of at most 100 MB.
func ReadIndex(r io.Reader) (*Index, error) {
	x := &index{files: map[string]string{}}
	x.scanner = newScanner(&sequential{r: r}, 0, maxHeader+1, indexEnded)
	ix := x.read()
	if x.err != nil {
		return nil, x.err
	}
	return ix, nil
}

// indexEnded makes the error for a text that ends at byte at.
func indexEnded(at int64) error {
	e := &Error{Offset: at, Field: "index", Text: "the index ends in the middle of its JSON text", Fix: format.FetchAgain}
	if at > maxHeader {
		e.Text = "an index of more than " + format.Size(maxHeader)
	}
	return e
}

type index struct {
	*scanner
	files map[string]string // one copy of each file name
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

// notIndex says what the file looks like instead.
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

// integer passes over any value and gives it if it is a whole number of at least 0, also when written 1.0.
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

// weights reads the map from tensors to files.
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

// file reads a file name, which must lie below the index's own folder.
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
			Text: fmt.Sprintf("tensor %s is said to lie in %s, which is no file below this folder", format.Quote(tensor),
				format.Quote(name))}
		return ""
	}
	x.files[name] = name
	return name
}

// sequential makes an io.ReaderAt of a reader that is read front to back.
type sequential struct {
	r  io.Reader
	at int64
}

// ReadAt reads at the place where the last read ended, and nowhere else.
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
