package cards

import (
	"fmt"

	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/quant"
	"github.com/memwall/memwall/unit"
)

// writeQuantCache draws what formats cost keys and values.
func writeQuantCache(p *term.Page, r *quant.Report) {
	c := r.Cache
	p.Heading(r.Model, fmt.Sprintf("cache of %s, %s tokens: %v of keys, %v of values", term.Plural(int64(c.Layers), "layer", "layers"),
		unit.Count(c.Tokens), c.Keys, c.Values))
	if r.Stopped {
		p.Para(term.Pad(term.Gap), term.Say("stopped: only what was measured until then", term.Bold))
	}
	p.Blank()
	if len(c.Formats) == 0 {
		p.Para(term.Pad(term.Gap), term.Say("no keys or values that a format could be tried on"))
	} else {
		writeCacheFormats(p, c)
	}
	writeQuantParts(p, r)
	writeQuantEach(p, r)
	writeQuantKept(p, r)
}

func writeCacheFormats(p *term.Page, c *quant.CacheRow) {
	tb := &term.Table{Sides: []term.Side{term.Left, term.Decimal, term.Decimal, term.Decimal, term.Decimal, term.Decimal}}
	tb.Row(term.Say("error", term.Bold), term.Say("bits", term.Dim), term.Say("keys", term.Dim), term.Say("by channel", term.Dim),
		term.Say("values", term.Dim), term.Say("by channel", term.Dim))
	for i := range c.Formats {
		f := &c.Formats[i]
		tb.Row(term.Say(f.Format), term.Say(fmt.Sprintf("%.2f", f.Bits)), term.Say(cacheError(f.KeysToken)),
			term.Say(cacheError(f.KeysChannel)), term.Say(cacheError(f.ValuesToken)), term.Say(cacheError(f.ValuesChannel)))
	}
	p.Add(tb)
	p.Blank()
	p.Para(term.Pad(term.Gap), term.Say("error: root mean square of what storing changes, of that of the keys or values. Scales are of a "+
		"token and head, as engines keep a cache; by channel: of some tokens of one channel (KIVI), for which an engine needs kernels of "+
		"its own.", term.Dim))
}

// cacheError prints an error; a dash where a format was not tried.
func cacheError(f *quant.Figures) string {
	if f == nil {
		return "-"
	}
	return ErrorShare(f.RMS)
}
