package quant

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// CachePart is the part of an attention cache that a tensor holds.
type CachePart string

const (
	Keys   CachePart = "keys"
	Values CachePart = "values"
)

// cachePart parses a name such as cache_k_l0, past_key_values.3.key or model.layers.7.self_attn.v_cache into the part
// and its layer, the first number in the name; "" if the name is of no cache.
func cachePart(name string) (part CachePart, layer int) {
	layer = -1
	for _, w := range strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		switch w {
		case "weight", "bias", "proj", "norm", "input":
			return "", -1
		case "k", "key", "keys":
			part = Keys
		case "v", "value", "values":
			if w != "values" || part == "" { // past_key_values.3.key
				part = Values
			}
		}
		if n, err := strconv.Atoi(strings.TrimLeft(w, "abcdefghijklmnopqrstuvwxyz")); err == nil && layer < 0 && n >= 0 {
			layer = n
		}
	}
	return part, layer
}

// IsCache reports whether all tensors of a file are cached keys and values.
func IsCache(m *Model) bool {
	return len(m.Tensors) > 0 && !slices.ContainsFunc(m.Tensors, func(t *Tensor) bool {
		part, _ := cachePart(t.Name)
		return part == ""
	})
}

// CacheOf returns the tensors of a cache arranged for measuring: with a row per token, for scales per token and head,
// and transposed, for scales per channel. Axis is the dimension of tokens, from 0; negative values count from the end,
// and -2 is transformers' layout: batch, heads, tokens, channels.
func CacheOf(m *Model, axis int) (*Model, error) {
	out := *m
	out.Tensors = nil
	out.Identity += fmt.Sprintf("tokens %d\n", axis)
	for _, t := range m.Tensors {
		along, across, err := t.slab(axis)
		if err != nil {
			return nil, err
		}
		out.Tensors = append(out.Tensors, along, across)
	}
	return &out, nil
}

// slab returns a cache tensor in both directions.
func (t *Tensor) slab(axis int) (along, across *Tensor, err error) {
	if axis < 0 {
		axis += len(t.Shape)
	}
	if axis < 0 || axis >= len(t.Shape)-1 {
		return nil, nil, fmt.Errorf("tensor %s has %d dimensions, and none of its first %d is that of tokens", t.Name, len(t.Shape),
			max(0, len(t.Shape)-1))
	}
	rows := *t
	rows.Cache, rows.Layer = cachePart(t.Name)
	rows.Role, rows.Part = "", ""
	columns := rows
	columns.Name, columns.Across = t.Name+byChannel, true
	columns.Batch, columns.Cols, columns.Rows = 1, t.Shape[axis], 1
	for i, n := range t.Shape {
		switch {
		case i < axis:
			columns.Batch *= n
		case i > axis:
			columns.Rows *= n
		}
	}
	rows.Batch, rows.Cols = 1, t.Shape[len(t.Shape)-1]
	rows.Rows = 1
	for _, n := range t.Shape[:len(t.Shape)-1] {
		rows.Rows *= n
	}
	return &rows, &columns, nil
}

// along reports whether the format has scales for runs of a row only, so that it can be tried on a part of each
// channel's tokens.
func (f *Format) along() bool {
	if f.Asks != Nothing {
		return false
	}
	c, err := f.Coder(NewSurvey(1, super))
	n, ok := c.(*integers)
	return err == nil && ok && n.group < super && !n.fixed
}

const (
	// mostChannels is the maximum row length, and stripTokens the tokens processed at a time, in whole groups.
	mostChannels = 1 << 16
	stripGroup   = 128
)

// across tries formats on channels by transposing strips of tokens, so that each channel's tokens form a row.
func (w *Work) across(m *Measured) error {
	if m.Rows > mostChannels {
		m.Kept = "of too many channels"
		return nil
	}
	for _, f := range w.Formats {
		if m.Takes(f) {
			m.Tried = append(m.Tried, Tried{Format: f, Bytes: f.Bytes(m.Batch, m.Rows, m.Cols)})
		}
	}
	m.Survey = NewSurvey(m.Batch*m.Rows, m.Cols)
	step := max(stripGroup, chunk/m.Rows/stripGroup*stripGroup)
	file := *m.Tensor // as stored: a row per token
	file.Rows, file.Cols = m.Cols, m.Rows
	for at := int64(0); at < m.Cols*m.Batch; {
		n := min(step, m.Cols-at%m.Cols)
		if err := w.strip(m, &file, at, n); err != nil {
			return err
		}
		at += n
	}
	if !m.Survey.Finite() {
		m.broken()
	}
	m.Tried = slices.DeleteFunc(m.Tried, func(t Tried) bool { return !t.Error.finite() })
	return nil
}

// strip tries the formats on n tokens.
func (w *Work) strip(m *Measured, file *Tensor, at, n int64) error {
	x, turned := w.room(n*file.Cols), make([]float32, n*file.Cols)
	if err := file.rows(x, at, n, &w.raw); err != nil {
		return err
	}
	for t := range n {
		for c := range file.Cols {
			turned[c*n+t] = x[t*file.Cols+c]
		}
	}
	s := NewSurvey(file.Cols, n)
	s.Add(turned)
	m.Survey.merge(s)
	for i := range m.Tried {
		if !s.Finite() {
			break
		}
		t, err := NewTrial(m.Tried[i].Format, s)
		if err != nil {
			return err
		}
		t.Rows(turned)
		m.Tried[i].Error.Add(&t.Error)
	}
	if w.Done != nil && !w.Done(int64(file.Stored.Row(file.Cols))*n) {
		return ErrStopped
	}
	return nil
}

// room returns a buffer of n numbers.
func (w *Work) room(n int64) []float32 {
	if int64(cap(w.numbers)) < n {
		w.numbers = make([]float32, n)
	}
	return w.numbers[:n]
}
