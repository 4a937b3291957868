package family

import (
	"strconv"
)

// Header is the content of a GGUF header; format/gguf implements it.
type Header interface {
	Architecture() string
	Int(key string) (int64, bool)
	Ints(key string) ([]int64, bool)
	Bool(key string) (bool, bool)
	Bools(key string) ([]bool, bool)
	Float(key string) (float64, bool)
	// TensorDims gives a tensor's dimensions, innermost first.
	TensorDims(name string) ([]int64, bool)
}

// Meta reads a GGUF header under its architecture's prefix; like Config it remembers the first wrong key.
type Meta struct {
	h    Header
	arch string
	err  *FieldError
}

const damaged = "convert the model again with a current convert_hf_to_gguf.py"

func (m *Meta) key(k string) string { return m.arch + "." + k }

// mistyped refuses a key that is there and has no value of the kind wanted; a header that does not tell types
// leaves it absent.
func (m *Meta) mistyped(k, kind string) {
	h, ok := m.h.(interface{ Type(key string) string })
	if !ok {
		return
	}
	if t := h.Type(m.key(k)); t != "" {
		m.fail(m.key(k), "", "of type "+t+" holds no "+kind)
	}
}

func (m *Meta) fail(key, value, problem string) {
	if m.err == nil {
		m.err = &FieldError{Field: key, Value: value, Problem: problem, Fix: damaged}
	}
}

// Int reads a positive number that must be there. A list of equal numbers counts as one.
func (m *Meta) Int(k string) int64 {
	v, ok := m.ints(k)
	if !ok {
		m.fail(m.key(k), "", "is missing")
		return 1
	}
	n := m.one(k, v)
	if n <= 0 {
		m.fail(m.key(k), strconv.FormatInt(n, 10), "must be at least 1")
		return 1
	}
	return n
}

// one is the number of a list of equal ones.
func (m *Meta) one(k string, v []int64) int64 {
	for _, n := range v {
		if n != v[0] {
			m.fail(m.key(k), strconv.FormatInt(v[0], 10)+", … "+strconv.FormatInt(n, 10), "is a list of different numbers, not one")
		}
	}
	return v[0]
}

// IntOr reads a number, def when absent.
func (m *Meta) IntOr(def int64, k string) int64 {
	if v, ok := m.ints(k); ok {
		return m.one(k, v)
	}
	return def
}

func (m *Meta) ints(k string) ([]int64, bool) {
	v, ok := m.h.Ints(m.key(k))
	if !ok || len(v) == 0 {
		m.mistyped(k, "whole number below 2^63")
		return nil, false
	}
	for _, n := range v {
		if n < 0 || n > maxWidth {
			m.fail(m.key(k), strconv.FormatInt(n, 10), "is negative or larger than any model's")
			return []int64{1}, true
		}
	}
	return v, true
}

// must refuses a number that is there and is not what another says; a list may hold zeros, for layers without.
func (m *Meta) must(k string, want int64, by string) {
	v, _ := m.ints(k)
	for _, n := range v {
		if n != want && (n != 0 || len(v) == 1) {
			m.fail(m.key(k), strconv.FormatInt(n, 10), "must be "+strconv.FormatInt(want, 10)+", by "+by)
		}
	}
}

// PerLayer reads a number or a list with one number a layer; ok is false when absent.
func (m *Meta) PerLayer(k string, layers int) ([]int64, bool) {
	v, ok := m.ints(k)
	switch {
	case !ok:
		return nil, false
	case len(v) == 1:
		out := make([]int64, layers)
		for i := range out {
			out[i] = v[0]
		}
		return out, true
	case len(v) < layers:
		m.fail(m.key(k), strconv.Itoa(len(v))+" elements", "is shorter than the model's "+strconv.Itoa(layers)+" layers")
		return make([]int64, layers), true
	}
	return v, true
}

// Flags reads a list of flags, one a layer; ok is false when absent.
func (m *Meta) Flags(k string, layers int) ([]bool, bool) {
	v, ok := m.h.Bools(m.key(k))
	if ok && len(v) < layers {
		m.fail(m.key(k), strconv.Itoa(len(v))+" elements", "is shorter than the model's "+strconv.Itoa(layers)+" layers")
		return make([]bool, layers), true
	}
	return v, ok
}

// Bool reads a flag, def when absent.
func (m *Meta) Bool(def bool, k string) bool {
	v, ok := m.h.Bool(m.key(k))
	if !ok {
		m.mistyped(k, "flag")
		return def
	}
	return v
}

// Has reports whether a tensor exists.
func (m *Meta) Has(name string) bool {
	_, ok := m.h.TensorDims(name)
	return ok
}

// InLayer reports whether the layer has a tensor.
func (m *Meta) InLayer(layer int, name string) bool {
	return m.Has(layerTensor(layer, name))
}

func layerTensor(layer int, name string) string { return "blk." + strconv.Itoa(layer) + "." + name }

// Rows is the outermost matrix dimension of a tensor; 0 when it does not exist.
func (m *Meta) Rows(name string) int64 {
	if d, ok := m.h.TensorDims(name); ok && len(d) > 1 {
		return d[1]
	}
	return 0
}

// Layers reads block_count without the multi-token prediction layers at its end.
func (m *Meta) Layers() int {
	n := m.Int("block_count") - m.IntOr(0, "nextn_predict_layers")
	if n < 1 || n > maxLayers {
		m.fail(m.key("block_count"), strconv.FormatInt(n, 10), "is not a number of layers from 1 to "+strconv.Itoa(maxLayers))
		return 1
	}
	return int(n)
}
