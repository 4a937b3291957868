package model

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/memwall/memwall/dtype"
)

// Split says along which unit a dimension is sharded.
type Split uint8

const (
	Whole    Split = iota // replicated on every rank
	ByHead                // by query heads (or value heads of a scan)
	ByKVHead              // by KV heads; replicated if there are more ranks than heads
	ByInner               // by an inner width (FFN, projections), at any boundary
	ByGroup               // by state groups; replicated if there are more ranks than groups
	ByExpert              // by routed experts
	ByVocab               // by rows of the vocabulary
)

// Seg is a run of a tensor's output rows sharded in one way; a fused projection has several.
type Seg struct {
	Rows int64
	By   Split
	Unit int64 // rows that must stay together (head width); 0 means 1
}

// Tensor is one weight: Batch matrices of sum(Segs) rows and Cols columns. A linear map takes Cols inputs to sum(Segs)
// outputs.
type Tensor struct {
	Role    dtype.Role
	Bias    bool // additive bias of the role
	Batch   int64
	BatchBy Split
	Segs    []Seg
	Cols    int64
	ColsBy  Split
	ColUnit int64
	Dims    int  // dimensions in GGUF files; 1-D tensors are never quantized
	Table   bool // stored but not learned: rotary factors, masks
	// In is the larger matrix of the hub's files that holds this tensor, over which quantization scales are counted; nil
	// if the tensor is stored alone. First marks the one tensor that counts them.
	In    *Matrix
	First bool
	Adapt bool // can carry a LoRA adapter
	// Called is the role under whose name a GGUF file stores it, if different.
	Called dtype.Role
}

// Matrix is the shape of a matrix in a file.
type Matrix struct{ Rows, Cols int64 }

// Rows returns the rows of each matrix.
func (t *Tensor) Rows() (n int64) {
	for i := range t.Segs {
		n += t.Segs[i].Rows
	}
	return n
}

// Elems returns the number of elements of all matrices.
func (t *Tensor) Elems() int64 { return t.Batch * t.Rows() * t.Cols }

// bare holds the roles without ".weight" in GGUF files.
var bare = map[dtype.Role]bool{dtype.SSMA: true, dtype.SSMD: true, dtype.FFNGateInpScl: true, dtype.FFNDownScale: true}

// Name returns the role as named in GGUF files.
func (t *Tensor) Name() dtype.Role { return cmp.Or(t.Called, t.Role) }

// GGUF returns the tensor's name in a GGUF file.
func (t *Tensor) GGUF(layer int) string {
	var b strings.Builder
	if layer >= 0 {
		b.WriteString("blk.")
		b.WriteString(strconv.Itoa(layer))
		b.WriteByte('.')
	}
	b.WriteString(string(t.Name()))
	switch {
	case t.Bias, t.Role == dtype.ExpProbsB:
		b.WriteString(".bias")
	case bare[t.Role]:
	default:
		b.WriteString(".weight")
	}
	return b.String()
}
