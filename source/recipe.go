package source

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// recipe returns the quantization as a recipe for a model: a named one if equivalent.
func (q *quantisation) recipe(m *model.Model) (*dtype.Recipe, error) {
	p, err := newPicker(q, m)
	if err != nil {
		return nil, err
	}
	r := &dtype.Recipe{Name: q.name, Store: q.store, Base: q.base, FType: dtype.NoGGML, Pick: p.pick}
	named := dtype.FindRecipe(q.name)
	switch {
	case named != nil && sameStorage(m.Store(named), m.Store(r)):
		return named, nil
	case named != nil:
		r.Name += " (config.json)"
	}
	if q.mean {
		r.StandsFor, r.Low, r.High = "bits differ from layer to layer, and so many are their average", 0.97, 1.05
	}
	r.Note = fmt.Sprintf("as the checkpoint's configuration says, with %d exceptions", len(q.keep))
	return r, nil
}

// picker is a quantization with its lists prepared for one model.
type picker struct {
	q     *quantisation
	names *namer
	keep  *modulesNamed
	only  []*modulesNamed // by group; nil for all
}

// maxGroups is far more than the schemes of any real checkpoint.
const maxGroups = 64

func newPicker(q *quantisation, m *model.Model) (*picker, error) {
	if len(q.groups) > maxGroups {
		return nil, &memwall.Error{Code: memwall.Limit, Field: "quantization_config", Value: strconv.Itoa(len(q.groups)),
			Message: fmt.Sprintf("quantization_config: %d different schemes, and at most %d are told apart", len(q.groups), maxGroups), Hint: "give the safetensors files"}
	}
	layers := 0
	for i := range m.Parts {
		layers += len(m.Parts[i].Layers)
	}
	p := &picker{q: q, names: newNamer(m, q.store == dtype.MLX)}
	var err error
	if p.keep, err = newModules(q.keep, layers); err != nil {
		return nil, err
	}
	for _, g := range q.groups {
		var only *modulesNamed
		if g.only != nil {
			if only, err = newModules(g.only, layers); err != nil {
				return nil, err
			}
		}
		p.only = append(p.only, only)
	}
	return p, nil
}

func (p *picker) pick(s *dtype.Site) *dtype.Scheme {
	if s.Table {
		return nil
	}
	if s.Bias || !p.q.reach.touches(s) {
		return dtype.Of(s.Model.Native)
	}
	at := p.names.site(s)
	if p.keep.has(&at, s.Part) {
		return dtype.Of(s.Model.Native)
	}
	for i := range p.q.groups {
		if p.only[i] == nil || p.only[i].has(&at, s.Part) {
			return p.q.groups[i].scheme
		}
	}
	return dtype.Of(s.Model.Native)
}

// sameStorage reports whether two recipes store a model in the same way.
func sameStorage(a, b *model.Weights) bool {
	return slices.EqualFunc(a.Parts, b.Parts, func(x, y model.PartWeights) bool {
		return slices.EqualFunc(x.Pre, y.Pre, sameStored) && slices.EqualFunc(x.Post, y.Post, sameStored) &&
			slices.EqualFunc(x.Layers, y.Layers, func(i, j uint16) bool {
				return slices.EqualFunc(x.Variants[i].Tensors, y.Variants[j].Tensors, sameStored)
			})
	})
}

// sameStored compares sizes and element formats; if the sizes agree, companions only differ in name.
func sameStored(a, b model.Stored) bool {
	if a.Bytes != b.Bytes || (a.Scheme == nil) != (b.Scheme == nil) {
		return false
	}
	return a.Scheme == nil || a.Scheme.Elem == b.Scheme.Elem
}
