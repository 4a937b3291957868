package render

import (
	"fmt"

	"github.com/memwall/memwall/quant"
	"github.com/memwall/memwall/unit"
)

// quantCache draws what formats cost keys and values.
func (p *page) quantCache(r *quant.Report) {
	c := r.Cache
	p.heading(r.Model, fmt.Sprintf("cache of %s, %s tokens: %v of keys, %v of values", plural(int64(c.Layers), "layer", "layers"), unit.Count(c.Tokens), c.Keys, c.Values))
	if r.Stopped {
		p.para(pad(gap), say("stopped: only what was measured until then", bold))
	}
	p.blank()
	if len(c.Formats) == 0 {
		p.para(pad(gap), say("no keys or values that a format could be tried on"))
	} else {
		p.cacheFormats(c)
	}
	p.quantParts(r)
	p.quantEach(r)
	p.quantKept(r)
}

func (p *page) cacheFormats(c *quant.CacheRow) {
	tb := &table{sides: []side{left, decimal, decimal, decimal, decimal, decimal}}
	tb.row(say("error", bold), say("bits", dim), say("keys", dim), say("by channel", dim), say("values", dim), say("by channel", dim))
	for i := range c.Formats {
		f := &c.Formats[i]
		tb.row(say(f.Format), say(fmt.Sprintf("%.2f", f.Bits)), say(cacheError(f.KeysToken)), say(cacheError(f.KeysChannel)), say(cacheError(f.ValuesToken)), say(cacheError(f.ValuesChannel)))
	}
	p.add(tb)
	p.blank()
	p.para(pad(gap), say("error: root mean square of what storing changes, of that of the keys or values. Scales are of a token and head, as engines keep a cache; by channel: of some tokens of one channel (KIVI), for which an engine needs kernels of its own.", dim))
}

// cacheError prints an error; a dash where a format was not tried.
func cacheError(f *quant.Figures) string {
	if f == nil {
		return "-"
	}
	return errorShare(f.RMS)
}
