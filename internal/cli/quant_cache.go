package cli

import (
	"fmt"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render/cards"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/quant"
)

// runCache measures what formats cost keys and values of a cache.
func (a *app) runCache(f *quantFlags, q *quantAsk, m *quant.Model) error {
	for _, x := range [][2]string{{"budget", f.budget}, {"fits", f.fits}, {"imatrix", f.imatrix}, {"activations", f.inputs}, {"write", f.write}, {"save", f.save}, {"svg", f.svg}} {
		if x[1] != "" {
			return usage(x[0], x[1], fmt.Sprintf("--%s is for weights, and %s holds keys and values of a cache", x[0], m.ID), "leave it out")
		}
	}
	if f.by == "role" {
		return usage("per", f.by, "keys and values of a cache have no roles", "--per layer")
	}
	m, err := quant.CacheOf(m, f.tokens)
	if err != nil {
		return usage("tokens-axis", fmt.Sprint(f.tokens), err.Error(), "--tokens-axis N, counted from 0; the last dimension is that of a head's channels")
	}
	if f.formats == "" {
		q.formats = quant.CacheFormats()
	}
	stats := &quant.Statistics{}
	kept := a.remembered(m, stats, f.again)
	defer kept.close()
	all, stopped, err := a.weighed(m, q.formats, stats, kept)
	if err != nil {
		return err
	}
	r := quant.NewCacheReport(m, all, q.formats)
	r.Schema, r.Stopped = memwall.Schema, stopped
	if f.by == "layer" {
		r.SetParts(all, q.formats, quant.ByCacheLayer)
	}
	if f.by == "tensor" {
		r.SetEach(all)
	}
	return a.show(r, func(st term.Style) string { return cards.Quant(r, st) })
}
