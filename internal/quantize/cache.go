package quantize

import (
	"context"
	"fmt"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/quant"
)

// cache measures what formats cost keys and values of a cache.
func (w *work) cache(ctx context.Context, m *quant.Model) (*quant.Report, error) {
	m, err := w.cacheOf(m)
	if err != nil {
		return nil, err
	}
	if w.Formats == "" {
		w.q.formats = quant.CacheFormats()
	}
	all, stopped, err := w.measured(ctx, m, &quant.Statistics{})
	if err != nil {
		return nil, err
	}
	r := quant.NewCacheReport(m, all, w.q.formats)
	r.Schema, r.Stopped = memwall.Schema, stopped
	switch w.By {
	case "layer":
		r.SetParts(all, w.q.formats, quant.ByCacheLayer)
	case "tensor":
		r.SetEach(all)
	}
	return r, nil
}

// cacheOf is the file as keys and values; what is asked of weights alone is refused.
func (w *work) cacheOf(m *quant.Model) (*quant.Model, error) {
	drawn := ""
	if w.Spread {
		drawn = "a picture"
	}
	for _, x := range [][2]string{{"budget", w.Budget}, {"fits", w.Fits},
		{"imatrix", w.Imatrix}, {"activations", w.Inputs}, {"write", w.Write}, {"save", w.Save}, {"svg", drawn}} {
		if x[1] != "" {
			return nil, bad(x[0], x[1], fmt.Sprintf("--%s is for weights, and %s holds keys and values of a cache", x[0], m.ID),
				"leave it out")
		}
	}
	if w.By == "role" {
		return nil, bad("per", w.By, "keys and values of a cache have no roles", "--per layer")
	}
	of, err := quant.CacheOf(m, w.Tokens)
	if err != nil {
		return nil, bad("tokens-axis", fmt.Sprint(w.Tokens), err.Error(),
			"--tokens-axis N, counted from 0; the last dimension is that of a head's channels")
	}
	return of, nil
}
