package safetensors

import (
	"fmt"
	"io"

	"github.com/memwall/memwall/format"
	"github.com/memwall/memwall/unit"
)

// Our own limits. Names have a few hundred bytes at most, and PyTorch's tensors up to 64 dimensions.
const (
	maxName  = 1<<16 - 1
	maxDType = 64
	maxRank  = 64
	// maxTensors of one file: the largest published ones hold a few thousand, whole models some 300,000.
	maxTensors = 1 << 19
	// Limits on retained metadata, in pairs and bytes: a framework's name, and for adapters a hundred settings. The rest
	// is skipped.
	keptPairs = 1 << 13
	keptBytes = 1 << 20
)

// header parses the JSON object of one file.
type header struct {
	*scanner
	have, size int64
	end        int64 // offset after the JSON text
	names      map[string]bool
	dims       []int64 // storage that shapes are sliced from
}

func newHeader(r io.ReaderAt, have, size, n int64) *header {
	h := &header{have: have, size: size, end: lengthBytes + n, names: map[string]bool{}}
	h.scanner = newScanner(r, lengthBytes, min(h.end, have), h.ended)
	return h
}

// ended returns the error for a text that ends at byte at.
func (h *header) ended(at int64) error {
	if h.have < h.end {
		return &Error{Offset: h.have, Field: "header", More: true, Fix: "read more of the file",
			Text: fmt.Sprintf("the header goes on beyond the %s bytes at hand, to %s", unit.Count(h.have), unit.Count(h.end))}
	}
	return &Error{Offset: at, Field: "header", Fix: format.FetchAgain, Text: "the header ends in the middle of its JSON text"}
}

func (h *header) file() *File {
	f := &File{Size: h.size, HeaderBytes: h.end - lengthBytes}
	if h.fill() && h.buf[h.pos] != '{' {
		h.fail(h.offset(), "header", "the header begins with %q, not with a brace", h.buf[h.pos])
	}
	h.object("header", func(key []byte, at int64) { h.entry(f, key, at) })
	h.trailing("header")
	if h.err == nil && h.have < h.end {
		h.err = h.ended(h.have)
	}
	if h.err == nil {
		h.err = f.layout()
	}
	return f
}

// entry parses the value of one key of the header: a tensor, or the metadata.
func (h *header) entry(f *File, key []byte, at int64) {
	name := string(key)
	if h.names[name] {
		h.fail(at, name, "the key %s stands twice", format.Quote(name))
		return
	}
	h.names[name] = true
	if len(h.names) > maxTensors {
		h.fail(at, name, "more than %s tensors; no file holds as many", unit.Count(maxTensors))
	}
	h.expect(':', name)
	if name == "__metadata__" {
		f.Metadata = h.metadata()
		return
	}
	f.Tensors = append(f.Tensors, h.tensor(name, at))
}

// metadata parses a map of strings, retaining the first pairs; null counts as empty, as in the reference reader.
func (h *header) metadata() map[string]string {
	const where = "__metadata__"
	if h.next() == 'n' {
		h.skip(where, 0)
		return nil
	}
	m := map[string]string{}
	kept := 0
	h.object(where, func(key []byte, at int64) {
		if _, twice := m[string(key)]; twice {
			h.fail(at, where, "the key %s stands twice in %s", format.Quote(string(key)), where)
		}
		if len(m) == keptPairs || kept+len(key) > keptBytes {
			h.expect(':', where)
			h.text(where, maxText)
			return
		}
		k := string(key)
		h.expect(':', where)
		if value := h.text(where, maxText); kept+len(k)+len(value) <= keptBytes {
			kept += len(k) + len(value)
			m[k] = string(value)
		}
	})
	return m
}

// fields of a tensor, as bits of a set.
const (
	hasDType = 1 << iota
	hasShape
	hasOffsets
	hasAll = hasDType | hasShape | hasOffsets
)

// tensor parses a tensor's description. Unknown fields are skipped.
func (h *header) tensor(name string, at int64) Tensor {
	t := Tensor{Name: name}
	seen := 0
	h.object(name, func(key []byte, at int64) {
		field := h.field(name, key, at, &seen)
		h.expect(':', name)
		switch field {
		case hasDType:
			t.DType, t.Format = byName(h.text(name, maxDType))
		case hasShape:
			t.Shape = h.shape(name)
		case hasOffsets:
			t.Begin, t.End = h.offsets(name)
		default:
			h.skip(name, 0)
		}
	})
	if h.err == nil && seen != hasAll {
		h.fail(at, name, "tensor %s lacks %s", format.Quote(name), missing(seen))
	}
	if h.err == nil {
		h.checkSize(&t, at)
	}
	return t
}

// field returns which field a key is, 0 if unknown.
func (h *header) field(name string, key []byte, at int64, seen *int) int {
	bit := 0
	switch string(key) {
	case "dtype":
		bit = hasDType
	case "shape":
		bit = hasShape
	case "data_offsets":
		bit = hasOffsets
	}
	if *seen&bit != 0 {
		h.fail(at, name, "the key %q stands twice in tensor %s", key, format.Quote(name))
	}
	*seen |= bit
	return bit
}

func missing(seen int) string {
	switch {
	case seen&hasDType == 0:
		return "a dtype"
	case seen&hasShape == 0:
		return "a shape"
	}
	return "data_offsets"
}

// shape parses the dimensions into storage shared by many shapes.
func (h *header) shape(name string) []int64 {
	if cap(h.dims)-len(h.dims) < maxRank {
		h.dims = make([]int64, 0, 16*maxRank)
	}
	from := len(h.dims)
	h.list('[', ']', name, func() {
		if len(h.dims)-from == maxRank {
			h.fail(h.offset(), name, "tensor %s has more than %d dimensions", format.Quote(name), maxRank)
			return
		}
		h.dims = append(h.dims, h.integer(name))
	})
	return h.dims[from:len(h.dims):len(h.dims)]
}

// offsets parses begin and end.
func (h *header) offsets(name string) (begin, end int64) {
	at, n := h.offset(), 0
	var pair [2]int64
	h.list('[', ']', name, func() {
		v := h.integer(name)
		if n < len(pair) {
			pair[n] = v
		}
		n++
	})
	if h.err == nil && (n != len(pair) || pair[0] > pair[1]) {
		h.fail(at, name, "tensor %s: data_offsets must be a begin and an end that is not before it", format.Quote(name))
	}
	return pair[0], pair[1]
}
