package model

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/memwall/memwall/dtype"
)

// Split says along which unit a dimension is cut when a tensor is shared among ranks.
type Split uint8

const (
	Whole    Split = iota // every rank holds all of it
	ByHead                // by query heads (or value heads of a scan)
	ByKVHead              // by KV heads; replicated when there are more ranks than heads
	ByInner               // by an inner width (FFN, projections), anywhere
	ByGroup               // by state groups; replicated when there are more ranks than groups
	ByExpert              // by routed experts
	ByVocab               // by rows of the vocabulary
)

// Seg is a run of a tensor's output rows with one way to cut it: a fused projection has several.
type Seg struct {
	Rows int64
	By   Split
	Unit int64 // rows that may not be parted (head width); 0 means 1
}

// Tensor is one weight: Batch matrices of sum(Segs) rows and Cols columns. A linear map takes Cols
// inputs to sum(Segs) outputs.
type Tensor struct {
	Role    dtype.Role
	Bias    bool // the additive bias of that role
	Batch   int64
	BatchBy Split
	Segs    []Seg
	Cols    int64
	ColsBy  Split
	ColUnit int64
	Dims    int  // dimensions that GGUF files give it; 1-D tensors are never quantised
	Table   bool // stored but not learned: rotary factors, masks
	// In is the matrix of the hub's files that this tensor lies in with others, which scales are counted over; nil when the
	// tensor is one of its own. First marks the one tensor that counts them.
	In    *Matrix
	First bool
	Adapt bool // a LoRA adapter may sit on it
	// Called is the role whose name a GGUF file gives it, where that is another.
	Called dtype.Role
}

// Matrix is the shape of a file's matrix.
type Matrix struct{ Rows, Cols int64 }

// Rows of each matrix.
func (t *Tensor) Rows() (n int64) {
	for i := range t.Segs {
		n += t.Segs[i].Rows
	}
	return n
}

// Elems counts the elements of all matrices.
func (t *Tensor) Elems() int64 { return t.Batch * t.Rows() * t.Cols }

// bare roles have no ".weight" in GGUF files.
var bare = map[dtype.Role]bool{dtype.SSMA: true, dtype.SSMD: true, dtype.FFNGateInpScl: true, dtype.FFNDownScale: true}

// Name is what GGUF files call the role.
func (t *Tensor) Name() dtype.Role { return cmp.Or(t.Called, t.Role) }

// GGUF is the tensor's name in a GGUF file.
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
