package transformers

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// Caches: cache_utils.py. One tensor of keys and one of values for each layer, without pages.

// cacheRows are layers that keep the same numbers of a token.
type cacheRows struct {
	layers int64
	elems  int64 // keys and values of a token
	larger int64 // of the two
	source int64 // tokens of an encoder's output when they are fixed, else 0
	span   int64 // 0: every token
	origin string
}

// caches are what a device's layers remember.
type caches struct {
	rows  []cacheRows
	state unit.Bytes // of one sequence
	full  *dtype.Format
	bits  int64 // of a quantised cache, else 0
}

func (s *sizer) cachesOf(kinds []engine.KindCount) caches {
	j := s.job
	c := caches{full: engine.ActivationFormat(j.Model)}
	if f := dtype.FindFormat(j.Plan.KV); quantBits[f] > 0 {
		c.bits = quantBits[f]
	} else {
		c.full = f
	}
	window := windows(j) && c.bits == 0 // a quantised cache keeps every layer in full
	for _, k := range kinds {
		latent := expanded(k.Kind, j.Version)
		k.Kind.Caches(func(m model.Cache) {
			if m.Class == model.StateCache {
				c.state += unit.Bytes(k.Count) * s.stateBytes(&m)
				return
			}
			c.add(k.Count, &m, latent, window)
		})
	}
	return c
}

// windows reports whether sliding layers keep only their window.
func windows(j *engine.Job) bool {
	switch engine.At(slidingRules, j.Version).Value {
	case slidingWindow:
		return true
	case slidingGemma:
		return strings.HasPrefix(j.Model.Family, "gemma")
	}
	return false
}

// expanded gives the elements of keys and values of all heads when latents are not cached as such.
func expanded(k *model.Kind, v engine.Version) *model.Attn {
	if v.AtLeast(latentCache) {
		return nil
	}
	for i := range k.Ops {
		if a := k.Ops[i].Attn; a != nil && a.Latent != nil {
			return a
		}
	}
	return nil
}

func (s *sizer) stateBytes(c *model.Cache) unit.Bytes {
	wide := engine.ActivationFormat(s.job.Model).BlockBytes
	return engine.StateBytes(s.job, c, wide, wide)
}

func (c *caches) add(layers int64, m *model.Cache, latent *model.Attn, window bool) {
	r := cacheRows{layers: layers, elems: m.K + m.V, larger: max(m.K, m.V),
		origin: fmt.Sprintf("%d KV heads × (%d + %d)", m.KVHeads, m.DimK, m.DimV)}
	switch {
	case m.Class == model.LatentKV && latent != nil:
		k := latent.Heads * (latent.Latent.Nope + latent.Latent.Rope)
		v := latent.Heads * latent.Latent.V
		r.elems, r.larger = k+v, max(k, v)
		r.origin = fmt.Sprintf("keys and values of %d heads: latents are cached from %s on", latent.Heads, latentCache)
	case m.Class == model.LatentKV:
		r.origin = fmt.Sprintf("latent of %d", m.K)
	}
	if window {
		r.span = m.Span
	}
	if r.source = m.Source; r.source > 0 {
		r.origin += ", of the encoder's output"
	}
	for i := range c.rows {
		if o := &c.rows[i]; o.elems == r.elems && o.span == r.span && o.source == r.source && o.origin == r.origin {
			o.layers += layers
			return
		}
	}
	c.rows = append(c.rows, r)
}

// items books the caches of a load.
func (c *caches) items(b *ledger.Book, l engine.Load) (out []ledger.Item) {
	seqs := b.Int("sequences", l.Sequences, "plan")
	var sum ledger.Num
	for i := range c.rows {
		n := b.Mul(seqs, b.Int("layers", c.rows[i].layers, "this device"), c.ofSequence(b, &c.rows[i], l.Context))
		if i > 0 {
			n = b.Add(sum, n)
		}
		sum = n
	}
	if len(c.rows) > 0 {
		basis := ledger.Exact
		if c.bits > 0 {
			basis = ledger.Derived // packing is the back end's own
		}
		out = append(out, ledger.Known("kv_cache", "KV cache", sum, basis, ledger.SemiPersistent, ledger.Device,
			"docs/formulas.md#transformers-cache"))
	}
	if c.state > 0 {
		n := b.Mul(seqs, b.Size("state", c.state, "convolution and scan states of all layers"))
		out = append(out, ledger.Known("state", "recurrent state", n, ledger.Exact, ledger.SemiPersistent, ledger.Device,
			"docs/formulas.md#recurrent-state"))
	}
	return out
}

// ofSequence is one layer's cache of one sequence.
func (c *caches) ofSequence(b *ledger.Book, r *cacheRows, context int64) ledger.Num {
	tokens := b.Int("tokens", context, "context")
	if r.source > 0 {
		tokens = b.Int("source_tokens", r.source, "model, of the encoder's output")
	}
	if r.span > 0 {
		tokens = b.Name("kept", b.Min(tokens, b.Int("window", r.span, "model")))
	}
	elems := b.Int("elements", r.elems, r.origin)
	wide := b.Mul(elems, b.Int("bytes", c.full.BlockBytes, c.full.Name))
	if c.bits == 0 {
		return b.Mul(tokens, wide)
	}
	recent := b.Name("recent", b.Min(tokens, b.Int("residual", quantResidual, "recent tokens stay as they are")))
	per := b.In("quantised_bytes", c.quantBytes(), fmt.Sprintf("%d bits, a scale and a zero point for %d", c.bits, quantGroup))
	return b.Add(b.Mul(b.Sub(tokens, recent), elems, per), b.Mul(recent, wide))
}

// quantBytes of one element.
func (c *caches) quantBytes() float64 {
	return float64(c.bits)/8 + 2*float64(c.full.BlockBytes)/quantGroup
}

// perToken is what one more token of a long sequence takes.
func (c *caches) perToken() (n float64) {
	per := float64(c.full.BlockBytes)
	if c.bits > 0 {
		per = c.quantBytes()
	}
	for _, r := range c.rows {
		if r.span == 0 && r.source == 0 {
			n += float64(r.layers*r.elems) * per
		}
	}
	return n
}

// widest gives the elements of a token that the widest layer keeps, keys and values together, and the
// larger of the two.
func (c *caches) widest() (both, larger int64) {
	for _, r := range c.rows {
		both, larger = max(both, r.elems), max(larger, r.larger)
	}
	return both, larger
}
