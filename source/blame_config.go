package source

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/unit"
)

// mostValues is the largest config whose numbers are tried: real ones have hundreds.
const mostValues = 2000

// original is a config.json as stored, and its network before adjustments for what the files omit.
type original struct {
	*family.Config
	model *model.Model
}

// original returns the unmodified config; false if it is not from a file.
func (c *configuration) original() (o original, ok bool) {
	read, err := family.ParseConfig(c.text)
	if err != nil {
		return o, false
	}
	if o.Config, err = family.ParseConfig(c.text); err != nil {
		return o, false
	}
	spec, err := family.FromConfig(read)
	if err != nil {
		return o, false
	}
	o.model = spec.Model("")
	return o, true
}

func (o original) numbers(int) (out []number) {
	for _, n := range o.Numbers(mostValues) {
		out = append(out, number{n.Path, -1, n.Value})
	}
	return out
}

func (o original) with(n number, value int64) (*family.Spec, error) {
	return family.FromConfig(o.With(n.key, value))
}

// lies explains a mismatch between config.json and tensors by the numbers that contradict them; nil if none do.
func (c *configuration) lies(f *filing, wrong *faults) error {
	o, ok := c.original()
	if !ok {
		return nil
	}
	switch {
	case len(wrong.missing) > 0:
		odd := wantedAt(wrong.part, wrong.at)
		if by := blame(o, o.model, wrong.at.layer, odd, f.fitting(wrong.part, wrong.at), false); len(by) > 0 {
			return inFile(c.name, contradiction(by, "the tensors", wrong.absent(), ownConfig))
		}
	case wrong.name != "":
		odd, h := wantedAt(wrong.part, wrong.at), f.parts[wrong.part].held[wrong.at]
		if by := blame(o, o.model, wrong.at.layer, odd, f.fitting(wrong.part, wrong.at), true); len(by) > 0 {
			return inFile(c.name, contradiction(by, h.shown(), fmt.Sprintf(": %s elements by the config, %s in the files", odd(f.m), unit.Count(h.elems)), ownConfig))
		}
	default:
		return c.unclaimed(o, f)
	}
	return nil
}

// unclaimed explains decoder tensors that no operator uses, or that belong to layers beyond the config's count.
func (c *configuration) unclaimed(o original, f *filing) error {
	for _, layer := range slices.Sorted(maps.Keys(f.beyond)) {
		if b := f.beyond[layer]; !b.predicts {
			if err := c.unused(o, &b.first, layer); err != nil {
				return err
			}
		}
	}
	tried := map[string]bool{}
	for i := range f.extra {
		x := &f.extra[i]
		n, ok := readName(x.name)
		f.settle(x, &n)
		if !ok || n.layer < 0 || n.part != f.m.Parts[0].Name || n.param == companion || tried[n.module] || len(tried) > mostTried {
			continue
		}
		tried[n.module] = true
		if err := c.unused(o, x, n.layer); err != nil {
			return err
		}
	}
	return nil
}

func (c *configuration) unused(o original, x *fileTensor, layer int) error {
	if by := blame(o, o.model, layer, placed(x), nil, false); len(by) > 0 {
		return inFile(c.name, contradiction(by, x.shown(), ", which the network does not use", ownConfig))
	}
	return nil
}

// placed returns the place of a tensor: the layer and part in which a model has slots for it.
func placed(x *fileTensor) place {
	return func(m *model.Model) string {
		n, ok := readName(x.name)
		if f := newFiling(m); !ok || !f.place(x, &n) {
			return ""
		}
		return fmt.Sprint(n.part, n.layer)
	}
}

// wantedAt returns the place of a slot: the number of elements of its tensors in a model.
func wantedAt(part string, at where) place {
	return func(m *model.Model) string {
		p := newFiling(m).parts[part]
		if p == nil || p.wants(at.layer)[at.slot].tensors == 0 {
			return ""
		}
		return unit.Count(p.wants(at.layer)[at.slot].elems)
	}
}

// fitting returns the slots of the same layer, and of the embedding, for which files and model agree.
func (f *filing) fitting(part string, odd where) (out []place) {
	for _, p := range []string{part, f.m.Parts[0].Name} {
		filed := f.parts[p]
		for at, h := range filed.held {
			same := p == part && at.layer == odd.layer || at.layer < 0 && at.slot.role == dtype.TokenEmbd
			if same && at != odd && h.name != "" && h.holds(filed.wants(at.layer)[at.slot].elems) {
				out = append(out, wantedAt(p, at))
			}
		}
	}
	return out
}

// unread returns a projection of attention or recurrence in the decoder's layers that no operator uses.
func (f *filing) unread() *fileTensor {
	for i := range f.extra {
		x := &f.extra[i]
		n, ok := readName(x.name)
		f.settle(x, &n)
		if ok && n.layer >= 0 && n.part == f.m.Parts[0].Name && n.param == weight && len(x.shape) > 1 && strings.HasSuffix(n.module, "_proj") && containsAny(n.module, "attn", "attention", "mixer", "mamba") {
			return x
		}
	}
	return nil
}

func (t *fileTensor) shown() string { return shownTensor(t.name, t.shape) }

func (h *holding) shown() string { return shownTensor(h.name, h.shape) }
