package vllm

import (
	"fmt"
	"slices"
	"sort"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// The paged KV cache: vllm/v1/kv_cache_interface.py and v1/core/kv_cache_utils.py. Layers with the same
// spec form groups of equal size; a block of the pool holds one page of every layer of a group.

// spec is what layers of one kind cache: Block tokens of a layer in Page bytes, or one state.
type spec struct {
	class  model.CacheClass
	span   int64 // window or chunk
	page   unit.Bytes
	perTok unit.Bytes // of attention; 0 for states
	block  int64
	layers int64
	states int64  // that a sequence keeps: the current one, with prefix caching the last cached one, and one for each drafted token
	origin string // of perTok, in words
}

// groups is the organization of the pool.
type groups struct {
	specs []spec
	size  int64   // layers of a group
	count []int64 // groups of each spec
	block int64   // smallest block of tokens
	// joined: layers of several pages that all keep every token are one layer of the pool. padded: pages that do not
	// divide each other were rounded up, because vLLM's own layout of them is not described.
	joined, padded bool
	// over is how many ranks of a tensor parallel group share a sequence's tokens (decode context parallelism); 0 is one.
	over int64
}

// total returns the number of groups.
func (g *groups) total() (n int64) {
	for _, c := range g.count {
		n += c
	}
	return n
}

// page returns the bytes of one layer's page, equal for every group; 0 if nothing is cached (encoders).
func (g *groups) page() unit.Bytes {
	if len(g.specs) == 0 {
		return 0
	}
	return g.specs[0].page
}

// kvBytes are the widths of cached keys, values and states.
type kvBytes struct {
	element float64 // of keys and values
	conv    int64   // of a convolution's state
	state   int64   // of a scan's state
	states  int64   // that a sequence keeps
	drafts  int64   // tokens that are drafted
	heads   bool    // of every head in place of latents
	scaled  bool    // a scale in f32 for each token and head, of keys and of values
	slots   bool    // sparse layers keep their rows in the layout of fp8_ds_mla
}

// specsOf returns the cache specs of a rank's layers.
func specsOf(kinds []engine.KindCount, block int64, w kvBytes) []spec {
	var out []spec
	for _, k := range kinds {
		layout := slotOf(k.Kind)
		k.Kind.Caches(func(c model.Cache) {
			s := specOf(c, block, w)
			if w.heads {
				s.expand(k.Kind, w.element)
			}
			if layout != nil && w.slots {
				layout.put(&s, &c)
			}
			for i := range out {
				if o := &out[i]; o.class == s.class && o.span == s.span && o.page == s.page {
					o.layers += k.Count
					return
				}
			}
			s.layers = k.Count
			out = append(out, s)
		})
	}
	return out
}

func specOf(c model.Cache, block int64, w kvBytes) spec {
	s := spec{class: c.Class, span: max(c.Span, c.Source), block: block}
	if c.Class == model.StateCache {
		conv := c.ConvElems
		if c.Scan != nil && c.Scan.Delta { // a column more for each drafted token (mamba_utils.py, gated_delta_net_state_shape)
			conv += w.drafts * c.Scan.ConvDim()
		}
		s.page, s.states = unit.Bytes(w.conv*conv+w.state*c.StateElems), w.states
		return s
	}
	s.perTok = unit.Bytes(float64(c.K+c.V) * w.element)
	s.origin = fmt.Sprintf("2 × %d KV heads × %d × %g B", c.KVHeads, c.DimK, w.element)
	if w.scaled {
		s.perTok += unit.Bytes(2 * c.KVHeads * 4) // vllm/v1/kv_cache_interface.py, real_page_size_bytes
		s.origin += fmt.Sprintf(" + 2 × %d scales in f32", c.KVHeads)
	}
	if c.Class == model.LatentKV {
		s.origin = fmt.Sprintf("latent of %d × %g B, not divided by tp", c.K, w.element)
	}
	if c.Class == model.IndexKV {
		s.perTok = c.TokenBytes(nil, nil)
		s.origin = fmt.Sprintf("index key of %d in FP8 with its scales", c.DimK)
	}
	s.page = unit.Bytes(block) * s.perTok
	return s
}

// alignment in tokens to which the attention block of a hybrid model is raised.
const hybridAlign = 16

// group unifies pages and forms groups. Before hybrid groups existed, sliding layers were kept in full.
func group(specs []spec, v engine.Version, block int64) (groups, error) {
	specs, block = unifyStates(specs, block)
	if v.Before(hybridGroups) {
		specs = flatten(specs)
	}
	joined := v.AtLeast(uniformTypes) && len(specs) > 1 && !slices.ContainsFunc(specs, func(s spec) bool { return !s.keepsAll() })
	if joined {
		specs = join(specs)
	}
	specs, err := unifyPages(specs, v)
	if err != nil || len(specs) == 0 {
		return groups{specs: specs, size: 1, block: block}, err
	}
	g := groups{specs: specs, size: groupSize(specs, v), block: specs[0].block, joined: joined, padded: !joined && indexed(specs)}
	for _, s := range specs {
		g.count = append(g.count, unit.CeilDiv(s.layers, g.size))
		if s.class != model.StateCache {
			g.block = min(g.block, s.block)
		}
	}
	return g, nil
}

var (
	hybridGroups  = engine.V(0, 9, 1)  // layers of several kinds share a pool (#17996)
	uniformTypes  = engine.V(0, 11, 0) // layers that keep every token form one group whatever their pages (UniformTypeKVCacheSpecs)
	unequalPages  = engine.V(0, 12, 0) // pages of several sizes are unified
	paddedGroups  = engine.V(0, 12, 0) // the larger count decides when counts are close (2025-11-24)
	paddedGroups2 = engine.V(0, 17, 0) // and closer counts count as close (2026-03-12)
)

// unifyStates raises the attention block until a page holds a recurrent state, and pads the state to it.
func unifyStates(specs []spec, block int64) ([]spec, int64) {
	var state, perTok unit.Bytes
	for _, s := range specs {
		if s.class == model.StateCache {
			state = max(state, s.page)
		} else {
			perTok = max(perTok, s.perTok)
		}
	}
	if state == 0 || perTok == 0 {
		return specs, block
	}
	unitPage := int64(hybridAlign) * int64(perTok)
	block = hybridAlign * unit.CeilDiv(int64(state), unitPage)
	for i := range specs {
		if s := &specs[i]; s.class == model.StateCache {
			s.page, s.block = unit.Bytes(block)*perTok, block
		} else {
			s.block, s.page = block, unit.Bytes(block)*s.perTok
		}
	}
	return specs, block
}

// keepsAll reports whether every token of the sequence has a row.
func (s *spec) keepsAll() bool {
	return s.class == model.FullKV || s.class == model.LatentKV || s.class == model.IndexKV
}

// join merges layers that keep every token into one spec: a block then holds a page of every layer, whatever their sizes.
func join(specs []spec) []spec {
	sum := spec{class: specs[0].class, block: specs[0].block, layers: 1}
	for i := range specs {
		s := &specs[i]
		sum.perTok += unit.Bytes(s.layers) * s.perTok
		sum.page += unit.Bytes(s.layers) * s.page
		if i > 0 {
			sum.origin += " + "
		}
		sum.origin += fmt.Sprintf("%d layers × (%s)", s.layers, s.origin)
	}
	return []spec{sum}
}

// flatten makes every attention layer a full one.
func flatten(specs []spec) []spec {
	var out []spec
	for _, s := range specs {
		if s.class == model.WindowKV || s.class == model.ChunkKV {
			s.class, s.span = model.FullKV, 0
		}
		merged := false
		for i := range out {
			if out[i].class == s.class && out[i].page == s.page {
				out[i].layers += s.layers
				merged = true
			}
		}
		if !merged {
			out = append(out, s)
		}
	}
	return out
}

// unifyPages raises the block of the smaller pages to that of the largest. Index keys beside windows (DeepSeek V4) have
// pages of any size: theirs are padded.
func unifyPages(specs []spec, v engine.Version) ([]spec, error) {
	largest := unit.Bytes(0)
	for _, s := range specs {
		largest = max(largest, s.page)
	}
	for i := range specs {
		s := &specs[i]
		if s.page == largest || s.page == 0 {
			continue
		}
		if largest%s.page != 0 && !indexed(specs) || v.Before(unequalPages) && len(specs) > 1 {
			return nil, fmt.Errorf("vLLM %s cannot give layers with pages of %d and %d bytes one pool", v, s.page, largest)
		}
		s.block *= int64(largest / s.page)
		s.page = largest
	}
	return specs, nil
}

func indexed(specs []spec) bool {
	return slices.ContainsFunc(specs, func(s spec) bool { return s.class == model.IndexKV })
}

// groupSize returns the number of layers per group: the fewest layers of any spec, or the most if the counts are close, the rest
// being padding.
func groupSize(specs []spec, v engine.Version) int64 {
	counts := make([]int64, len(specs))
	for i, s := range specs {
		counts[i] = s.layers
	}
	sort.Slice(counts, func(i, j int) bool { return counts[i] < counts[j] })
	least, most := counts[0], counts[len(counts)-1]
	close := 1.0
	switch {
	case v.AtLeast(paddedGroups2):
		close = 1.5
	case v.AtLeast(paddedGroups):
		close = 1.25
	}
	if float64(most) < close*float64(least) {
		return most
	}
	return least
}

// pages returns the number of pages that a request of length tokens holds in a group of the spec, if a step computes at most
// batched tokens.
func (s *spec) pages(length, batched int64) int64 {
	switch s.class {
	case model.StateCache:
		return s.states
	case model.WindowKV:
		return unit.CeilDiv(min(s.span-1+batched, length), s.block) + 1
	case model.ChunkKV:
		return unit.CeilDiv(min(s.span+batched, length), s.block)
	case model.CrossKV:
		if s.span > 0 {
			return unit.CeilDiv(s.span, s.block)
		}
	}
	return unit.CeilDiv(length, s.block)
}

// perRequest returns the number of blocks of the pool that one request takes, over all groups.
func (g *groups) perRequest(length, batched int64) (n int64) {
	for i := range g.specs {
		n += g.count[i] * g.specs[i].pages(g.tokensKept(&g.specs[i], length), batched)
	}
	return n
}

// shared returns the number of blocks of a prompt that another request can reuse: whole ones, of layers that keep every token.
func (g *groups) shared(tokens int64) (n int64) {
	for i := range g.specs {
		if s := &g.specs[i]; s.keepsAll() {
			n += g.count[i] * (g.tokensKept(s, tokens) / s.block)
		}
	}
	return n
}

// tokensKept returns the number of tokens of a sequence that a rank keeps in layers of a spec (kv_cache_interface.py,
// FullAttentionSpec.max_memory_usage_bytes).
func (g *groups) tokensKept(s *spec, length int64) int64 {
	if g.over <= 1 || !s.keepsAll() {
		return length
	}
	return unit.CeilDiv(length, g.over)
}

// blocks returns the number of blocks in a pool of the given size.
func (g *groups) blocks(pool unit.Bytes) int64 {
	if pool <= 0 || g.page() == 0 {
		return 0
	}
	return int64(pool) / int64(g.page()) / g.size
}

// perToken returns the bytes per additional token of a long request: full layers only.
func (g *groups) perToken() (b unit.Bytes) {
	for i, s := range g.specs {
		if s.keepsAll() {
			b += unit.Bytes(g.count[i]*g.size) * s.page / unit.Bytes(s.block*max(1, g.over))
		}
	}
	return b
}
