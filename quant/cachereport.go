package quant

import (
	"slices"
	"strconv"

	"github.com/memwall/memwall/unit"
)

// CacheRow is the error of formats on a cache's keys and values.
type CacheRow struct {
	Layers int        `json:"layers"`
	Tokens int64      `json:"tokens"` // per layer; the maximum if they differ
	Keys   unit.Bytes `json:"keys_bytes"`
	Values unit.Bytes `json:"values_bytes"`
	// Formats in the order of Formats.
	Formats []CacheFormat `json:"formats"`
}

// CacheFormat is one format of keys and values. Token has scales per token and head, as engines store a cache; Channel
// has scales per channel over a group of tokens, nil for formats without.
type CacheFormat struct {
	Format        string   `json:"format"`
	Note          string   `json:"note"`
	Bits          float64  `json:"bits"`
	KeysToken     *Figures `json:"keys_per_token"`
	KeysChannel   *Figures `json:"keys_per_channel"`
	ValuesToken   *Figures `json:"values_per_token"`
	ValuesChannel *Figures `json:"values_per_channel"`
}

// NewCacheReport summarizes the measurements of a cache.
func NewCacheReport(m *Model, all []*Measured, formats []*Format) *Report {
	r := &Report{Ask: "quant", Model: m.ID, Formats: []Row{}, Cache: &CacheRow{Formats: []CacheFormat{}}}
	layers := map[int]bool{}
	for _, x := range all {
		if x.Across {
			r.Cache.Tokens = max(r.Cache.Tokens, x.Cols)
			continue
		}
		r.Tensors++
		r.Bytes += x.Tensor.Bytes
		if x.Cache == Keys {
			r.Cache.Keys += x.Tensor.Bytes
		} else {
			r.Cache.Values += x.Tensor.Bytes
		}
		layers[x.Layer] = true
		if len(x.Tried) > 0 {
			r.Matrices++
		}
		r.keep(x)
	}
	r.Cache.Layers = len(layers)
	for _, f := range formats {
		if row, ok := cacheFormat(all, f); ok {
			r.Cache.Formats = append(r.Cache.Formats, row)
		}
	}
	return r
}

// cacheFormat summarizes one format over a cache; false if no tensor takes it.
func cacheFormat(all []*Measured, f *Format) (row CacheFormat, ok bool) {
	row = CacheFormat{Format: f.Name, Note: f.Note}
	var bytes unit.Bytes
	var elements int64
	of := map[string]*Error{}
	for _, m := range all {
		t := m.Of(f)
		if t == nil {
			continue
		}
		way := m.way()
		if of[way] == nil {
			of[way] = &Error{}
		}
		of[way].Add(&t.Error)
		if !m.Across {
			bytes, elements = bytes+t.Bytes, elements+m.Elements()
		}
	}
	if elements > 0 {
		row.Bits = 8 * float64(bytes) / float64(elements)
	}
	for way, to := range map[string]**Figures{string(Keys): &row.KeysToken, string(Keys) + byChannel: &row.KeysChannel,
		string(Values): &row.ValuesToken, string(Values) + byChannel: &row.ValuesChannel} {
		if e := of[way]; e != nil {
			fig := figures(e)
			*to = &fig
		}
	}
	return row, len(of) > 0
}

const byChannel = " by channel"

// way identifies keys or values, and whether by channel.
func (t *Tensor) way() string {
	if t.Across {
		return string(t.Cache) + byChannel
	}
	return string(t.Cache)
}

// ByCacheLayer sums a format's errors over each layer's keys and values, in both directions.
func ByCacheLayer(all []*Measured, f *Format) []Part {
	return sumsBy(all, f, func(t *Tensor) string { return strconv.Itoa(max(0, t.Layer)) + " " + t.way() })
}

// CacheFormats returns the default formats for caches: those that engines use, and those that papers propose.
func CacheFormats() (out []*Format) {
	names := []string{"q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl", "fp8-tensor", "fp8", "int8", "int4-zero-g64", "int4-zero-g32",
		"nvfp4", "mxfp4", "int2-zero-g32"}
	for _, f := range formats() {
		if slices.Contains(names, f.Name) {
			out = append(out, f)
		}
	}
	return out
}
