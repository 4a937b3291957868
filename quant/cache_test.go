package quant

import (
	"math"
	"strings"
	"testing"

	"github.com/memwall/memwall/quant/quanttest"
)

func TestCachePart(t *testing.T) {
	for name, want := range map[string]struct {
		part  CachePart
		layer int
	}{
		"cache_k_l0": {Keys, 0}, "cache_v_l17": {Values, 17}, "past_key_values.3.key": {Keys, 3}, "past_key_values.3.value": {Values, 3},
		"layers.12.keys":                   {Keys, 12},
		"model.layers.7.self_attn.v_cache": {Values, 7}, "key_cache.2": {Keys, 2}, "k": {Keys, -1},
		"model.layers.0.self_attn.k_proj.weight": {"", -1}, "model.norm": {"", -1}, "model.layers.1.self_attn.k_proj.input": {"", -1},
	} {
		if part, layer := cachePart(name); part != want.part || part != "" && layer != want.layer {
			t.Errorf("%s: %q of layer %d, want %+v", name, part, layer, want)
		}
	}
}

// cacheModel of tensors in memory.
func cacheModel(layers, heads, tokens, width int) *Model {
	m := &Model{ID: "cache"}
	for _, c := range quanttest.Cache(layers, heads, tokens, width) {
		x := brain(c.Name, c.X, int64(heads), int64(tokens), int64(width))
		x.Dims, x.Shape = 4, []int64{1, int64(heads), int64(tokens), int64(width)}
		m.Tensors = append(m.Tensors, x)
	}
	return m
}

// TestCache: keys with large channels are kept much better by channel, values as well either way; and both
// directions are what storing rows, and rows of the turned matrix, gives.
func TestCache(t *testing.T) {
	m := cacheModel(2, 2, 300, 64)
	if !IsCache(m) {
		t.Fatal("no cache")
	}
	views, err := CacheOf(m, -2)
	if err != nil {
		t.Fatal(err)
	}
	f := find(t, "int4-zero-g32")
	formats := []*Format{f, find(t, "q8_0"), find(t, "int8")}
	var all []*Measured
	for _, x := range views.Tensors {
		got, err := (&Work{Formats: formats}).Measure(x)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, got)
	}
	r := NewCacheReport(views, all, formats)
	row := r.Cache.Formats[0]
	if row.KeysChannel.RMS*2 > row.KeysToken.RMS || math.Abs(row.ValuesChannel.RMS/row.ValuesToken.RMS-1) > 0.05 {
		t.Errorf("keys %v and %v by channel, values %v and %v", row.KeysToken.RMS, row.KeysChannel.RMS, row.ValuesToken.RMS,
			row.ValuesChannel.RMS)
	}
	if r.Cache.Formats[1].KeysChannel != nil || r.Cache.Formats[2].KeysChannel != nil {
		t.Error("q8_0 and int8 are tried by channel")
	}
	if r.Cache.Tokens != 300 || r.Cache.Layers != 2 || r.Tensors != 4 || len(ByCacheLayer(all, f)) != 8 {
		t.Errorf("%+v", r.Cache)
	}
	want := 0.0
	x, turned := quanttest.Cache(1, 2, 300, 64)[0].X, make([]float32, 300*64)
	for h := range 2 {
		for token := range 300 {
			for c := range 64 {
				turned[c*300+token] = x[h*300*64+token*64+c]
			}
		}
		e, _ := slowError(turned, stores(f, turned, 300), nil)
		want += e.Noise
	}
	if got := all[1].Of(f).Error; !near(got.Noise, want) || got.Elements != 2*300*64 {
		t.Errorf("noise %v of %d elements by channel, want %v", got.Noise, got.Elements, want)
	}
	if _, err := CacheOf(m, 3); err == nil || !strings.Contains(err.Error(), "past_key_values.0.key has 4 dimensions") {
		t.Errorf("%v", err)
	}
	tokens, err := CacheOf(m, 1)
	if err != nil || tokens.Tensors[1].Rows != 300*64 || tokens.Tensors[1].Cols != 2 || tokens.Tensors[1].Batch != 1 {
		t.Errorf("%+v, %v", tokens.Tensors[1], err)
	}
}
