package llamacpp

import (
	"sync"

	"github.com/memwall/memwall/engine/llamacpp/ggml"
	"github.com/memwall/memwall/unit"
)

// Compute buffers: the worst-case graph is lowered, scheduled on the devices and the host, and its
// allocations are replayed (engine/llamacpp/ggml).

// graph is the worst-case graph of a model under a plan, with a cache of compiled forms. Concurrent calls are
// serialized.
type graph struct {
	one      sync.Mutex
	s        *sizer
	site     *ggml.Site // nil if on the host alone
	compiled map[batchKind]*ggml.Compiled
	unfused  bool  // devices lack kernels for flash attention
	mixed    bool  // layers' tensors, or the head, are on the host next to devices
	err      error // the model has a step that no rule lowers
	// without is the same graph for a build without kernels for a mixed-format cache; nil for other caches.
	without *graph
}

// batchKind is what of a load changes the graph: streams of the cache and, if tensors are on the host, whether a device
// takes over large batches: tokens, outputs and tokens per sequence, each up to offloadBatch.
type batchKind struct {
	streams               bool
	tokens, outputs, each int64
}

func kindOf(n *ggml.Sizes) batchKind {
	return batchKind{n.Streams > 1, min(n.Tokens, offloadBatch), min(n.Outputs, offloadBatch), min(n.Tokens/n.Seqs, offloadBatch)}
}

func (g *graph) kind(n *ggml.Sizes) batchKind {
	if g.mixed {
		return kindOf(n)
	}
	return batchKind{streams: n.Streams > 1}
}

func newGraph(s *sizer) *graph {
	g := s.graphOn(s.site(), false)
	if s.twoFormats() {
		site := s.site()
		for i := range site.Devices {
			site.Devices[i].Flash = func(_, _, _ int64) bool { return false }
		}
		g.without = s.graphOn(site, true)
	}
	return g
}

// twoFormats reports whether flash attention is used with keys and values in different formats, which CUDA supports
// only if built with GGML_CUDA_FA_ALL_QUANTS.
func (s *sizer) twoFormats() bool {
	for i := range s.devices {
		if s.devices[i].backend.narrowFA && s.set.flash && s.k != s.v {
			return true
		}
	}
	return false
}

func (s *sizer) graphOn(site *ggml.Site, unfused bool) *graph {
	g := &graph{s: s, site: site, unfused: unfused, compiled: map[batchKind]*ggml.Compiled{}}
	g.mixed = g.site != nil && (!g.site.Whole || !s.loader.m.none())
	sh := s.set.shape(&s.rules, s.job.Load())
	_, g.err = g.compile(s.sizes(&sh, sh.tokens, sh.outputs))
	return g
}

// compile compiles the graph of a batch, once per kind.
func (g *graph) compile(n ggml.Sizes) (*ggml.Compiled, error) {
	kind := g.kind(&n)
	if c := g.compiled[kind]; c != nil {
		return c, nil
	}
	if g.site != nil {
		g.site.Rows = n
		g.site.Key = g.s.siteKey(g, kindOf(&n))
	}
	c, err := g.s.known.graphs.Compile(g.s.job.Model, g.s.graphShape(kind.streams), g.site)
	if err != nil {
		return nil, err
	}
	g.compiled[kind] = c
	return c, nil
}

// graphShape returns what of the plan and version changes the graph.
func (s *sizer) graphShape(streams bool) ggml.Shape {
	in := &s.rules.inputs
	return ggml.Shape{Flash: s.set.flash, QuantisedK: s.k.BlockElems > 1 && s.rules.rotate, QuantisedV: s.v.BlockElems > 1 && s.rules.rotate, Streams: streams,
		Older: ggml.Older{OneInput: !in.both, WideMask: !in.halfMask, NoRows: !in.rows, PlainGates: !s.rules.gated, CopiedParts: s.rules.copied, OwnTables: s.rules.tables, Latent: latentGraph[s.rules.latent]}}
}

var latentGraph = map[latentCache]ggml.LatentCache{latentOnly: ggml.LatentOnly, latentAndV: ggml.LatentAndValue, latentExpanded: ggml.LatentExpanded}

// sizes returns the sizes of a batch with the given tokens and rows of logits.
func (s *sizer) sizes(sh *shape, tokens, outputs int64) ggml.Sizes {
	n := ggml.Sizes{Tokens: unit.PadUp(tokens, sh.slots), Outputs: outputs, Cells: sh.cells, WindowCells: sh.cells, Seqs: sh.slots, Streams: sh.streams}
	if !s.job.Model.Remembers() {
		n.Cells, n.WindowCells = n.Tokens, n.Tokens // without a cache, tokens attend to those in their batch
		return n
	}
	for _, w := range s.job.Model.Windows() {
		n.WindowCells = s.set.slidingCells(&s.rules, sh, w)
	}
	return n
}

// buffers are the compute buffers of every device, then of the host: those of the run (or dry run, if wanted), and
// those of a build without kernels for a mixed-format cache.
type buffers struct{ run, without []unit.Bytes }

func (g *graph) buffers(sh *shape) buffers {
	g.one.Lock()
	defer g.one.Unlock()
	out := buffers{run: make([]unit.Bytes, len(g.s.devices)+1)}
	g.raise(&out, g.s.sizes(sh, sh.tokens, sh.outputs))
	if g.mixed && !g.s.prompts && !g.s.set.dry { // a dry run only counts prompts
		g.raise(&out, g.s.sizes(sh, sh.slots, sh.slots))
	}
	if out.without = out.run; g.without != nil {
		out.without = g.without.buffers(sh).run
	}
	return out
}

// raise raises buffers to what a batch needs: one of prompts and, if that runs elsewhere, one token per slot.
func (g *graph) raise(out *buffers, n ggml.Sizes) {
	c, err := g.compile(n)
	if err != nil {
		return
	}
	for i := range out.run {
		out.run[i] = max(out.run[i], g.s.known.graphs.Peak(&c.Spots[i], n))
	}
}
