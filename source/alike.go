package source

import (
	"fmt"

	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/unit"
)

// alike identifies a file of an unknown architecture by its tensors, if their names and shapes match a known family
// exactly: every layer tensor is used and none is missing. It returns nil otherwise. Weights are then exact but the
// cache is derived, since attention windows show in no tensor.
func (h *header) alike(r *Resolved, of []*family.Family) *family.Spec {
	spec, as := family.Alike(h, of, h.explains)
	if spec == nil {
		return nil
	}
	r.Derived = fmt.Sprintf("no model family reads %.80q: its network is read from names and shapes of its tensors", h.Architecture())
	if as != "" {
		r.Derived += ", as files of " + as + " are"
	}
	note(r, "architecture_unknown", "%s", r.Derived)
	if w, ok := h.Int(h.Arch("attention.sliding_window")); ok && w > 0 && !slides(spec) {
		note(r, "architecture_unknown", "the file names a window of %s tokens and not the layers that have it: their cache is counted in full",
			unit.Count(w))
	}
	return spec
}

// slides reports whether any layer has a window.
func slides(s *family.Spec) bool {
	for i := range s.Layers {
		if s.Layers[i].Attn.Window > 0 {
			return true
		}
	}
	return false
}

// explains reports whether a network has exactly the file's layer tensors, with the same element counts.
func (h *header) explains(s *family.Spec) bool {
	used, whole := map[string]bool{}, true
	m := s.Model("")
	layers := len(m.Decoder().Layers)
	m.Stored("", func(p *model.Part, layer int, t *model.Tensor) model.Stored {
		if p.Name == model.PartMTP && layer >= 0 {
			layer += layers
		}
		name := t.GGUF(layer)
		d, ok := h.dims[name]
		used[name] = true
		whole = whole && (ok && elements(d) == t.Elems() || !ok && t.Table)
		return model.Stored{}
	})
	for name := range h.dims {
		whole = whole && (used[name] || blockOf(name) < 0)
	}
	return whole
}

// elements returns the number of elements of a tensor; the reader has bounded them.
func elements(dims []int64) int64 {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	return n
}
