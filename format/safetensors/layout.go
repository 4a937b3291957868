package safetensors

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/memwall/memwall/format"
	"github.com/memwall/memwall/unit"
)

// checkSize compares the size computed from type and shape with that of the offsets. For unknown types only the offsets
// count.
func (h *header) checkSize(t *Tensor, at int64) {
	n := int64(1)
	for _, d := range t.Shape {
		var ok bool
		if n, ok = unit.MulOK(n, d); !ok {
			h.fail(at, t.Name, "tensor %s has 2^63 elements or more", format.Quote(t.Name))
			return
		}
	}
	if t.Format == nil {
		return
	}
	size, ok := unit.MulOK(n/t.Format.BlockElems, t.Format.BlockBytes)
	switch {
	case !t.Format.Fits(n):
		h.fail(at, t.Name, "tensor %s: %s elements of %s end inside a byte", format.Quote(t.Name), unit.Count(n), t.DType)
	case !ok:
		h.fail(at, t.Name, "tensor %s has 2^63 bytes or more", format.Quote(t.Name))
	case size != t.Bytes():
		h.fail(at, t.Name, "tensor %s: %s elements of %s are %s bytes; data_offsets give it %s",
			format.Quote(t.Name), unit.Count(n), t.DType, unit.Count(size), unit.Count(t.Bytes()))
	}
}

// layout checks that the tensors cover the data without gaps and overlaps, to the end of the file.
func (f *File) layout() error {
	held := f.TensorBytes()
	var before *Tensor
	var end, elements int64
	for _, i := range f.byOffset() {
		t := &f.Tensors[i]
		switch {
		case t.Begin > end:
			return f.fault(min(end, held), t, "bytes %s to %s of the data belong to no tensor; then comes %s",
				unit.Count(end), unit.Count(t.Begin), format.Quote(t.Name))
		case t.Begin < end:
			return f.fault(min(t.Begin, held), t, "tensor %s begins at %s of the data, inside %s, which ends at %s",
				format.Quote(t.Name), unit.Count(t.Begin), format.Quote(before.Name), unit.Count(end))
		case t.Elements() > math.MaxInt64-elements:
			return f.fault(min(t.Begin, held), t, "with tensor %s the file holds 2^63 elements or more", format.Quote(t.Name))
		}
		before, end, elements = t, t.End, elements+t.Elements()
	}
	return f.ending(before, end, held)
}

// ending checks the end of the last tensor against the size of the file.
func (f *File) ending(last *Tensor, end, held int64) error {
	switch {
	case end > held:
		return f.fault(held, last, "the file is cut short: tensor %s ends %s bytes after the file's %s",
			format.Quote(last.Name), unit.Count(end-held), format.Size(f.Size))
	case end < held:
		return f.fault(end, last, "the last %s bytes of the file belong to no tensor", unit.Count(held-end))
	}
	return nil
}

func (f *File) fault(at int64, t *Tensor, text string, args ...any) error {
	e := &Error{Offset: f.DataOffset() + at, Field: "header", Text: fmt.Sprintf(text, args...), Fix: format.FetchAgain}
	if t != nil {
		e.Field = t.Name
	}
	return e
}

// byOffset returns the tensors' indexes in data order. Writers usually keep that order, but the format does not require
// it.
func (f *File) byOffset() []int32 {
	order := make([]int32, len(f.Tensors))
	for i := range order {
		order[i] = int32(i)
	}
	compare := func(a, b int32) int {
		x, y := &f.Tensors[a], &f.Tensors[b]
		return cmp.Or(cmp.Compare(x.Begin, y.Begin), cmp.Compare(x.End, y.End), cmp.Compare(a, b))
	}
	if !slices.IsSortedFunc(order, compare) {
		slices.SortFunc(order, compare)
	}
	return order
}
