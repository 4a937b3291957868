package memwall

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// LayerGroup is the layers of a model that are alike in structure and storage, or what comes before or
// after them. Figures are of one layer of the whole model, before it is shared among devices.
type LayerGroup struct {
	Part       string     `json:"part"`
	Layers     string     `json:"layers"` // "0-79", "before", "after"
	Kind       string     `json:"kind"`
	Count      int64      `json:"count"`
	Parameters int64      `json:"parameters"`
	Weights    unit.Bytes `json:"weights_bytes"`
	Stored     []string   `json:"stored"` // formats, most bytes first
	KVPerToken unit.Bytes `json:"kv_bytes_per_token,omitempty"`
	// KVSpan is how many tokens back the layer remembers; 0 for all of them.
	KVSpan int64      `json:"kv_span,omitempty"`
	State  unit.Bytes `json:"state_bytes,omitempty"` // of one sequence
}

// Layers lists what the model of a fit request is made of, in order.
func (a *Asker) Layers(r *Request) ([]LayerGroup, error) {
	q, err := a.prepare(r)
	if err != nil {
		return nil, asError(err)
	}
	if q.resolved.UnknownArch != "" {
		return nil, &Error{Code: Unsupported, Field: "model", Value: q.resolved.UnknownArch, Message: fmt.Sprintf("the layers of a %s are unknown", q.resolved.UnknownArch), Hint: "leave --layers out"}
	}
	k, v := dtype.FindFormat(q.request.KV), dtype.FindFormat(q.request.KVV)
	if k == nil {
		k = dtype.BF16
	}
	if v == nil {
		v = k
	}
	state := q.job.Model.State
	if state == nil {
		state = dtype.F32
	}
	var out []LayerGroup
	for i := range q.job.Model.Parts {
		out = append(out, layerGroups(&q.job.Model.Parts[i], &q.job.Weights.Parts[i], k, v, state)...)
	}
	return out, nil
}

func layerGroups(p *model.Part, w *model.PartWeights, k, v, state *dtype.Format) (out []LayerGroup) {
	group := func(layers string, kind *model.Kind, count int64, stored []model.Stored) {
		if len(stored) == 0 {
			return
		}
		g := LayerGroup{Part: p.Name, Layers: layers, Kind: kind.Name, Count: count, Parameters: kind.Params(), Stored: storedIn(stored)}
		for i := range stored {
			g.Weights += stored[i].Bytes
		}
		g.caches(kind, k, v, state)
		out = append(out, g)
	}
	group("before", &p.Pre, 1, w.Pre)
	for i := range w.Variants {
		x := &w.Variants[i]
		group(ranges(w.Layers, uint16(i)), &p.Kinds[x.Kind], x.Count, x.Tensors)
	}
	group("after", &p.Post, 1, w.Post)
	return out
}

func (g *LayerGroup) caches(kind *model.Kind, k, v, state *dtype.Format) {
	kind.Caches(func(c model.Cache) {
		if c.Class == model.StateCache {
			g.State += state.Row(c.ConvElems + c.StateElems)
			return
		}
		g.KVPerToken += c.TokenBytes(k, v)
		g.KVSpan = max(g.KVSpan, c.Span)
	})
}

// storedIn lists the formats of tensors by their bytes.
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

// ranges writes the layers of a variant: "0-2, 5, 8-79".
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
