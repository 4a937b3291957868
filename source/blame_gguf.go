package source

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/family"
)

// tried is a header with one value replaced, which records the keys read.
type tried struct {
	*header
	key    string
	values []int64
	read   []string
}

func (t *tried) Ints(key string) ([]int64, bool) {
	if !slices.Contains(t.read, key) {
		t.read = append(t.read, key)
	}
	if key == t.key {
		return t.values, true
	}
	return t.header.Ints(key)
}

// numbers returns those that the file's family reads.
func (h *header) numbers(layer int) (out []number) {
	t := &tried{header: h}
	_, _ = family.FromHeader(t) // to record which keys are read
	for _, key := range t.read {
		v, ok := h.Ints(key)
		switch {
		case !ok || len(v) == 0:
		case len(v) == 1:
			out = append(out, number{key, -1, v[0]})
		case layer >= 0 && layer < len(v):
			out = append(out, number{key, layer, v[layer]})
		}
	}
	return out
}

func (h *header) with(n number, value int64) (*family.Spec, error) {
	v, _ := h.Ints(n.key)
	v = slices.Clone(v)
	v[max(0, n.at)] = value
	return family.FromHeader(&tried{header: h, key: n.key, values: v})
}

// blockOf returns the layer of a GGUF tensor; -1 outside the layers.
func blockOf(name string) int {
	rest, ok := strings.CutPrefix(name, "blk.")
	digits, _, dot := strings.Cut(rest, ".")
	if n, err := strconv.Atoi(digits); ok && dot && err == nil && isNumber(digits) {
		return n
	}
	return -1
}

// shapeOf returns the place of a tensor: its shape as GGUF files write it.
func shapeOf(name string) place {
	layer := blockOf(name)
	return func(m *model.Model) string {
		at := layer
		for i := range m.Parts {
			p := &m.Parts[i]
			switch {
			case i > 0 && p.Name != model.PartMTP:
				continue
			case at < 0:
				if s := shapeIn(name, model.InPre, &p.Pre, &p.Post); s != "" {
					return s
				}
			case at < len(p.Layers):
				return shapeIn(name, layer, &p.Kinds[p.Layers[at]])
			default:
				at -= len(p.Layers)
			}
		}
		return ""
	}
}

func shapeIn(name string, layer int, kinds ...*model.Kind) string {
	for _, k := range kinds {
		for i := range k.Ops {
			for _, t := range k.Ops[i].W {
				if !k.Ops[i].Lent && t.GGUF(layer) == name {
					return dimensions(t.Cols, t.Rows(), t.Batch)
				}
			}
		}
	}
	return ""
}

func shown(g *gguf.Tensor) string { return shownTensor(g.Name, g.Dims) }

// lies explains a mismatch between header and tensors by the numbers that contradict them; nil if none do.
func (h *header) lies(r *Resolved, wrong *faults, left []*gguf.Tensor) error {
	switch {
	case len(wrong.missing) > 0:
		name := wrong.missing[0]
		if layer := blockOf(name); layer >= 0 && !h.holds(layer) {
			n, _ := h.Int(h.Arch("block_count"))
			return contradiction([]number{{h.Arch("block_count"), -1, n}}, "the tensors", fmt.Sprintf(": none is of layer %d", layer), fetchOrConvert)
		}
		if by := blame(h, r.Model, blockOf(name), shapeOf(name), h.fitting(r.Model, name), false); len(by) > 0 {
			return contradiction(by, "the tensors", wrong.absent(), fetchOrConvert)
		}
	case wrong.name != "":
		name := wrong.name
		if by := blame(h, r.Model, blockOf(name), shapeOf(name), h.fitting(r.Model, name), true); len(by) > 0 {
			return contradiction(by, shown(h.find(name)), ": it would be "+shapeOf(name)(r.Model), fetchOrConvert)
		}
	}
	if len(wrong.missing) > 0 || wrong.name != "" {
		return nil
	}
	return h.unclaimed(r, left)
}

// holds reports whether the file has any tensor of a layer.
func (h *header) holds(layer int) bool {
	return slices.ContainsFunc(h.Tensors, func(t gguf.Tensor) bool { return blockOf(t.Name) == layer })
}

// fitting returns the places of tensors of the same layer, and of the embedding, that agree with the model.
func (h *header) fitting(m *model.Model, odd string) (out []place) {
	layer := blockOf(odd)
	for i := range h.Tensors {
		g := &h.Tensors[i]
		if g.Name == odd || g.Name != "token_embd.weight" && blockOf(g.Name) != layer {
			continue
		}
		if p := shapeOf(g.Name); p(m) == dimensions(g.Dims...) {
			out = append(out, p)
		}
	}
	return out
}

func (h *header) find(name string) *gguf.Tensor {
	i := slices.IndexFunc(h.Tensors, func(t gguf.Tensor) bool { return t.Name == name })
	return &h.Tensors[i]
}

// unclaimed explains tensors that no operator uses by a number that excludes them.
func (h *header) unclaimed(r *Resolved, left []*gguf.Tensor) error {
	layers, ahead := h.layers(r.Model)
	tried := map[string]bool{}
	matricesFirst := func(a, b *gguf.Tensor) int { return min(2, len(b.Dims)) - min(2, len(a.Dims)) }
	for _, g := range slices.SortedStableFunc(slices.Values(left), matricesFirst) {
		layer := blockOf(g.Name)
		if err := h.beyond(g, layer, layers, ahead); err != nil {
			return err
		}
		_, stem, _ := strings.Cut(strings.TrimPrefix(g.Name, "blk."), ".")
		if layer >= layers || layer < 0 && len(g.Dims) < 2 || tried[stem] || len(tried) > mostTried {
			continue
		}
		tried[stem] = true
		if by := blame(h, r.Model, layer, shapeOf(g.Name), nil, false); len(by) > 0 {
			return contradiction(by, shown(g), ", which the network does not use", fetchOrConvert)
		}
	}
	return nil
}

// mostTried is the maximum number of kinds of unused tensors that are explained.
const mostTried = 16

// layers returns the number of layers of the model, and of the prediction layers after them.
func (h *header) layers(m *model.Model) (layers, ahead int) {
	n, _ := h.Int(h.Arch(keyAhead))
	return len(m.Decoder().Layers), int(n)
}

const keyAhead = "nextn_predict_layers"

// beyond rejects tensors of layers beyond the header's count, and prediction layers where it counts ordinary ones.
func (h *header) beyond(g *gguf.Tensor, layer, layers, ahead int) error {
	_, role, _ := strings.Cut(strings.TrimPrefix(g.Name, "blk."), ".")
	predicts := strings.HasPrefix(role, "nextn.")
	switch {
	case layer < 0:
		return nil
	case layer >= layers+ahead:
		return h.miscounted("block_count", g, ", which the network does not use")
	case layer < layers && predicts:
		return h.miscounted(keyAhead, g, ", which predicts further tokens")
	case layer >= layers && !h.has(fmt.Sprintf("blk.%d.nextn.eh_proj.weight", layer)):
		return h.miscounted(keyAhead, g, ", whose layer predicts no further tokens")
	}
	return nil
}

func (h *header) miscounted(key string, g *gguf.Tensor, problem string) error {
	n, _ := h.Int(h.Arch(key))
	return contradiction([]number{{h.Arch(key), -1, n}}, shown(g), problem, fetchOrConvert)
}

func (h *header) has(name string) bool { return h.dims[name] != nil }

// unread returns a matrix of a layer that no operator of the family uses: the file holds another network, whose caches
// and computation are unknown.
func unread(left []*gguf.Tensor) *gguf.Tensor {
	for _, g := range left {
		_, role, _ := strings.Cut(strings.TrimPrefix(g.Name, "blk."), ".")
		if blockOf(g.Name) >= 0 && len(g.Dims) > 1 && mixes(role) {
			return g
		}
	}
	return nil
}

// mixes reports whether a name is that of a tensor of attention, a recurrence or a shared expert (src/llama-arch.cpp).
func mixes(role string) bool {
	if strings.HasSuffix(role, "_shexp.weight") {
		return true
	}
	for _, p := range []string{"attn_", "cross_attn_", "ssm_", "shortconv.", "time_mix_", "indexer."} {
		if strings.HasPrefix(role, p) {
			return strings.HasSuffix(role, ".weight")
		}
	}
	return false
}
