// Package quant stores real tensors in the formats of package dtype, measures what each costs in bytes and in
// error on these weights, and chooses a mixture of formats for a number of bytes.
//
// A Format makes a Coder for a matrix that was surveyed; the Coder turns rows into the bytes of the format and
// back. Encoders follow the published definition of a format where it has one, and minimise the weighted squared
// error where the definition leaves the scales open (K-quants, IQ4). Each fast coder has a slow twin in the tests.
//
// Open this file first; formats.go lists the formats, blocks.go, kquants.go, rows.go and flat.go hold the coders, gptq.go
// and awq.go those that look at inputs, fold.go where AWQ's factors go, measure.go the errors, cache.go those of keys and
// values, mix.go the choice, modules.go and recipe.go how others are told of it, saved.go what searches read of it. The package reads
// through an io.ReaderAt (tensor.go) and writes
// nothing.
package quant

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/unit"
)

// Format is a way to store a matrix.
type Format struct {
	Name string // "q4_k", "int4-g128"
	// Scheme says how many bytes it takes.
	Scheme *dtype.Scheme
	Family Family
	Note   string
	// Asks is what the format is found from, beside the weights; it is not tried without.
	Asks Asks
	// Whole: scales come from the whole of a matrix, which is surveyed before.
	Whole bool
	coder func(*Survey) (Coder, error)
}

// Asks is what must be known of the inputs of a matrix.
type Asks uint8

const (
	Nothing   Asks = iota
	OfColumns      // how large the inputs of each column are
	OfEach         // inputs one by one
)

// Family is the kind of file that holds a format; a mixture is of one family.
type Family uint8

const (
	GGUF Family = iota // types of GGUF files, read by llama.cpp and its kin
	Hub                // safetensors of the hub, read by transformers, vLLM, SGLang
)

// Coder turns runs of numbers into bytes and back. A run begins where a unit begins, and ends where one ends or
// where the matrix ends.
type Coder interface {
	// Unit is how many elements are stored together, and the bytes that they take: a block, a row, some rows.
	Unit() (elems, bytes int)
	// Encode stores one unit. Importance is the weight of each element's squared error, nil when all weigh the same.
	Encode(dst []byte, x, importance []float32)
	// Decode reads one unit.
	Decode(x []float32, src []byte)
}

// Fits reports whether rows of so many columns can be stored, in whole blocks where the format has blocks.
func (f *Format) Fits(cols int64) bool { return f.Family == Hub || f.Scheme.Elem.Fits(cols) }

// Coder for a matrix that was surveyed. The format must fit its rows. Errors are those of reading inputs.
func (f *Format) Coder(s *Survey) (Coder, error) {
	c, err := f.coder(s)
	if err != nil || f.Asks != Nothing || s == nil || s.Inputs == nil {
		return c, err
	}
	return s.Inputs.coder(c, s)
}

// Bytes that the tensor takes, scales and zero points included; outlier columns are of LLM.int8 alone.
func (f *Format) Bytes(batch, rows, cols int64) unit.Bytes { return f.Scheme.Bytes(batch, rows, cols) }

// Bits of an element of this matrix.
func (f *Format) Bits(batch, rows, cols int64) float64 {
	return 8 * float64(f.Bytes(batch, rows, cols)) / float64(batch*rows*cols)
}
