package quant

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format/gguf"
)

// NewGGUF returns a file with the metadata of a GGUF model and its tensors re-encoded.
func NewGGUF(m *Model, tensors []*Encoder) (*Output, error) {
	planned := make([]gguf.Planned, len(tensors))
	bytes := map[*dtype.Format]int64{}
	for i, e := range tensors {
		p := &planned[i]
		p.Name, p.Format, p.Dims = e.Tensor.Name, e.Tensor.Stored, slices.Clone(e.Tensor.Shape)
		slices.Reverse(p.Dims)
		if p.Format == nil {
			return nil, fmt.Errorf("tensor %s is of a type that is not known, and cannot be written", p.Name)
		}
		if e.Format != nil {
			p.Format = e.Format.Scheme.Elem
			bytes[p.Format] += e.Bytes()
		}
	}
	h, err := gguf.Rewritten(m.GGUF, m.Head, map[string]uint32{"general.quantization_version": 2, "general.file_type": fileType(bytes)},
		planned)
	if err != nil {
		return nil, err
	}
	return &Output{Header: h, Tensors: tensors, Align: m.GGUF.Alignment}, nil
}

// fileType returns the number of the file type named like the format with most bytes; a mixture is close to it.
func fileType(bytes map[*dtype.Format]int64) uint32 {
	var most *dtype.Format
	for _, f := range dtype.GGML {
		if bytes[f] > 0 && (most == nil || bytes[f] > bytes[most]) {
			most = f
		}
	}
	const allF32 = 0
	if most == nil {
		return allF32
	}
	for _, name := range []string{most.Name, most.Name + "_s"} {
		if r := dtype.FindRecipe(name); r != nil && r.Store == dtype.GGUF && r.FType >= 0 {
			return uint32(r.FType)
		}
	}
	return allF32
}

// entry of a safetensors header.
type entry struct {
	DType   string   `json:"dtype"`
	Shape   []int64  `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

// NewSafetensors returns a file of int8 tensors, each with its scales in a tensor called weight_scale, and of unchanged
// tensors.
func NewSafetensors(tensors []*Encoder) (*Output, error) {
	header := map[string]entry{}
	at := int64(0)
	for _, e := range tensors {
		name, t, shape := e.Tensor.Name, e.Tensor.DType, e.Tensor.Shape
		if e.Format != nil {
			t = "I8"
		}
		header[name] = entry{t, append([]int64{}, shape...), [2]int64{at, at + e.Bytes()}}
		at += e.Bytes()
		if e.Beside > 0 {
			rows := e.Tensor.Batch * e.Tensor.Rows
			scale := strings.TrimSuffix(name, ".weight") + ".weight_scale"
			header[scale] = entry{"F32", append(append([]int64{}, shape[:len(shape)-1]...), 1), [2]int64{at, at + e.Beside*rows}}
			at += e.Beside * rows
		}
	}
	text, err := json.Marshal(header)
	if err != nil {
		return nil, err
	}
	return &Output{Header: framed(text), Tensors: tensors, Align: 1}, nil
}
