package ggml

import "github.com/memwall/memwall/model"

// Rehearse compiles a graph for each of several batches, one behind the other on one scheduler, whose splits keep the
// room that they grew to. Layers are not shortened: where a split ends hangs on all before. A dry run is the last batch.
func Rehearse(m *model.Model, s Shape, site *Site, batches []Sizes) (out []*Compiled, err error) {
	lib, at := &Library{}, *site
	for i, n := range batches {
		at.Rows, at.DryRun = n, site.DryRun && i == len(batches)-1
		g, err := lower(&lib.graph, m, allOf(m.Decoder().Layers), s, &at)
		if err != nil {
			return nil, err
		}
		out = append(out, g.compileIn(lib, &at))
	}
	return out, nil
}
