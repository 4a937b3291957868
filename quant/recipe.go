package quant

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/unit"
)

// Choice is the possible mixtures for the tensors of a model.
type Choice struct {
	Family  Family
	Groups  []Group
	Members [][]*Measured // by group
	Fixed   unit.Bytes    // size of tensors that no format was tried on
	GGUF    bool          // the tensors are of a GGUF file
	exact   Error         // of those that were read but stay unchanged; counted as in Uniform.Error
}

// Floor is the narrowest format that a role may get.
type Floor struct {
	Role   dtype.Role
	Format *Format
}

// NewChoice groups the tensors that may be mixed, with the formats of one family or unchanged. In llama.cpp files every
// tensor has its own type; engines for hub files fuse queries, keys and values, gate and up, and a layer's experts,
// which must share a format.
func NewChoice(all []*Measured, family Family, floors []Floor) *Choice {
	c := &Choice{Family: family}
	at := map[string]int{}
	for _, m := range all {
		if !m.takesAny(family) {
			c.Fixed += m.Tensor.Bytes
			if m.Kept == "" && m.Survey != nil {
				e := m.exact()
				c.exact.Add(&e)
			}
			continue
		}
		name := m.shares(family)
		i, ok := at[name]
		if !ok {
			i, at[name] = len(c.Groups), len(c.Groups)
			c.Groups, c.Members = append(c.Groups, Group{Name: name}), append(c.Members, nil)
		}
		c.Members[i] = append(c.Members[i], m)
	}
	for i := range c.Groups {
		c.Groups[i].Options = options(c.Members[i], family, floors)
	}
	return c
}

func (m *Measured) takesAny(family Family) bool {
	return slices.ContainsFunc(m.Tried, func(t Tried) bool { return t.Format.Family == family })
}

// shares returns the name of the group in which a tensor's format is decided.
func (t *Tensor) shares(family Family) string {
	if family == GGUF || t.Layer < 0 {
		return t.Name
	}
	layer := t.Part + strconv.Itoa(t.Layer)
	switch t.Role {
	case dtype.AttnQ, dtype.AttnK, dtype.AttnV:
		return layer + ".qkv"
	case dtype.FFNGate, dtype.FFNUp:
		return layer + ".gate_up"
	case dtype.FFNGateSh, dtype.FFNUpSh:
		return layer + ".shared_gate_up"
	}
	if t.Role.Expert() {
		return layer + ".experts"
	}
	return t.Name
}

// options returns the formats that all tensors of a group take, and keeping them unchanged.
func options(members []*Measured, family Family, floors []Floor) []Option {
	stored := Option{}
	for _, m := range members {
		stored.Bytes += m.Tensor.Bytes
	}
	out := []Option{stored}
	for i := range members[0].Tried {
		f := members[0].Tried[i].Format
		if o, ok := together(members, f, floors); ok && f.Family == family {
			out = append(out, o)
		}
	}
	return out
}

func together(members []*Measured, f *Format, floors []Floor) (Option, bool) {
	o := Option{Format: f.Name}
	for _, m := range members {
		t := m.Of(f)
		if t == nil || below(m.Tensor, f, floors) {
			return o, false
		}
		o.Bytes += t.Bytes
		o.Noise += t.Error.WeightedNoise
	}
	return o, true
}

// below reports whether a format is narrower than the floor of the tensor's role.
func below(t *Tensor, f *Format, floors []Floor) bool {
	return slices.ContainsFunc(floors, func(l Floor) bool {
		return l.Role == t.Role && f.Bytes(t.Batch, t.Rows, t.Cols) < l.Format.Bytes(t.Batch, t.Rows, t.Cols)
	})
}

// Range returns the smallest and largest size of a mixture.
func (c *Choice) Range() (least, most unit.Bytes) {
	least, most = c.Fixed, c.Fixed
	for i := range c.Groups {
		bytes := func(o Option) unit.Bytes { return o.Bytes }
		o := c.Groups[i].Options
		lo, hi := bytes(o[0]), bytes(o[0])
		for _, x := range o[1:] {
			lo, hi = min(lo, x.Bytes), max(hi, x.Bytes)
		}
		least, most = least+lo, most+hi
	}
	return least, most
}

// Mixed is the format of each tensor under a mixture.
type Mixed struct {
	Bytes unit.Bytes // of all tensors
	Error Error      // as in Uniform.Error
	Bound float64    // lower bound on the weighted noise of any mixture
	Exact bool
	Parts []Given
}

// Given is the format of one tensor; "" for unchanged.
type Given struct {
	Tensor *Tensor
	Format string
	Bytes  unit.Bytes
}

// Within returns the mixture with the least error within a size; false if the smallest is larger.
func (c *Choice) Within(budget unit.Bytes) (*Mixed, bool) {
	m, ok := Mix(c.Groups, budget-c.Fixed)
	if !ok {
		return nil, false
	}
	x := &Mixed{Bytes: m.Bytes + c.Fixed, Bound: m.Bound, Exact: m.Exact, Error: c.exact}
	for g, pick := range m.Pick {
		for _, member := range c.Members[g] {
			x.give(member, c.Groups[g].Options[pick].Format)
		}
	}
	return x, true
}

func (x *Mixed) give(m *Measured, format string) {
	g := Given{Tensor: m.Tensor, Format: format, Bytes: m.Tensor.Bytes}
	e := m.exact()
	for i := range m.Tried {
		if t := &m.Tried[i]; t.Format.Name == format {
			g.Bytes, e = t.Bytes, t.Error
		}
	}
	x.Parts = append(x.Parts, g)
	x.Error.Add(&e)
}

// Shares summarizes a mixture by format, in the order of Formats, unchanged tensors first.
func (x *Mixed) Shares() []Share {
	at := map[string]*Share{}
	for i := range x.Parts {
		p := &x.Parts[i]
		if at[p.Format] == nil {
			at[p.Format] = &Share{Format: p.Format}
		}
		at[p.Format].Tensors++
		at[p.Format].Bytes += p.Bytes
	}
	var out []Share
	if s := at[""]; s != nil {
		out = append(out, *s)
	}
	for _, f := range formats() {
		if s := at[f.Name]; s != nil {
			out = append(out, *s)
		}
	}
	return out
}

// Share is the part of a mixture in one format.
type Share struct {
	Format  string
	Tensors int
	Bytes   unit.Bytes
}

// TensorTypes returns llama-quantize's arguments for a mixture: a pattern of tensor names and their type per role and
// format. Tensors without a role are named as in the file.
func (x *Mixed) TensorTypes() []string {
	type key struct{ stem, format string }
	var order []key
	layers := map[key][]int{}
	for i := range x.Parts {
		p := &x.Parts[i]
		k := key{p.Tensor.stem(), p.Format}
		if k.format == "" {
			k.format = p.Tensor.Stored.Name
		}
		if _, ok := layers[k]; !ok {
			order = append(order, k)
		}
		layers[k] = append(layers[k], p.Tensor.Layer)
	}
	out := make([]string, len(order))
	for i, k := range order {
		out[i] = "--tensor-type '" + pattern(k.stem, layers[k]) + "=" + k.format + "'"
	}
	return out
}

// stem is what GGUF files call the tensor behind the number of its layer.
func (t *Tensor) stem() string {
	if t.Role == "" || t.Part != "" && t.Part != "decoder" {
		return strings.TrimSuffix(t.Name, ".weight")
	}
	return string(t.Role)
}

// ggufName is what GGUF files call the tensor, without ".weight"; "" when its role is not known.
func (t *Tensor) ggufName() string {
	switch {
	case t.Role == "" || t.Part != "" && t.Part != "decoder":
		return ""
	case t.Layer < 0:
		return string(t.Role)
	}
	return "blk." + strconv.Itoa(t.Layer) + "." + string(t.Role)
}

func pattern(stem string, layers []int) string {
	if layers[0] < 0 {
		return "^" + strings.ReplaceAll(stem, ".", `\.`) + `\.`
	}
	numbers := make([]string, len(layers))
	for i, l := range layers {
		numbers[i] = strconv.Itoa(l)
	}
	return fmt.Sprintf(`blk\.(%s)\.%s\.`, strings.Join(numbers, "|"), strings.ReplaceAll(stem, ".", `\.`))
}
