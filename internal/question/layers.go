package question

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// Layers returns the layer groups of the model of a fit request, in order.
func (a *Env) Layers(r *api.Request) ([]api.LayerGroup, error) {
	q, err := a.Prepare(r)
	if err != nil {
		return nil, api.AsError(err)
	}
	if q.Resolved.UnknownArch != "" {
		return nil, &api.Error{Code: api.Unsupported, Field: "model", Value: q.Resolved.UnknownArch,
			Message: fmt.Sprintf("the layers of a %s are unknown", q.Resolved.UnknownArch), Hint: "leave --layers out"}
	}
	k, v := dtype.FindFormat(q.Request.KV), dtype.FindFormat(q.Request.KVV)
	if k == nil {
		k = dtype.BF16
	}
	if v == nil {
		v = k
	}
	state := q.Job.Model.State
	if state == nil {
		state = dtype.F32
	}
	var out []api.LayerGroup
	for i := range q.Job.Model.Parts {
		out = append(out, layerGroups(&q.Job.Model.Parts[i], &q.Job.Weights.Parts[i], k, v, state)...)
	}
	return out, nil
}

func layerGroups(p *model.Part, w *model.PartWeights, k, v, state *dtype.Format) (out []api.LayerGroup) {
	group := func(layers string, kind *model.Kind, count int64, stored []model.Stored) {
		g := api.LayerGroup{Part: p.Name, Layers: layers, Kind: kind.Name, Count: count, Parameters: kind.Params(),
			Stored: storedIn(stored)}
		for i := range stored {
			g.Weights += stored[i].Bytes
		}
		addCacheBytes(&g, kind, k, v, state)
		out = append(out, g)
	}
	if len(w.Pre) > 0 {
		group("before", &p.Pre, 1, w.Pre)
	}
	for i := range w.Variants {
		x := &w.Variants[i]
		group(ranges(w.Layers, uint16(i)), &p.Kinds[x.Kind], x.Count, x.Tensors)
	}
	if len(w.Post) > 0 {
		group("after", &p.Post, 1, w.Post)
	}
	return out
}

func addCacheBytes(g *api.LayerGroup, kind *model.Kind, k, v, state *dtype.Format) {
	kind.Caches(func(c model.Cache) {
		if c.Class == model.StateCache {
			g.State += state.Row(c.ConvElems + c.StateElems)
			return
		}
		g.KVPerToken += c.TokenBytes(k, v)
		g.KVSpan = max(g.KVSpan, c.Span)
	})
}

// storedIn returns the formats of tensors, most bytes first.
func storedIn(stored []model.Stored) (names []string) {
	bytes := map[string]unit.Bytes{}
	for i := range stored {
		name := "as in the file"
		if s := stored[i].Scheme; s != nil {
			name = s.Name
		}
		if bytes[name] == 0 && stored[i].Bytes > 0 {
			names = append(names, name)
		}
		bytes[name] += stored[i].Bytes
	}
	for i := 1; i < len(names); i++ {
		for j := i; j > 0 && bytes[names[j]] > bytes[names[j-1]]; j-- {
			names[j], names[j-1] = names[j-1], names[j]
		}
	}
	return names
}

// ranges formats the layers of a variant: "0-2, 5, 8-79".
func ranges(layers []uint16, variant uint16) string {
	var out []string
	for i := 0; i < len(layers); i++ {
		if layers[i] != variant {
			continue
		}
		first := i
		for i+1 < len(layers) && layers[i+1] == variant {
			i++
		}
		if first == i {
			out = append(out, fmt.Sprint(first))
		} else {
			out = append(out, fmt.Sprintf("%d-%d", first, i))
		}
	}
	return strings.Join(out, ", ")
}
