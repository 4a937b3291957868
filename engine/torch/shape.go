package torch

import (
	"bytes"
	"strconv"

	"github.com/memwall/memwall/engine/startup"
)

// valueOf finds a field anywhere in an event by its name with quotes and colon, which no string inside can hold
// unescaped; nil without. It is how the few fields of millions of events are read that matter.
func valueOf(text []byte, name string) []byte {
	i := bytes.Index(text, []byte(name))
	if i < 0 {
		return nil
	}
	rest := past(text[i+len(name):], ' ')
	return rest[:length(rest)]
}

// argument is a field that counts something.
func argument(text []byte, name string) (uint64, bool) {
	v := valueOf(text, name)
	if in := unquoted(v); in != nil {
		v = in
	}
	if len(v) == 0 || len(v) > 20 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(v), 10, 63)
	return n, err == nil
}

// shape says where a product's operands stand among an operator's arguments.
type shape struct {
	a, b int
	// rows: the second one lies as N×K, as a layer's weight does.
	rows bool
}

// shapes of the products of PyTorch, vLLM and SGLang (aten/src/ATen/native/native_functions.yaml; vLLM's
// csrc/torch_bindings.cpp; sgl-kernel's csrc/common_extension.cc).
var shapes = map[string]*shape{
	"aten::mm": {0, 1, false}, "aten::bmm": {0, 1, false}, "aten::matmul": {0, 1, false}, "aten::addmm": {1, 2, false},
	"aten::addmm_": {1, 2, false}, "aten::baddbmm": {1, 2, false},
	"aten::_addmm_activation": {1, 2, false}, "aten::_scaled_mm": {0, 1, false}, "aten::_int_mm": {0, 1, false},
	"aten::linear":          {0, 1, true},
	"_C::cutlass_scaled_mm": {1, 2, false}, "sgl_kernel::fp8_scaled_mm": {0, 1, false}, "sgl_kernel::int8_scaled_mm": {0, 1, false},
}

// Fields of an operator's arguments, with which record_shapes=True writes them (strides since PyTorch 2.3).
const (
	dimsField    = `"Input Dims":`
	stridesField = `"Input Strides":`
	typeField    = `"Input type":`
)

const (
	maxTensors = 8
	maxAxes    = 4
)

// sizes are those of an operator's first tensors, by axis.
type sizes [maxTensors][]int64

// sizesOf reads [[2048, 4096], [4096, 1024], []]; lists of tensors, which are nested deeper, count as nothing.
func sizesOf(v []byte) (out sizes, ok bool) {
	room := make([]int64, 0, maxTensors*maxAxes)
	depth, at, from := 0, -1, 0
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case c == '[':
			if depth++; depth == 2 {
				at++
				from = len(room)
			}
		case c == ']':
			if depth--; depth == 1 && at >= 0 && at < maxTensors {
				out[at] = room[from:len(room):len(room)]
			}
		case depth == 2 && c >= '0' && c <= '9':
			j := i
			for j < len(v) && v[j] >= '0' && v[j] <= '9' {
				j++
			}
			n, err := strconv.ParseInt(string(v[i:j]), 10, 48)
			if err != nil || len(room) == cap(room) {
				return out, at > 0
			}
			room, i = append(room, n), j-1
		}
	}
	return out, at >= 0
}

// product of an operator by its operands' shapes.
func (s *shape) product(text []byte) (p startup.Product, ok bool) {
	dims, ok := sizesOf(valueOf(text, dimsField))
	if !ok {
		return p, false
	}
	a, b := dims[s.a], dims[s.b]
	p, ok = multiplied(a, b, s.rows)
	if !ok {
		return p, false
	}
	p.Type = typeOf(valueOf(text, typeField), s.a)
	strides, _ := sizesOf(valueOf(text, stridesField))
	switch {
	case s.rows:
		p.Pass = startup.Forward
	case len(a) == 2 && len(b) == 2:
		p.Pass = passOf(&p, strides[s.a], strides[s.b])
	}
	return p, true
}

// multiplied sides: a row of the first is as long as a column of the second. More axes of the first are rows, or a
// batch where the second has as many.
func multiplied(a, b []int64, rows bool) (p startup.Product, ok bool) {
	if len(a) < 2 || len(b) < 2 || len(b) > 3 || len(b) == 3 && len(a) != 3 {
		return p, false
	}
	p = startup.Product{Batch: 1, M: 1, K: a[len(a)-1]}
	for _, n := range a[:len(a)-1] {
		p.M *= max(1, min(n, 1<<32))
	}
	k, n := b[len(b)-2], b[len(b)-1]
	if rows {
		k, n = n, k
	}
	p.N = n
	if len(b) == 3 {
		p.Batch, p.M = b[0], a[1]
	}
	return p, k == p.K && p.M > 0 && p.M < 1<<40 && p.N > 0 && p.K > 0 && p.Batch > 0
}

// passOf a product of two matrices, by how they lie: the result is made of a weight that is read transposed, an input's
// gradient of the weight as it lies, and a weight's gradient of something else that is read transposed (PyTorch's
// derivatives.yaml: mm_mat1_backward, mm_mat2_backward). Sides of one element lie both ways.
func passOf(p *startup.Product, a, b []int64) startup.Pass {
	if len(a) != 2 || len(b) != 2 || p.M == 1 && p.N == 1 {
		return startup.AnyPass
	}
	switch {
	case b[0] == 1 && b[1] >= p.K && p.N > 1:
		return startup.Forward
	case a[0] == 1 && a[1] >= p.M && p.M > 1:
		return startup.WeightGradient
	}
	return startup.InputGradient
}

// typeOf the tensor at a place of ["c10::BFloat16", "float"]; "" when it is not said.
func typeOf(v []byte, at int) string {
	for ; len(v) > 0; at-- {
		from := bytes.IndexByte(v, '"')
		if from < 0 {
			return ""
		}
		v = v[from+1:]
		end := bytes.IndexByte(v, '"')
		if end < 0 || end > maxKey {
			return ""
		}
		if at == 0 {
			return plainName(string(v[:end]))
		}
		v = v[end+1:]
	}
	return ""
}

// widths are the bytes of numbers, as c10d calls their formats (c10/core/ScalarType.h).
var widths = map[string]int64{"Byte": 1, "Char": 1, "Bool": 1, "Short": 2, "Half": 2, "BFloat16": 2, "Int": 4, "Float": 4, "Long": 8,
	"Double": 8, "Float8_e4m3fn": 1, "Float8_e5m2": 1}

// collective is the sign of one whose kernel says what was sent (kineto writes that of record_param_comms on kernels of
// NCCL since PyTorch 2.2); 0 without.
func (l *links) collective(args []byte) sign {
	name := unquoted(valueOf(args, `"Collective name":`))
	in, some := argument(args, `"In msg nelems":`)
	if name == nil || !some {
		return 0
	}
	out, _ := argument(args, `"Out msg nelems":`)
	group, _ := argument(args, `"Group size":`)
	width := widths[string(unquoted(valueOf(args, `"dtype":`)))]
	m := startup.Message{Collective: plainName(string(name[:min(len(name), maxKey)])), Bytes: width * int64(min(max(in, out), 1<<48)),
		Group: int64(min(group, 1<<20))}
	l.key = append(append(l.key[:0], "collective "...), m.Collective...)
	l.key = strconv.AppendInt(append(l.key, ' '), m.Bytes, 10)
	l.key = strconv.AppendInt(append(l.key, ' '), m.Group, 10)
	return l.signOf(func() operator { return operator{name: m.Collective, message: &m} })
}
