package llamacpp

import (
	"fmt"
	"slices"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// Caches: src/llama-kv-cache.cpp, src/llama-memory-recurrent.cpp. Keys and values of each layer are two
// tensors of [row, cells, streams]; recurrent states are two of [elements, slots] in f32.

// cacheRow is what one layer of a kind keeps: for each cell a row of keys and one of values, or for each
// slot a state.
type cacheRow struct {
	name       string
	class      model.CacheClass
	span       int64
	k, v       tensorRow
	heads, dim int64 // set when keys and values are alike and unquantised: the short formula holds
	conv, scan int64 // elements of a recurrent state
}

// tensorRow is a row of a cache tensor, and what the backend adds once to the tensor behind its rows.
type tensorRow struct {
	elems   int64
	bytes   unit.Bytes
	padding unit.Bytes
}

// heldCache is a kind's caches on one place.
type heldCache struct {
	*cacheRow
	count int64
}

// caches lists what layers of each kind keep, by the kind's number: of a device the part that it has of each.
func (s *sizer) caches(b *backend, device int) [][]cacheRow {
	part := s.job.Model.Decoder()
	out := make([][]cacheRow, len(part.Kinds))
	widest := s.widestValue(part)
	for i := range part.Kinds {
		k := &part.Kinds[i]
		s.kept(k, func(c model.Cache) {
			if device != host {
				c = s.ofHeads(c, device)
			}
			out[i] = append(out[i], s.row(b, uint8(i), k.Name, c, widest))
		})
		if widest > 0 && !attends(k) && !s.job.Model.Traits.Hybrid {
			// padded to the widest layer's, values of a layer that does not attend take room too (Llama-Nemotron)
			out[i] = append(out[i], cacheRow{name: k.Name, v: tensorOf(1, s.v, widest)})
		}
	}
	return out
}

// kept are the caches of a kind that this build has.
func (s *sizer) kept(k *model.Kind, f func(model.Cache)) {
	rule, index, found := indexOwn, model.Cache{}, false
	switch s.job.Model.Family {
	case "deepseek32":
		rule = s.rules.indexes.deepseek
	case "glm-dsa":
		rule = s.rules.indexes.glm
	}
	k.Caches(func(c model.Cache) {
		if c.Class == model.IndexKV {
			found = true
		}
		if c.Class != model.IndexKV || rule != indexNone {
			f(c)
		}
	})
	if rule == indexEvery && !found && s.job.Model.Caches(func(c model.Cache) bool { index = c; return c.Class == model.IndexKV }) {
		f(index)
	}
}

func attends(k *model.Kind) bool {
	return slices.ContainsFunc(k.Ops, func(o model.Op) bool { return o.Attn != nil })
}

// widestValue is the width to which values of all layers are padded; 0 when they are not.
func (s *sizer) widestValue(part *model.Part) (n int64) {
	if s.set.flash || !s.rules.padV {
		return 0
	}
	for i := range part.Kinds {
		part.Kinds[i].Caches(func(c model.Cache) { n = max(n, c.V) })
	}
	return n
}

func (s *sizer) row(b *backend, kind uint8, name string, c model.Cache, widest int64) cacheRow {
	r := cacheRow{name: name, class: c.Class, span: c.Span, conv: c.ConvElems, scan: c.StateElems}
	if c.Class == model.StateCache {
		return r
	}
	k, v := c.K, c.V
	if c.Class == model.LatentKV {
		k, v = s.latent(c, kind)
	} else if widest > 0 && v > 0 {
		v = widest
	}
	pad := int64(1)
	if s.rules.padRows {
		pad = b.rowPad
	}
	r.k, r.v = tensorOf(pad, s.k, k), tensorOf(pad, s.v, v)
	if s.k == s.v && s.k.BlockElems == 1 && v == c.V && c.DimK == c.DimV && c.Class != model.LatentKV {
		r.heads, r.dim = c.KVHeads, c.DimK
	}
	return r
}

// tensorOf a row of elements; a backend pads quantised rows once, behind the last, to a multiple of pad.
func tensorOf(pad int64, f *dtype.Format, elems int64) tensorRow {
	t := tensorRow{elems: elems, bytes: f.Row(elems)}
	if elems > 0 && f.BlockElems > 1 && elems%pad != 0 {
		t.padding = f.Row(pad - elems%pad)
	}
	return t
}

// latent gives the widths of what latent attention keeps. Rows of compressed tokens, which are cached as latents are,
// have no values of their own.
func (s *sizer) latent(c model.Cache, kind uint8) (k, v int64) {
	a := s.attention(kind)
	switch {
	case s.rules.latent == latentOnly, a.Latent == nil:
		return c.K, 0
	case s.rules.latent == latentAndV:
		return c.K, a.Latent.Rank
	}
	return a.Heads * a.DimK, a.Heads * a.DimV
}

func (s *sizer) attention(kind uint8) *model.Attn {
	ops := s.job.Model.Decoder().Kinds[kind].Ops
	for i := range ops {
		if ops[i].Attn != nil {
			return ops[i].Attn
		}
	}
	return nil
}

// hold counts, for each place, the layers of each kind that keep something there.
func (s *sizer) hold(layers []int, rows [][]cacheRow, at int) (out []heldCache) {
	counts := make([]int64, len(rows))
	part := s.job.Model.Decoder()
	for l, p := range layers {
		if p == at {
			counts[part.Layers[l]]++
		}
	}
	for i, n := range counts {
		for c := range rows[i] {
			if n > 0 {
				out = append(out, heldCache{&rows[i][c], n})
			}
		}
	}
	return out
}

// cacheSums are the bytes of the caches of one place, and the largest of a layer.
type cacheSums struct {
	full, window, state ledger.Num
	hasKV, hasState     bool
	layer, stateLayer   unit.Bytes
}

func (c *cacheSums) kv(b *ledger.Book) ledger.Num {
	if c.window.V == 0 {
		return c.full
	}
	if c.full.V == 0 {
		return c.window
	}
	return b.Add(c.full, c.window)
}

func (s *sizer) sums(b *ledger.Book, held []heldCache, sh *shape, align int64) cacheSums {
	out := cacheSums{}
	for i := range held {
		h := &held[i]
		switch {
		case h.class == model.StateCache:
			n := s.stateNum(b, h, sh, align)
			out.state, out.hasState, out.stateLayer = plus(b, out.state, out.hasState, n), true, max(out.stateLayer, n.Bytes()/unit.Bytes(h.count))
		case h.span > 0 && s.rules.window != windowFull && !s.set.fullSWA:
			n := s.cacheNum(b, h, sh, s.set.slidingCells(&s.rules, sh, h.span), "window_cells", align)
			out.window, out.hasKV, out.layer = plus(b, out.window, out.window.V > 0, n), true, max(out.layer, n.Bytes()/unit.Bytes(h.count))
		default:
			n := s.cacheNum(b, h, sh, sh.cells, "cells", align)
			out.full, out.hasKV, out.layer = plus(b, out.full, out.full.V > 0, n), true, max(out.layer, n.Bytes()/unit.Bytes(h.count))
		}
	}
	return out
}

func plus(b *ledger.Book, sum ledger.Num, begun bool, n ledger.Num) ledger.Num {
	if !begun {
		return n
	}
	return b.Add(sum, n)
}

// cacheNum is what count layers of a kind keep for all cells of all streams.
func (s *sizer) cacheNum(b *ledger.Book, h *heldCache, sh *shape, cells int64, name string, align int64) ledger.Num {
	if b == nil {
		n := h.k.size(cells*sh.streams, align) + h.v.size(cells*sh.streams, align)
		return ledger.Num{V: float64(h.count) * float64(n)}
	}
	layers, c := b.Int("layers", h.count, h.name), b.Int(name, cells, s.cellsOrigin(sh, name))
	if sh.streams > 1 {
		c = b.Mul(c, b.Int("slots", sh.streams, "sequences: a stream each"))
	}
	if h.heads > 0 && h.k.unpadded(cells*sh.streams, align) {
		return b.Mul(b.Lit(2), layers, b.Int("kv_heads", h.heads, "model"), b.Int("head_dim", h.dim, "model"), b.Int("bytes", s.k.BlockBytes, s.k.Name), c)
	}
	if h.k.elems == 0 {
		return b.Mul(layers, s.tensorNum(b, "v_row", h.v, s.v, c, align))
	}
	n := s.tensorNum(b, "k_row", h.k, s.k, c, align)
	if h.v.elems > 0 {
		n = b.Add(n, s.tensorNum(b, "v_row", h.v, s.v, c, align))
	}
	return b.Mul(layers, n)
}

// size of a tensor with so many rows, as a backend allocates it.
func (t *tensorRow) size(rows, align int64) unit.Bytes {
	return unit.Bytes(unit.PadUp(int64(t.bytes)*rows+int64(t.padding), align))
}

// unpadded reports whether nothing is added to the rows.
func (t *tensorRow) unpadded(rows, align int64) bool {
	return t.size(rows, align) == t.bytes*unit.Bytes(rows)
}

func (s *sizer) tensorNum(b *ledger.Book, name string, t tensorRow, f *dtype.Format, rows ledger.Num, align int64) ledger.Num {
	n := b.Mul(b.Size(name, t.bytes, fmt.Sprintf("%d elements in %s", t.elems, f.Name)), rows)
	if t.unpadded(rows.Int(), align) {
		return n
	}
	if t.padding > 0 {
		n = b.Add(n, b.Size("row_padding", t.padding, "to a multiple of 512 elements"))
	}
	return b.PadUp(n, b.Int("alignment", align, "of the backend's tensors"))
}

// stateNum: the convolution's and the scan's state, in f32 for each slot.
func (s *sizer) stateNum(b *ledger.Book, h *heldCache, sh *shape, align int64) ledger.Num {
	conv, scan := 4*h.conv*sh.states, 4*h.scan*sh.states
	if b == nil {
		return ledger.Num{V: float64(h.count * (unit.PadUp(conv, align) + unit.PadUp(scan, align)))}
	}
	origin := "sequences"
	if sh.states > sh.seqs {
		origin = "states of each slot, one more than are drafted"
	}
	slots := b.Int("slots", sh.states, origin)
	part := func(name string, elems, bytes int64) ledger.Num {
		n := b.Mul(b.Lit(4), b.Int(name, elems, "model"), slots)
		if bytes%align != 0 {
			n = b.PadUp(n, b.Int("alignment", align, "of the backend's tensors"))
		}
		return n
	}
	n := part("conv_elements", h.conv, conv)
	if h.scan > 0 {
		n = b.Add(n, part("state_elements", h.scan, scan))
	}
	return b.Mul(b.Int("layers", h.count, h.name), n)
}

// perToken is what one more token of a sequence takes: layers that keep every token.
func perToken(held []heldCache) (n unit.Bytes) {
	for i := range held {
		if h := &held[i]; h.class != model.StateCache && h.span == 0 {
			n += unit.Bytes(h.count) * (h.k.bytes + h.v.bytes)
		}
	}
	return n
}
