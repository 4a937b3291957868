package gguf

import (
	"math"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format"
	"github.com/memwall/memwall/unit"
)

// minTensor returns the size of the smallest tensor info: a one-letter name, one dimension, a type, an offset.
func (d *decoder) minTensor() int64 { return d.wordSize() + 1 + 4 + d.wordSize() + 4 + 8 }

// layout tracks the tensors through the data.
type layout struct {
	names    map[string]bool
	next     int64 // required start of the next tensor, unless the last one's size is unknown
	elements int64 // so far, to detect overflow of sums
}

// tensors reads n tensor infos and checks their locations.
func (d *decoder) tensors(f *File, n int64) {
	lay := layout{names: map[string]bool{}}
	for i := int64(0); i < n && d.err == nil; i++ {
		d.tensor(f, &lay)
	}
	if d.err != nil {
		return
	}
	f.DataOffset = d.w.Offset()
	if n > 0 {
		f.DataOffset = unit.PadUp(f.DataOffset, f.Alignment)
	}
	f.Shards = []Shard{{Size: f.Size, DataOffset: f.DataOffset, Tensors: len(f.Tensors)}}
	d.ending(f)
}

func (d *decoder) tensor(f *File, lay *layout) {
	at := d.w.Offset()
	t := Tensor{Name: d.text("tensor infos", "a tensor name", maxName)}
	switch {
	case d.err != nil:
		return
	case t.Name == "":
		d.damaged(at, "tensor infos", "tensor %s has no name", unit.Count(int64(len(f.Tensors)+1)))
		return
	case lay.names[t.Name]:
		d.damaged(at, t.Name, "two tensors are called %s", format.Quote(t.Name))
		return
	}
	lay.names[t.Name] = true
	d.shape(&t)
	d.format(&t)
	d.place(f, lay, &t)
	d.keep(tensorBytes, t.Name)
	f.Tensors = append(f.Tensors, t)
}

// tensorBytes is the approximate memory of a tensor without its name.
const tensorBytes = 192

// shape reads the dimensions.
func (d *decoder) shape(t *Tensor) {
	at := d.w.Offset()
	n := d.u32(t.Name)
	if d.err == nil && (n < 1 || n > maxDims) {
		d.damaged(at, t.Name, "tensor %s has %s dimensions; 1 to %d are allowed", format.Quote(t.Name), grouped(uint64(n)), maxDims)
	}
	elements := int64(1)
	for range n {
		at = d.w.Offset()
		dim := d.word(t.Name)
		if d.err != nil {
			return
		}
		elements = d.dim(t, at, dim, elements)
	}
}

// dim appends a dimension and returns the elements so far.
func (d *decoder) dim(t *Tensor, at int64, dim uint64, elements int64) int64 {
	if dim == 0 {
		d.damaged(at, t.Name, "tensor %s has a dimension of 0", format.Quote(t.Name))
		return 0
	}
	product, ok := unit.MulOK(elements, int64(min(dim, math.MaxInt64)))
	if !ok || dim > math.MaxInt64 {
		d.damaged(at, t.Name, "tensor %s has 2^63 elements or more, with a dimension of %s", format.Quote(t.Name), grouped(dim))
		return 0
	}
	t.Dims = append(t.Dims, int64(dim))
	return product
}

// format reads the type and computes the tensor's size, 0 if the type is unknown.
func (d *decoder) format(t *Tensor) {
	at := d.w.Offset()
	t.Type = d.u32(t.Name)
	if d.err != nil {
		return
	}
	if name, retired := dtype.Retired(t.Type); retired {
		d.fail(at, t.Name, "convert the model again",
			"tensor %s is of type %s (%d), which llama.cpp no longer reads", format.Quote(t.Name), name, t.Type)
		return
	}
	if t.Format = dtype.ByGGML(t.Type); t.Format == nil {
		return
	}
	if !t.Format.Fits(t.Dims[0]) {
		d.damaged(at, t.Name, "tensor %s of type %s has rows of %s elements, which is not a multiple of its block of %d",
			format.Quote(t.Name), t.Format.Name, unit.Count(t.Dims[0]), t.Format.BlockElems)
		return
	}
	blocks, ok := unit.MulOK(t.Elements()/t.Format.BlockElems, t.Format.BlockBytes)
	rows, fits := int64(0), true
	if t.Format.RowBytes > 0 && t.Dims[0] > 0 {
		rows, fits = unit.MulOK(t.Elements()/t.Dims[0], t.Format.RowBytes)
	}
	if t.Bytes = blocks + rows; !ok || !fits || t.Bytes < 0 {
		d.damaged(at, t.Name, "tensor %s has 2^63 bytes or more", format.Quote(t.Name))
	}
}

// place reads the offset and checks it. llama.cpp allows no gaps: each tensor starts where the previous one ends,
// padded to the alignment. After a tensor of unknown type only the order can be checked, which yields that tensor's
// size.
func (d *decoder) place(f *File, lay *layout, t *Tensor) {
	at := d.w.Offset()
	raw := d.u64(t.Name)
	if d.err != nil {
		return
	}
	before := last(f.Tensors)
	t.Offset = int64(raw)
	switch {
	case raw > math.MaxInt64 || t.Offset%f.Alignment != 0:
		d.damaged(at, t.Name, "tensor %s starts at %s of the data, which is not a multiple of the alignment %d",
			format.Quote(t.Name), grouped(raw), f.Alignment)
	case before != nil && before.Format == nil:
		d.infer(at, before, t.Offset)
	case t.Offset != lay.next:
		d.damaged(at, t.Name, "tensor %s starts at %s of the data; the tensors before it end at %s",
			format.Quote(t.Name), grouped(raw), unit.Count(lay.next))
	}
	d.advance(at, f.Alignment, lay, t)
}

func last(ts []Tensor) *Tensor {
	if len(ts) == 0 {
		return nil
	}
	return &ts[len(ts)-1]
}

// infer sets the size of a tensor of unknown type from the start of what follows.
func (d *decoder) infer(at int64, t *Tensor, next int64) {
	if next <= t.Offset {
		d.damaged(at, t.Name, "tensor %s, whose type %d is unknown, starts at %s of the data, and what follows it at %s",
			format.Quote(t.Name), t.Type, unit.Count(t.Offset), unit.Count(next))
		return
	}
	t.Bytes, t.Inferred = next-t.Offset, true
}

// advance moves the layout past a tensor.
func (d *decoder) advance(at, alignment int64, lay *layout, t *Tensor) {
	if d.err != nil {
		return
	}
	if t.Bytes > math.MaxInt64-alignment-t.Offset || t.Elements() > math.MaxInt64-lay.elements {
		d.damaged(at, t.Name, "with tensor %s the file holds 2^63 elements or bytes or more", format.Quote(t.Name))
		return
	}
	lay.next = t.Offset + unit.PadUp(t.Bytes, alignment)
	lay.elements += t.Elements()
}

// ending checks the tensors against the end of the file.
func (d *decoder) ending(f *File) {
	t := last(f.Tensors)
	if t == nil {
		return
	}
	held := f.Size - f.DataOffset
	if t.Format == nil && held > t.Offset {
		d.infer(d.size, t, held)
	}
	if end := t.Offset + max(1, t.Bytes); end > held {
		d.cutShort(f, held, uint64(end)-uint64(held))
	}
}

// cutShort names the first tensor missing from a file that holds only held bytes of tensor data.
func (d *decoder) cutShort(f *File, held int64, missing uint64) {
	for i := range f.Tensors {
		if t := &f.Tensors[i]; t.Offset+max(1, t.Bytes) > held {
			d.damaged(d.size, t.Name, "the file is cut short in or before tensor %s: %s bytes are missing after %s",
				format.Quote(t.Name), grouped(missing), format.Size(d.size))
			return
		}
	}
}
