package model

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/unit"
)

// CacheClass distinguishes what layers remember between steps.
type CacheClass uint8

const (
	FullKV     CacheClass = iota // keys and values of every token
	WindowKV                     // of the last Window tokens only
	ChunkKV                      // of the current chunk only
	LatentKV                     // one latent per token, shared by all heads
	StateCache                   // fixed-size recurrent state
	CrossKV                      // keys and values of the encoder's output
	IndexKV                      // keys of a sparse-attention indexer, FP8 with scales, shared by all heads
)

// Cache is what one layer remembers between steps. Attention caches have K and V elements per token, recurrent ones
// ConvElems and StateElems per sequence.
type Cache struct {
	Class                 CacheClass
	KVHeads               int64
	K, V                  int64 // elements per token
	DimK, DimV            int64 // per head
	Span                  int64 // window or chunk
	Source                int64 // CrossKV: tokens of the encoder's output, 0 if the input decides
	ConvElems, StateElems int64
	Scan                  *ScanDims
	Every                 int64 // IndexKV: tokens per key, 0 for one
}

// indexScale is the number of elements of an index key that share an FP32 scale (vLLM, DeepseekV32IndexerCache; SGLang,
// index_k_with_scale_buffer).
const indexScale = 128

// TokenBytes returns the cache bytes per token with keys and values in the given formats.
func (c *Cache) TokenBytes(k, v *dtype.Format) unit.Bytes {
	if c.Class != IndexKV {
		return k.Row(c.K) + v.Row(c.V)
	}
	every := max(1, c.Every)
	return unit.Bytes((c.DimK + 4*unit.CeilDiv(c.DimK, indexScale)) / every)
}

// Caches calls f for every cache of the layer. A convolution and the scan that follows it form one cache; a convolution
// without a scan has its own.
func (k *Kind) Caches(f func(Cache)) {
	var conv *Op // convolution still without its scan
	alone := func() {
		if conv != nil {
			f(Cache{Class: StateCache, ConvElems: conv.Scan.ConvElems(), Scan: conv.Scan})
			conv = nil
		}
	}
	for i := range k.Ops {
		o := &k.Ops[i]
		switch o.Kind {
		case Attention:
			if !o.Attn.SharesKV && !o.Attn.Bidirectional {
				o.Attn.caches(f)
			}
		case Conv:
			alone()
			conv = o
		case Scan:
			c := Cache{Class: StateCache, StateElems: o.Scan.StateElems(), Scan: o.Scan}
			if conv != nil {
				c.ConvElems, conv = conv.Scan.ConvElems(), nil
			}
			f(c)
		}
	}
	alone()
}

// SharedCaches calls f for the cache that each layer would have whose keys and values come from an earlier one.
func (k *Kind) SharedCaches(f func(Cache)) {
	for i := range k.Ops {
		if o := &k.Ops[i]; o.Kind == Attention && o.Attn.SharesKV {
			o.Attn.caches(f)
		}
	}
}

// Remembers reports whether the model keeps any state between tokens. Encoders do not.
func (m *Model) Remembers() (found bool) {
	for i := range m.Parts {
		m.Parts[i].Each(func(k *Kind, _ int64) { k.Caches(func(Cache) { found = true }) })
	}
	return found
}

// Caches reports whether any decoder layer has a cache for which of returns true.
func (m *Model) Caches(of func(Cache) bool) (found bool) {
	m.Decoder().Each(func(k *Kind, _ int64) { k.Caches(func(c Cache) { found = found || of(c) }) })
	return found
}

// Recurrent reports whether any layer keeps a fixed-size recurrent state.
func (m *Model) Recurrent() bool {
	return m.Caches(func(c Cache) bool { return c.Class == StateCache })
}

// Latent reports whether any layer caches latents instead of keys and values.
func (m *Model) Latent() bool { return m.Caches(func(c Cache) bool { return c.Class == LatentKV }) }

// caches calls f for each cache of an attention operator: keys and values, rows of compressed tokens, keys of the
// indexer.
func (a *Attn) caches(f func(Cache)) {
	f(a.cache())
	if a.Compress > 0 {
		f(Cache{Class: LatentKV, KVHeads: 1, K: a.DimK / a.Compress, DimK: a.DimK})
	}
	switch x := a.Index; {
	case x == nil:
	case x.Plain:
		f(Cache{KVHeads: 1, K: x.Dim, DimK: x.Dim})
	default:
		f(Cache{Class: IndexKV, KVHeads: 1, K: x.Dim / max(1, x.Every), DimK: x.Dim, Every: x.Every})
	}
}

func (a *Attn) cache() Cache {
	if l := a.Latent; l != nil {
		return Cache{Class: LatentKV, KVHeads: 1, K: l.Width(), DimK: l.Width()}
	}
	c := Cache{KVHeads: a.KVHeads, K: a.KVHeads * a.DimK, V: a.KVHeads * a.DimV, DimK: a.DimK, DimV: a.DimV}
	if a.OneKV {
		c.V, c.DimV = 0, 0
	}
	switch {
	case a.CrossEncoder:
		c.Class, c.Source = CrossKV, a.Source
	case a.Window > 0:
		c.Class, c.Span = WindowKV, a.Window
	case a.Chunk > 0:
		c.Class, c.Span = ChunkKV, a.Chunk
	}
	return c
}
