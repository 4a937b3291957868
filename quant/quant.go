// Package quant encodes real tensors in the formats of package dtype, measures the size and error of each on these
// weights, and chooses a mixture of formats for a given size.
//
// A Format creates a Coder for a surveyed matrix; the Coder converts rows to the format's bytes and back. Encoders
// follow the format's published definition if there is one, and minimize the weighted squared error if it leaves the
// scales open (K-quants, IQ4). Each fast coder has a slow reference implementation in the tests.
//
// formats.go lists the formats; blocks.go, kquants.go, rows.go and flat.go hold the coders; gptq.go and awq.go those
// that use inputs; fold.go where AWQ's factors go; measure.go the errors, and cache.go those of keys and values; mix.go
// the choice; modules.go and recipe.go its export; saved.go what searches read of it. The package reads through an
// io.ReaderAt (tensor.go) and writes nothing.
package quant

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/unit"
)

// Format is a way to store a matrix.
type Format struct {
	Name string // "q4_k", "int4-g128"
	// Scheme determines its size.
	Scheme *dtype.Scheme
	Family Family
	Note   string
	// Asks is what the format requires besides the weights; it is not tried without.
	Asks Asks
	// Whole reports that scales depend on the whole matrix, which must be surveyed first.
	Whole bool
	coder func(*Survey) (Coder, error)
}

// Asks is what must be known of a matrix's inputs.
type Asks uint8

const (
	Nothing   Asks = iota
	OfColumns      // magnitude of each column's inputs
	OfEach         // individual inputs
)

// Family is the kind of file that holds a format; a mixture belongs to one family.
type Family uint8

const (
	GGUF Family = iota // types of GGUF files, read by llama.cpp and relatives
	Hub                // hub safetensors, read by transformers, vLLM, SGLang
)

// Coder converts runs of numbers to bytes and back. A run starts at the start of a unit, and ends at the end of a unit
// or of the matrix.
type Coder interface {
	// Unit returns the number of elements stored together, and their bytes: a block, a row, several rows.
	Unit() (elems, bytes int)
	// Encode stores one unit. importance holds the weights of the elements' squared errors, nil if equal.
	Encode(dst []byte, x, importance []float32)
	// Decode reads one unit.
	Decode(x []float32, src []byte)
}

// Fits reports whether rows of the given length can be stored, in whole blocks if the format has blocks.
func (f *Format) Fits(cols int64) bool { return f.Family == Hub || f.Scheme.Elem.Fits(cols) }

// Coder returns a coder for a surveyed matrix, whose rows the format must fit. Errors are those of reading inputs.
func (f *Format) Coder(s *Survey) (Coder, error) {
	c, err := f.coder(s)
	if err != nil || f.Asks != Nothing || s == nil || s.Inputs == nil {
		return c, err
	}
	return s.Inputs.coder(c, s)
}

// Bytes returns the size of a tensor, including scales and zero points but not LLM.int8's outlier columns.
func (f *Format) Bytes(batch, rows, cols int64) unit.Bytes { return f.Scheme.Bytes(batch, rows, cols) }

// Bits returns the bits per element of this matrix.
func (f *Format) Bits(batch, rows, cols int64) float64 {
	return 8 * float64(f.Bytes(batch, rows, cols)) / float64(batch*rows*cols)
}
