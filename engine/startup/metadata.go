package startup

import (
	"strconv"
	"strings"
)

// Metadata is what a log prints of a GGUF file's header: keys with their values. It implements family.Header as far as possible;
// since tensors are not printed, Tensors answers which ones the file has.
type Metadata struct {
	arch   string
	values map[string]string
	// Tensors answers for tensors; nil: none are known.
	Tensors func(name string) ([]int64, bool)
	// Count of tensors in the file, and of each type; 0 and nil when not printed.
	Count int64
	Types map[string]int64
}

const (
	maxKeys  = 1024
	maxValue = 16 << 10
	maxTypes = 64
)

// Set keeps a value as printed, in full: the first one of a key counts.
func (m *Metadata) Set(key, value string) {
	if m.values == nil {
		m.values = map[string]string{}
	}
	if key == "general.architecture" && m.arch == "" {
		m.arch = value
	}
	if _, have := m.values[key]; !have && len(m.values) < maxKeys && len(value) <= maxValue {
		m.values[key] = value
	}
}

// Replace sets a value whether or not the key is known.
func (m *Metadata) Replace(key, value string) {
	delete(m.values, key)
	m.Set(key, value)
}

// Type counts the tensors of one type.
func (m *Metadata) Type(name string, n int64) {
	if m.Types == nil {
		m.Types = map[string]int64{}
	}
	if _, have := m.Types[name]; have || len(m.Types) < maxTypes {
		m.Types[name] += n
	}
}

// Has reports whether a key is known.
func (m *Metadata) Has(key string) bool { _, ok := m.values[key]; return ok }

// Architecture is the name of the model's family.
func (m *Metadata) Architecture() string { return m.arch }

// Int gives a whole number; of a list its first element.
func (m *Metadata) Int(key string) (int64, bool) {
	v, ok := m.Ints(key)
	if !ok {
		return 0, false
	}
	return v[0], true
}

// Ints gives a number or a list of numbers that was printed in full.
func (m *Metadata) Ints(key string) ([]int64, bool) {
	var out []int64
	for _, part := range m.list(key) {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			return nil, false
		}
		out = append(out, n)
	}
	return out, len(out) > 0
}

// Bool gives true or false.
func (m *Metadata) Bool(key string) (bool, bool) {
	v, err := strconv.ParseBool(m.values[key])
	return v, err == nil
}

// Bools gives a list of flags that was printed in full; numbers other than 0 count as true.
func (m *Metadata) Bools(key string) ([]bool, bool) {
	list := m.list(key)
	if len(list) < 2 {
		return nil, false
	}
	var out []bool
	for _, part := range list {
		v, err := strconv.ParseBool(part)
		if err != nil {
			return nil, false
		}
		out = append(out, v)
	}
	return out, true
}

// Float gives a number.
func (m *Metadata) Float(key string) (float64, bool) {
	v, err := strconv.ParseFloat(m.values[key], 64)
	return v, err == nil
}

// TensorDims asks Tensors.
func (m *Metadata) TensorDims(name string) ([]int64, bool) {
	if m.Tensors == nil {
		return nil, false
	}
	return m.Tensors(name)
}

// list splits "[1, 2, 3]" or takes a single value; a list that the log cut short is none.
func (m *Metadata) list(key string) []string {
	v, ok := m.values[key]
	if !ok || strings.Contains(v, "...") {
		return nil
	}
	inner, open := strings.CutPrefix(strings.TrimSpace(v), "[")
	if !open {
		return []string{inner}
	}
	inner, closed := strings.CutSuffix(inner, "]")
	if !closed || inner == "" {
		return nil
	}
	parts := strings.Split(inner, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}
