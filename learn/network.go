package learn

import (
	"fmt"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/quality"
)

// model returns the shape of a network.
func (d *desk) model(ref string) (branch, error) {
	m, err := d.network(ref)
	if err != nil {
		return nil, err
	}
	b := branch{"hidden": float64(m.Hidden), "vocabulary": float64(m.Vocab), "parameters": float64(m.Params()),
		"active": float64(m.ActiveParams())}
	some := func(name string, n int64) {
		if n > 0 {
			b[name] = float64(n)
		}
	}
	if p := m.Decoder(); p != nil {
		some("layers", int64(len(p.Layers)))
		some("head_dim", widestHead(p))
	}
	some("context", m.Context)
	some("heads", m.Traits.Heads)
	some("kv_heads", m.Traits.KVHeads)
	some("experts", m.Traits.Experts)
	some("experts_used", m.Traits.ExpertsUsed)
	return b, nil
}

// widestHead returns the largest key width per head; 0 without attention.
func widestHead(p *model.Part) (dim int64) {
	p.Each(func(k *model.Kind, _ int64) {
		k.Caches(func(c model.Cache) {
			if c.KVHeads > 0 {
				dim = max(dim, c.DimK)
			}
		})
	})
	return dim
}

// network builds the model of a reference.
func (d *desk) network(ref string) (*model.Model, error) {
	var source memwall.ModelSource = memwall.Catalog{}
	if d.asker.Models != nil {
		source = d.asker.Models
	}
	r, err := source.Model(ref)
	switch {
	case err != nil:
		return nil, err
	case r.Model != nil:
		return r.Model, nil
	case r.Spec == nil:
		return nil, fmt.Errorf("the architecture of %s is not known", ref)
	}
	return r.Spec.Model(r.ID), nil
}

// loss returns the published loss of perplexity or accuracy of a format, as a fraction: "loss MODEL bf16 q4_k_m".
func (d *desk) loss(w []string) (branch, error) {
	if len(w) != 3 {
		return nil, fmt.Errorf("loss %v: a model and two formats", w)
	}
	m, err := d.network(w[0])
	if err != nil {
		return nil, err
	}
	b := branch{}
	if c := quality.OfWeights(quality.Model{ID: m.ID, Parameters: m.Params()}, w[1], w[2]).Best(); c != nil {
		_, mid, _ := c.Worse()
		b["share"], b["metric"], b["on"] = mid/100, c.Metric.Name, c.OnModel
	}
	return b, nil
}
