package model

// CacheClass separates what different layers remember.
type CacheClass uint8

const (
	FullKV     CacheClass = iota // keys and values of every token
	WindowKV                     // only of the last Window tokens
	ChunkKV                      // only of the current chunk
	LatentKV                     // one latent of every token, shared by all heads
	StateCache                   // a recurrent state of fixed size
	CrossKV                      // keys and values of the encoder's output
)

// Cache is what one layer remembers between steps. Attention: K and V elements per token. Recurrent
// operators: ConvElems and StateElems per sequence.
type Cache struct {
	Class                 CacheClass
	KVHeads               int64
	K, V                  int64 // elements per token
	DimK, DimV            int64 // per head
	Span                  int64 // window or chunk
	Source                int64 // CrossKV: tokens of the encoder's output, 0 when the text decides
	ConvElems, StateElems int64
	Scan                  *ScanDims
}

// Caches calls f for every cache of a kind. A recurrent layer's convolution and scan are one cache.
func (k *Kind) Caches(f func(Cache)) {
	var conv int64
	for i := range k.Ops {
		o := &k.Ops[i]
		switch o.Kind {
		case Attention:
			if !o.Attn.SharesKV && !o.Attn.Bidirectional {
				f(o.Attn.cache())
			}
		case Conv:
			conv = o.Scan.ConvElems()
			if !k.scans() {
				f(Cache{Class: StateCache, ConvElems: conv, Scan: o.Scan})
			}
		case Scan:
			f(Cache{Class: StateCache, ConvElems: conv, StateElems: o.Scan.StateElems(), Scan: o.Scan})
		}
	}
}

// Remembers reports whether the model keeps anything of earlier tokens. Encoders do not.
func (m *Model) Remembers() (found bool) {
	for i := range m.Parts {
		m.Parts[i].Each(func(k *Kind, _ int64) { k.Caches(func(Cache) { found = true }) })
	}
	return found
}

func (k *Kind) scans() bool {
	for i := range k.Ops {
		if k.Ops[i].Kind == Scan {
			return true
		}
	}
	return false
}

func (a *Attn) cache() Cache {
	if l := a.Latent; l != nil {
		return Cache{Class: LatentKV, KVHeads: 1, K: l.Width(), DimK: l.Width()}
	}
	c := Cache{KVHeads: a.KVHeads, K: a.KVHeads * a.DimK, V: a.KVHeads * a.DimV, DimK: a.DimK, DimV: a.DimV}
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
